"""Which lives a simulation tries: other ones at each commit, and at one commit the same everywhere.

SEED=7                  that one alone                         make seed SEED=7
HIGHWATER_SEEDS=15      so many, drawn from the commit's id    make test; thousands in make simulate
"""

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from zlib import crc32

from mqsite.keeper import ROOT

BY_HAND = 6
"""How many when no count was asked for."""


@cache
def first_seed() -> int:
    """Where this commit's seeds begin; 0 where there is no repository (an unpacked archive).

    The tree may differ from its commit while somebody works on it: the seeds stay the same until the next one.
    """
    run = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return crc32(run.stdout.strip().encode()) if run.returncode == 0 else 0


def seeds(count_max: int | None = None, found: Iterable[int] = (), times: int = 1) -> list[int]:
    """found: seeds that once failed, tried each time unless one was asked for by name. times: where a life
    costs little, so many times as many."""
    if "SEED" in os.environ:
        return [int(os.environ["SEED"])]
    count = times * int(os.environ.get("HIGHWATER_SEEDS", BY_HAND))
    first = first_seed()
    return [*found, *range(first, first + min(count, count_max or count))]
