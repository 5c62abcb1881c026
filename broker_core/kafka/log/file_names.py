"""What the files of a segment are called: its first offset, and what is in them."""

from __future__ import annotations

LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".txnindex", ".snapshot"
DELETED, CLEANED, SWAP = ".deleted", ".cleaned", ".swap"


def file_name(base_offset: int, suffix: str) -> str:
    """Name a file of the segment with that base offset.

    >>> file_name(3257573, ".log")
    '00000000000003257573.log'
    """
    return f"{base_offset:020d}{suffix}"
