"""Java's String.hashCode and String.compareTo, on which Kafka's coordinator, its assignors and TubeMQ's
router rest.

Java strings are UTF-16: a character above U+FFFF counts as two units, both in the hash and in the order.
Source: java.lang.String of JDK 17. Vectors: kafka/partitioner.json.
"""

import re
from collections.abc import Iterable
from itertools import accumulate, repeat
from operator import mul

MASK = 0xFFFFFFFF
ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
REPLACEMENT = "\ufffd".encode()


def string_hash(text: str) -> int:
    """Give String.hashCode of `text`: the sum of unit[i] * 31**(n-1-i) as a signed 32-bit integer.

    A lone surrogate, which a Java string may hold, counts as the unit it is. Never raises.

    >>> string_hash("orders"), string_hash("polygenelubricants")
    (-1008770331, -2147483648)
    """
    hashed = string_hash_unsigned(text)
    return hashed - (1 << 32) if hashed & 0x80000000 else hashed


def string_hash_unsigned(text: str) -> int:
    """Give the same 32 bits as `string_hash`, read as an integer from 0 to 2**32 - 1.

    >>> string_hash_unsigned("polygenelubricants")
    2147483648
    """
    # An ASCII text is its own UTF-16 units, one byte each.
    units = text.encode() if text.isascii() else _utf16_units(text)
    powers = POWERS if len(units) <= len(POWERS) else _powers(len(units))
    total: int = sum(map(mul, units[::-1], powers))
    return total & MASK


def java_text(data: bytes) -> str:
    """Give the text that `new String(data, UTF_8)` makes: bytes that are not UTF-8 become U+FFFD.

    Java takes an encoded surrogate, whole or cut short, for one wrong character, where Python counts each of
    its bytes.

    >>> java_text(b"caf\\xc3\\xa9 \\xff") == "caf\\xe9 \\ufffd"
    True
    >>> java_text(b"\\xed\\xa0\\x80!") == "\\ufffd!"
    True
    """
    return ENCODED_SURROGATE.sub(REPLACEMENT, data).decode("utf-8", "replace")


def utf16_order(text: str) -> bytes:
    """Give a sort key that orders strings as String.compareTo does: by UTF-16 units, not by code points.

    >>> sorted(["\\uffee", "\\U0001f600"], key=utf16_order) == ["\\U0001f600", "\\uffee"]
    True
    """
    return text.encode("utf-16-be", "surrogatepass")


def utf16_length(text: str) -> int:
    """How long Java says that a text is: in UTF-16 units.

    >>> utf16_length("a"), utf16_length("\N{GRINNING FACE}")
    (1, 2)
    """
    return len(text) + sum(character > "\uffff" for character in text)


def java_sorted(texts: Iterable[str]) -> list[str]:
    """Sort strings as Java's natural order does.

    >>> java_sorted(["C2", "C10", "C1"])
    ['C1', 'C10', 'C2']
    """
    listed = list(texts)
    # ASCII sorts the same way in both orders, and Python compares it without a key.
    return sorted(listed) if all(map(str.isascii, listed)) else sorted(listed, key=utf16_order)


def _powers(count: int) -> list[int]:
    return list(accumulate(repeat(31, count - 1), lambda power, base: power * base & MASK, initial=1))


def _utf16_units(text: str) -> list[int]:
    raw = utf16_order(text)
    return [raw[index] << 8 | raw[index + 1] for index in range(0, len(raw), 2)]


POWERS = _powers(256)  # of 31, for texts of usual length
