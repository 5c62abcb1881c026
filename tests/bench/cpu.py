"""CPU time of this process and all that it started, dead or alive: what a busy machine leaves comparable."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def tree_cpu_s() -> float:
    """User and system seconds of this process, its descendants, and their children that have ended and were
    waited for."""
    times: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        pid = int(folder.name)
        times[pid] = sum(int(field) for field in fields[11:15])
        children.setdefault(int(fields[1]), []).append(pid)
    total, pending = 0, [os.getpid()]
    while pending:
        pid = pending.pop()
        total += times.get(pid, 0)
        pending += children.get(pid, [])
    return total / _TICKS


def in_turn(measured: Sequence[Callable[[], object]], repeats: int = 5) -> list[tuple[float, float]]:
    """(seconds, CPU seconds) of each: the least of a few runs, in turn, so that a busy moment of the machine
    meets all.

    A run's CPU seconds do not count where a process of the tree ended that nobody waited for: with it went
    what it had used before.
    """
    best = [(float("inf"), float("inf"))] * len(measured)
    for _ in range(repeats):
        for place, each in enumerate(measured):
            start, cpu = time.perf_counter(), tree_cpu_s()
            each()
            taken, used = time.perf_counter() - start, tree_cpu_s() - cpu
            best[place] = min(best[place][0], taken), min(best[place][1], used if used >= 0 else float("inf"))
    return best


_WHOLE_TREE = """
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: whom a parent leaves behind comes to us
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
sys.exit(code)
"""


def command_cpu_s(command: Sequence[str]) -> float:
    """CPU seconds of a command and of all that it started, whoever waited for it. Raises CalledProcessError
    where it fails."""
    done = subprocess.run(
        [sys.executable, "-c", _WHOLE_TREE, *command], stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout)
