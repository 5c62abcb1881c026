"""The encodings of text files, and how one is recognised by a file's first bytes."""

from __future__ import annotations

import re

UTF_8, UTF_16_LE, UTF_16_BE, CP1252, BYTES = "utf-8", "utf-16-le", "utf-16-be", "cp1252", "bytes"
ENCODINGS = (UTF_8, UTF_16_LE, UTF_16_BE, CP1252, BYTES)
WIDE = (UTF_16_LE, UTF_16_BE)
"""Decoded while they are read: a line end may be anywhere in them."""
BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CUT_BYTES = 3
"""Of a character at the end that was cut off."""
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")
"""Bytes that text of cp1252 does not have."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_ZERO_SHARE = 0.3


def encoding_of(head: bytes) -> str:
    """The encoding of a file by its first bytes; BYTES where it is no text, and nothing may be decoded.

    >>> encoding_of("k,v\\n".encode("utf-16-le")), encoding_of("Zoë,1\\n".encode("cp1252"))
    ('utf-16-le', 'cp1252')
    """
    if head.startswith(UTF16_MARKS):
        return UTF_16_LE if head.startswith(UTF16_MARKS[0]) else UTF_16_BE
    half = len(head) // 2
    even, odd = head[0 : 2 * half : 2].count(0), head[1 : 2 * half : 2].count(0)
    if max(even, odd) > _ZERO_SHARE * half and min(even, odd) == 0:
        wide = UTF_16_LE if odd else UTF_16_BE
        text = head[: 2 * half].decode(wide, errors="replace")
        if "\n" in text and not _CONTROL.search(text):
            return wide
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - CUT_BYTES or error.reason != "unexpected end of data":
            return BYTES if _NO_TEXT.search(head) else CP1252
    return UTF_8


def in_utf_8(head: bytes) -> bytes:
    """A file's first bytes as UTF-8 where they are UTF-16; without a byte order mark."""
    encoding = encoding_of(head)
    if encoding in WIDE:
        head = head[: len(head) // 2 * 2].decode(encoding, errors="replace").encode()
    return head.removeprefix(BOM)
