"""Same seed and commands, same bytes: in pieces, after a restart, in another process."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.replay import Journal, replay
from tests.core.lab.journals import random_life


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_replay_of_the_journal_gives_the_same_bytes(seed):
    scenario, journal, lab = random_life(seed, 15)
    again = replay(scenario, journal, lab.now_us)
    assert again.checkpoint() == lab.checkpoint()
    assert json.dumps(again.view()) == json.dumps(lab.view())


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), parts=st.lists(st.integers(1, 4_000_000), min_size=1, max_size=8))
def test_time_in_pieces_equals_time_at_once(seed, parts):
    scenario, journal, _ = random_life(seed, 8)
    pieces, whole = replay(scenario, journal, 0), replay(scenario, journal, 0)
    events = []
    for part in parts:
        events += pieces.advance_to(pieces.now_us + part)
    assert events == whole.advance_to(whole.now_us + sum(parts))
    assert pieces.checkpoint() == whole.checkpoint()


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_restored_checkpoint_goes_on_as_if_nothing_had_happened(seed):
    scenario, _, lab = random_life(seed, 10)
    twin = Lab.restore(scenario, lab.checkpoint())
    assert twin.view() == lab.view()
    assert twin.advance_to(lab.now_us + 40_000_000) == lab.advance_to(lab.now_us + 40_000_000)
    assert twin.checkpoint() == lab.checkpoint()


def test_seek_lands_where_the_lab_was_and_a_fork_goes_its_own_way():
    scenario, commands, _ = random_life(3, 10)
    journal = Journal(scenario, commands)
    live = Lab(scenario)
    views = {}
    for command in commands:
        while live.now_us < command["at_us"]:
            live.advance_to(min(command["at_us"], live.now_us + 5_000_000))
            journal.keep(live)
            views[live.now_us] = None
        live.submit(command)
        journal.keep(live)
        views[live.now_us] = json.dumps(live.view())
    for at_us, view in views.items():
        if view is not None:
            assert json.dumps(journal.seek(at_us).view()) == view
    middle_us = commands[5]["at_us"]
    fork = journal.fork(middle_us)
    assert fork.seek(middle_us).checkpoint() == journal.seek(middle_us).checkpoint()
    assert len(fork.commands) < len(journal.commands)


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
        run = subprocess.run([sys.executable, "-c", program, str(seed)], env=environment, capture_output=True, text=True, check=True)
        digests.add(run.stdout.strip())
    _, journal, lab = random_life(seed)
    digests.add(hashlib.sha256(lab.checkpoint() + json.dumps([journal, lab.view()]).encode()).hexdigest())
    assert len(digests) == 1
