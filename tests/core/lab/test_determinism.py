"""Same seed and commands, same bytes: in pieces, and in another process. What a journal promises:
test_journal.py."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from tests.core.lab.journals import random_life


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), parts=st.lists(st.integers(1, 4_000_000), min_size=1, max_size=8))
def test_time_in_pieces_equals_time_at_once(seed, parts):
    scenario, _, _ = random_life(seed, 8)
    pieces, whole = Lab(scenario), Lab(scenario)
    events = []
    for part in parts:
        events += pieces.advance_to(pieces.now_us + part)
    assert events == whole.advance_to(whole.now_us + sum(parts))
    assert pieces.checkpoint() == whole.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_another_process_with_another_hash_seed_gives_the_same_bytes(seed):
    program = (
        "import hashlib, json, sys\n"
        "from tests.core.lab.journals import random_life\n"
        "_, journal, lab = random_life(int(sys.argv[1]))\n"
        "print(hashlib.sha256(lab.checkpoint() + json.dumps([journal, lab.view()]).encode()).hexdigest())\n"
    )
    digests = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", program, str(seed)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(run.stdout.strip())
    _, journal, lab = random_life(seed)
    digests.add(hashlib.sha256(lab.checkpoint() + json.dumps([journal, lab.view()]).encode()).hexdigest())
    assert len(digests) == 1
