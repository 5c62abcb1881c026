"""What a field of a method carries on the wire."""

from __future__ import annotations

SHORT_MAX, LONG_MAX, LONGLONG_MAX, SHORTSTR_BYTES_MAX = 65_535, (1 << 32) - 1, (1 << 64) - 1, 255
"""What a field for a short number, a long one, a delivery tag or a name carries on the wire."""


def is_short_text(text: str) -> bool:
    """Whether a field for a short name carries this text.

    >>> is_short_text("q" * 255), is_short_text("é" * 128)
    (True, False)
    """
    return len(text.encode()) <= SHORTSTR_BYTES_MAX
