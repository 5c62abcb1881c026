"""Runs a user's assignor in a process of its own, `child.py`; the core asks for it through `broker_core/kafka/assignors/custom.py: use_runner`.

The same text and input give the same answer, so an answer is kept: a replay asks for the same again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

CHILD = Path(__file__).with_name("child.py")
WALL_S = 60
"""For a machine that is busy: the limit that counts is the child's own, of steps."""
ANSWER_BYTES_MAX = 4 << 20


def run(source: str, members: dict[str, Any], partitions: dict[str, int]) -> dict[str, Any]:
    """What `assign(members, partitions)` returned, or its error with its line."""
    answer: dict[str, Any] = json.loads(_run(json.dumps({"source": source, "members": members, "partitions": partitions})))
    return answer


@lru_cache(maxsize=256)
def _run(order: str) -> str:
    # Not -I: it would ignore PYTHONHASHSEED, and a set of names would have another order each time. The environment is empty but for it.
    command = [sys.executable, "-P", "-s", "-S", "-B", str(CHILD)]
    try:
        done = subprocess.run(
            command, input=order.encode(), capture_output=True, timeout=WALL_S, env={"PYTHONHASHSEED": "0"}, cwd="/", check=False
        )
    except subprocess.TimeoutExpired:
        return _failed("too_long")
    if done.returncode < 0:
        return _failed("cpu")
    if done.returncode:
        return _failed("died")
    if len(done.stdout) > ANSWER_BYTES_MAX:
        return _failed("long_answer", mb=ANSWER_BYTES_MAX >> 20)
    return done.stdout.decode()


def _failed(code: str, **params: int) -> str:
    return json.dumps({"code": code, "params": params, "line": 0})
