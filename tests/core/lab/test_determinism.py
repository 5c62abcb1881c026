"""Same seed and commands, same bytes: in pieces, and in another process. What a journal promises:
test_journal.py."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab import journals
from tests.core.lab.journals import ALL_LANES, SCENARIO, THREE_LANES, random_life


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    parts=st.lists(st.integers(1, 4_000_000), min_size=1, max_size=8),
    lanes=st.just(THREE_LANES),
)
@example(seed=5, parts=[1, 999, 50_000, 4_000_000, 3_999_999], lanes=ALL_LANES)
def test_time_in_pieces_equals_time_at_once(seed, parts, lanes):
    scenario = scenario_from_json({**SCENARIO, "seed": seed, "lanes": lanes})
    pieces, whole = Lab(scenario), Lab(scenario)
    events = []
    for part in parts:
        events += pieces.advance_to(pieces.now_us + part)
    assert events == whole.advance_to(whole.now_us + sum(parts))
    assert pieces.checkpoint() == whole.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "lanes"), [(1, "ALL_LANES"), (2, "THREE_LANES")])
def test_another_process_with_another_hash_seed_gives_the_same_bytes(seed, lanes):
    program = (
        "import hashlib, json, sys\n"
        "from tests.core.lab import journals\n"
        "_, journal, lab = journals.random_life(int(sys.argv[1]), lanes=getattr(journals, sys.argv[2]))\n"
        "print(hashlib.sha256(lab.checkpoint() + json.dumps([journal, lab.view()]).encode()).hexdigest())\n"
    )
    digests = set()
    for hash_seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", program, str(seed), lanes],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(run.stdout.strip())
    _, journal, lab = random_life(seed, lanes=getattr(journals, lanes))
    digests.add(hashlib.sha256(lab.checkpoint() + json.dumps([journal, lab.view()]).encode()).hexdigest())
    assert len(digests) == 1
