"""The confirm context of a batch: "brokerId:topic:partitionId:token"."""

from __future__ import annotations

BLANK, NOT_FOUR, PART_BLANK, NOT_CURRENT = (
    "context_blank",
    "context_not_four",
    "context_part_blank",
    "context_old",
)
"""Why one is refused."""


def make(key: str, token: int) -> str:
    """The context of the batch with this token.

    >>> make("1:orders:0", 7)
    '1:orders:0:7'
    """
    return f"{key}:{token}"


def parse(context: str) -> tuple[str, int] | None:
    """Key and token, None for a text that is blank or not of four filled parts. Raises ValueError for a token that is
    no number (NumberFormatException).

    >>> parse("1:orders:0:7"), parse("1:orders:0"), parse("1: :0:7")
    (('1:orders:0', 7), None, None)
    """
    parts = [part.strip() for part in context.split(":")]
    if len(parts) != 4 or not all(parts):
        return None
    return ":".join(parts[:3]), int(parts[3])


def fault(context: str) -> str:
    """Which check refuses a text that `parse` gives None for.

    >>> fault(" "), fault("1:orders:0"), fault("1: :0:7")
    ('context_blank', 'context_not_four', 'context_part_blank')
    """
    if not context.strip():
        return BLANK
    return NOT_FOUR if len(context.split(":")) != 4 else PART_BLANK
