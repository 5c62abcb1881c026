"""Compile translations without GNU gettext: each .po file of locale/ to the .mo file beside it.

Django's own `compilemessages` wants `msgfmt`, which a newcomer's machine need not have. Format of a .mo file:
the GNU gettext manual, "The Format of GNU MO Files". Left out: the hash table, which no reader needs.
"""

import ast
import re
import struct
from pathlib import Path

MAGIC = 0x950412DE
_LINE = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[(\d+)\])?\s+)?("(?:[^"\\]|\\.)*")$')


def compile_messages(locale: Path) -> list[Path]:
    """Compile what is newer than its .mo file. Returns the files written. Raises ValueError naming file and
    line of a bad catalogue."""
    written: list[Path] = []
    for source in sorted(locale.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        if not target.exists() or target.stat().st_mtime_ns < source.stat().st_mtime_ns:
            draft = target.with_suffix(".mo.part")
            draft.write_bytes(to_mo(read_po(source)))
            draft.replace(target)
            written.append(target)
    return written


def read_po(source: Path) -> dict[str, str]:
    """Message -> translation, as a .mo file spells them: context, EOT, message; plural forms with NUL
    between. Fuzzy ones are left out."""
    messages: dict[str, str] = {}
    entry: dict[str, str] = {}
    fuzzy, field = False, ""

    def finish() -> None:
        nonlocal entry, fuzzy, field
        if "msgid" in entry and not fuzzy:
            key = "\0".join(entry[name] for name in ("msgid", "msgid_plural") if name in entry)
            if "msgctxt" in entry:
                key = f"{entry['msgctxt']}\x04{key}"
            forms = [entry[name] for name in sorted(name for name in entry if name.startswith("msgstr"))]
            if any(forms):
                messages[key] = "\0".join(forms)
        entry, fuzzy, field = {}, False, ""

    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            if field.startswith("msgstr"):
                finish()
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        match = _LINE.match(line)
        if match is None or not (match[1] or field):
            raise ValueError(f"{source}:{number}: not a line of a message catalogue")
        if match[1]:
            if match[1] in ("msgctxt", "msgid") and field.startswith("msgstr"):
                finish()
            field = f"{match[1]}{match[2] or ''}"
            entry[field] = ""
        entry[field] += ast.literal_eval(match[3])
    finish()
    return messages


def to_mo(messages: dict[str, str]) -> bytes:
    """The bytes of a .mo file: header, both tables of (length, place), then the texts, ended by NUL and
    sorted by message."""
    pairs = sorted((key.encode(), text.encode()) for key, text in messages.items())
    header_size, count = 28, len(pairs)
    place = header_size + 16 * count
    tables: list[bytes] = []
    body = b""
    for side in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<II", len(pair[side]), place + len(body)))
            body += pair[side] + b"\0"
    header = struct.pack(
        "<7I", MAGIC, 0, count, header_size, header_size + 8 * count, 0, header_size + 16 * count
    )
    return header + b"".join(tables) + body
