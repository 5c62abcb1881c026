"""Leases, of labs and of studies alike: who holds a row and until when, by the wall clock of the reader.

A row has `lease_owner`, `lease_until_ms` and `epoch`, which grows with every new holder. The lease says who
should work; the epoch, named in every write, settles who may: a holder that was paused and wakes up finds its
writes change no row.
"""

import time

from django.db.models import Q


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def lease_end_ms(lease_s: float) -> int:
    """Until when a lease that is taken or renewed now holds."""
    return wall_ms() + int(lease_s * 1000)


def has_run_out() -> Q:
    """Rows whose holder gave no sign of life in time."""
    return Q(lease_until_ms__lte=wall_ms())
