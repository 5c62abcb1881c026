"""The laws of a lab's journal, on the code that the worker runs: replay is the life that was lived, seek
lands in it, a fork shares its past."""

import json
import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.errors import CommandError, ReplayError
from broker_core.lab import journal as journals
from broker_core.lab.checkpoint import pack
from broker_core.lab.journal import (
    Cadence,
    Journal,
    Mark,
    Stored,
    alone,
    begin,
    nearest,
    state_of,
    thinned,
)
from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.journals import ALL_LANES, THREE_LANES, random_life
from tests.examples import examples

SECOND = 1_000_000
SCENARIO = scenario_from_json(
    {"workload": {"kind": "uniform", "keys": 50, "rate": 20}, "consumer_rate": 10, "lanes": THREE_LANES}
)
few = examples(5, new=40)
seeds, three = st.integers(0, 10_000), st.just(THREE_LANES)


def lived(orders, scenario=SCENARIO):
    """(journal, lab) of a lab that was given these orders: (kind, args, microseconds that pass before it)."""
    lab, journal = Lab(scenario), Journal(scenario)
    for position, (kind, args, wait_us) in enumerate(orders, start=1):
        lab.advance_to(lab.now_us + wait_us)
        order = {"command_id": f"o{position}", "kind": kind, "lane": "all", "consumer": None, "args": args}
        command = {**order, "position": position, "at_us": lab.now_us}
        lab.submit(command)
        journal.commands.append(command)
    return journal, lab


def test_records_come_at_another_rate_and_every_way_back_knows_it():
    orders = [("record_rate", {"rate": 50}, 2 * SECOND), ("record_rate", {"rate": 5}, SECOND)]
    journal, lab = lived([*orders, ("pause_lab", {}, 0), ("step", {}, 0)])
    assert lab.record_count == 40 + 50 + 1 and lab.view()["workload"]["rate"] == 5
    assert lab.now_us == 3 * SECOND + 200_000
    again = journal.seek(lab.now_us)
    assert again.view() == lab.view()
    restored = Lab.restore(SCENARIO, lab.checkpoint())
    for each in (restored, again, lab):
        each.advance_to(6 * SECOND)
    assert restored.view() == again.view() == lab.view() and lab.record_count == 90 + 15
    assert journal.workload().arrival_times(0, 105) == lab.workload.arrival_times(0, 105)
    assert journal.seek(SECOND * 5 // 2).record_count == 65
    assert journal.seek(until_position=4).now_us == 3 * SECOND + 200_000


def test_a_lane_under_another_rule_lives_through_the_same_rates():
    _journal, lab = lived([("record_rate", {"rate": 50}, 2 * SECOND), ("join", {}, SECOND)])
    sent = {"command_id": "x", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "auto_split"}}
    lab.submit(sent)
    assert lab.record_count == 40 + 50 == lab.lanes["pulsar"].next_record
    lab.advance_to(5 * SECOND)
    assert lab.record_count == 40 + 150 == lab.lanes["pulsar"].next_record


def watched(scenario, commands, until_us):
    """(journal with the checkpoints that a worker takes, {moment: (view, checkpoint)}): the life of the
    commands, lived once more."""
    journal, cadence, lab, seen = Journal(scenario, commands), Cadence(), Lab(scenario), {}
    for command in [*commands, None]:
        goal_us = until_us if command is None else command["at_us"]
        while lab.now_us < goal_us:
            lab.advance_to(min(goal_us, lab.now_us + 5 * SECOND))
            journal.keep(lab, cadence)
            seen[lab.now_us, lab.position] = lab.view(), lab.checkpoint()
        if command is not None:
            lab.submit(command)
            journal.keep(lab, cadence)
            seen[lab.now_us, lab.position] = lab.view(), lab.checkpoint()
    return journal, seen


def fork_of(journal, until_us):
    """What `dashboard/labs/services.py` makes of a cut: the commands up to it, and the nearest checkpoint."""
    cut = journal.cut(until_us)
    mark = nearest(journal.checkpoints, cut.past_us)
    kept = {} if mark is None else {mark: alone(mark, 0, journal._state_at(mark))}
    return Journal(journal.scenario, cut.commands, kept, journal.limits)


# -- replay --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@few
@given(seed=seeds, lanes=three)
@example(seed=1, lanes=ALL_LANES)
def test_replay_of_the_journal_gives_the_same_bytes(seed, lanes):
    scenario, commands, lab = random_life(seed, 12, lanes=lanes)
    again = Journal(scenario, commands).seek(lab.now_us)
    assert again.checkpoint() == lab.checkpoint()
    assert json.dumps(again.view()) == json.dumps(lab.view())


@pytest.mark.slow
@few
@given(seed=seeds, slices=st.lists(st.integers(1_000, 9 * SECOND), min_size=1, max_size=5), lanes=three)
@example(seed=2, slices=[1_000, 70_000, 9 * SECOND], lanes=ALL_LANES)
def test_replay_in_slices_tells_what_a_replay_at_once_tells(seed, slices, lanes):
    scenario, commands, lab = random_life(seed, 8, lanes=lanes)
    at_once = Replay(begin(scenario, None)[0], commands, lab.now_us)
    sliced = Replay(begin(scenario, None)[0], commands, lab.now_us)
    told = {at_once: [], sliced: []}
    while not at_once.is_there:
        told[at_once] += whole(at_once.step(10**12)).events
    turn = 0
    while not sliced.is_there:
        told[sliced] += whole(sliced.step(max(slices[turn % len(slices)], lab.now_us // 500))).events
        turn += 1
    assert told[sliced] == told[at_once] and told[at_once]
    assert sliced.lab.checkpoint() == at_once.lab.checkpoint() == lab.checkpoint()


@pytest.mark.slow
@few
@given(seed=seeds, lanes=three)
@example(seed=2999, lanes=ALL_LANES)  # amid a pass of a TubeMQ client, whose calls came back as plain dicts
def test_restored_checkpoint_goes_on_as_if_nothing_had_happened(seed, lanes):
    scenario, _, lab = random_life(seed, 8, lanes=lanes)
    twin, error = begin(scenario, lab.checkpoint())
    assert error is None and twin.view() == lab.view()
    assert twin.advance_to(lab.now_us + 40 * SECOND) == lab.advance_to(lab.now_us + 40 * SECOND)
    assert twin.checkpoint() == lab.checkpoint()


@pytest.mark.slow
@few
@given(seed=seeds, cut=st.integers(0, 8), lanes=three)
@example(seed=3, cut=4, lanes=ALL_LANES)
def test_replay_from_any_checkpoint_is_the_replay_from_the_start(seed, cut, lanes):
    scenario, commands, lab = random_life(seed, 8, lanes=lanes)
    half = Journal(scenario, commands).seek(until_position=cut)
    lab_2, error = begin(scenario, half.checkpoint())
    assert error is None
    assert Replay(lab_2, commands, lab.now_us).finish().checkpoint() == lab.checkpoint()


@pytest.mark.parametrize("state", [b"", b"of another version", b"x" * 100])
def test_a_checkpoint_that_cannot_be_read_costs_nothing_but_time(state):
    scenario, commands, lab = random_life(5, 6, lanes=THREE_LANES)
    fresh, error = begin(scenario, state)
    assert isinstance(error, ReplayError) and fresh.now_us == 0
    mark = Mark(commands[3]["at_us"], 3)
    journal = Journal(scenario, commands, {mark: alone(mark, 0, state)})
    assert journal.seek(lab.now_us).checkpoint() == lab.checkpoint()


def test_a_command_that_cannot_be_what_was_accepted_stops_the_replay():
    journal, _ = lived([("join", {"count": 1}, SECOND), ("join", {"count": 1}, SECOND)])
    journal.commands[1]["at_us"] = journal.commands[0]["at_us"] - 1
    with pytest.raises(ReplayError, match="dated"):
        Replay(Lab(SCENARIO), journal.commands, 9 * SECOND).finish()
    journal.commands[1] |= {"at_us": 3 * SECOND, "kind": "crash", "consumer": "nobody", "args": {}}
    with pytest.raises(ReplayError, match=r"entry 2 \(crash\) is refused"):
        Replay(Lab(SCENARIO), journal.commands, 9 * SECOND).finish()


def test_a_borrowed_command_may_be_refused_and_may_come_late():
    commands = [
        {
            "command_id": "a",
            "kind": "step",
            "lane": "all",
            "consumer": None,
            "args": {},
            "position": 1,
            "at_us": SECOND,
        },
        {
            "command_id": "b",
            "kind": "crash",
            "lane": "all",
            "consumer": "nobody",
            "args": {},
            "position": 2,
            "at_us": SECOND + 1,
        },
        {
            "command_id": "c",
            "kind": "join",
            "lane": "all",
            "consumer": None,
            "args": {"count": 1},
            "position": 3,
            "at_us": SECOND + 2,
        },
    ]
    replay, told = Replay(Lab(SCENARIO), commands, 2 * SECOND, borrowed={1, 2, 3}), []
    while not replay.is_there:
        told.append(whole(replay.step(SECOND)))
    outcomes = {step.command["position"]: step.refusal for step in told if step.command is not None}
    assert list(outcomes) == [1, 2, 3] and outcomes[1] is outcomes[3] is None
    assert isinstance(outcomes[2], CommandError) and outcomes[2].field == "consumer"
    assert "c4" in replay.lab.seen and replay.lab.now_us == 2 * SECOND


# -- checkpoints ---------------------------------------------------------------------------------------------


def test_checkpoints_come_when_so_much_has_been_done_since_the_last(monkeypatch):
    monkeypatch.setattr(journals, "CHECKPOINT_STEPS", 100)
    lab, journal, cadence, steps = Lab(SCENARIO), Journal(SCENARIO), Cadence(), []
    cadence.take(lab)
    assert not journal.keep(lab, cadence), "a checkpoint that was just taken"
    monkeypatch.setattr(journals, "CHECKPOINT_BYTES_PER_STEP", 10**9)
    for second in range(1, 30):
        before = lab.steps
        lab.advance_to(second * SECOND)
        if journal.keep(lab, cadence):
            steps.append((before, lab.steps))
    assert len(steps) > 5 and list(journal.checkpoints) == sorted(journal.checkpoints)
    assert [each.stored.steps for each in journal.checkpoints.values()] == [now for _, now in steps]
    for (_, last), (before, now) in pairwise(steps):
        assert before - last < 100 <= now - last, "as soon as it is so much, and not before"
    monkeypatch.setattr(journals, "CHECKPOINT_BYTES_PER_STEP", 1)
    lab.advance_to(lab.now_us + SECOND)
    assert lab.steps - cadence.steps < cadence.state_size and not cadence.is_due(lab), (
        "a large one comes later"
    )


def test_what_a_lab_has_cost_is_the_same_however_it_got_there_and_counts_lanes_that_were_replaced():
    scenario = scenario_from_json(
        {"workload": {"kind": "uniform", "keys": 50}, "lanes": [{"model": "kafka"}]}
    )
    journal, lab = lived([("join", {"count": 2}, SECOND)], scenario)
    lab.advance_to(2 * SECOND)
    switch = {"command_id": "o2", "kind": "set_algorithm", "lane": "kafka", "consumer": None,
              "args": {"algorithm": "roundrobin"}, "position": 2, "at_us": lab.now_us}  # fmt: skip
    lab.submit(switch)
    journal.commands.append(switch)
    lab.advance_to(3 * SECOND)
    sought = journal.seek(3 * SECOND)
    assert sought.steps == lab.steps and Lab.restore(scenario, lab.checkpoint()).steps == lab.steps
    before = journal.seek(2 * SECOND, 1)
    assert lab.steps > before.steps + before.lanes["kafka"].world.made // 2, "its past was lived again"


def test_most_checkpoints_are_packed_against_an_older_one_and_all_give_their_state(monkeypatch):
    monkeypatch.setattr(journals, "CHECKPOINT_STEPS", 50)
    monkeypatch.setattr(journals, "CHECKPOINT_BYTES_PER_STEP", 10**9)
    lab, journal, cadence, states = Lab(SCENARIO), Journal(SCENARIO), Cadence(), {}
    for second in range(1, 40):
        lab.advance_to(second * SECOND)
        if journal.keep(lab, cadence):
            states[Mark(lab.now_us, lab.position)] = lab.checkpoint()
    stored = [each.stored for each in journal.checkpoints.values()]
    alone, packed = (
        [each.size for each in stored if (each.base is None) is is_alone] for is_alone in (True, False)
    )
    assert len(packed) > 3 * len(alone) and 2 * sum(packed) / len(packed) < sum(alone) / len(alone)
    for mark, state in states.items():
        assert journal.seek(mark.at_us).checkpoint() == state
        assert journal._state_at(mark) == state


def test_what_is_packed_against_a_damaged_or_another_checkpoint_is_damaged():
    old, new = b"the state " * 40, b"the state " * 40 + b"and more"
    packed, base = pack(new, old), pack(old)
    assert state_of(packed, base) == new and state_of(base) == old
    assert (
        state_of(packed)
        == state_of(packed, pack(new))
        == state_of(packed, b"?")
        == state_of(b"", base)
        == b""
    )
    assert state_of(packed[:-1] + bytes([packed[-1] ^ 1]), base) == b"", "a bit was flipped"


@given(
    st.lists(st.tuples(st.integers(1, 1_000), st.integers(1, 300), st.booleans()), min_size=1, max_size=40),
    st.integers(0, 4_000),
)
def test_thinning_keeps_the_newest_and_what_others_are_packed_against(rows, bytes_max):
    stored, steps, base = [], 0, None
    for number, (more, size, is_alone) in enumerate(rows):
        steps += more
        base = None if is_alone or not stored else (base or stored[-1].mark)
        stored.append(Stored(Mark(number, 0), steps, size, base))
    gone = thinned(stored, bytes_max)
    kept = [each for each in stored if each.mark not in gone]
    assert kept[-1] == stored[-1] and {each.base for each in kept} - {None} <= {each.mark for each in kept}
    total = sum(each.size for each in kept)
    assert total <= bytes_max or len(kept) == 1 or [each.mark for each in kept[:-1]] == [kept[-1].base]
    assert not gone or total + next(each.size for each in stored if each.mark == gone[-1]) > bytes_max


def test_thinned_checkpoints_are_evenly_apart_in_what_it_costs_to_get_there():
    kept: list[Stored] = []
    for number in range(2_000):
        kept.append(Stored(Mark(number, 0), 100 * (number + 1), 10))
        gone = thinned(kept, 500)
        kept = [each for each in kept if each.mark not in gone]
    ways = [after.steps - before.steps for before, after in pairwise([Stored(Mark(0, 0), 0, 0), *kept])]
    assert len(kept) == 50 and max(ways) <= 2.5 * 2_000 * 100 / 50


def test_the_nearest_checkpoint_is_the_last_one_by_then():
    marks = [Mark(5, 1), Mark(5, 3), Mark(9, 4)]
    assert [nearest(marks, at_us) for at_us in (4, 5, 8, 9)] == [None, Mark(5, 3), Mark(5, 3), Mark(9, 4)]


# -- moments -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@few
@example(seed=2, lanes=ALL_LANES)  # a switch of Failover that rewound, and a look at its view
@example(seed=545, lanes=ALL_LANES)  # consumers of Pulsar that attached in another order than they connected
# followers of one leader that had begun to fetch a partition in another order than they connected
@example(seed=190, lanes=ALL_LANES)
@given(seed=seeds, lanes=three)
def test_seek_lands_in_every_moment_that_was_lived(seed, lanes):
    scenario, commands, lab = random_life(seed, 9, lanes=lanes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journals, "CHECKPOINT_STEPS", 100)
        patch.setattr(journals, "CHECKPOINT_BYTES_PER_STEP", 10**9)
        journal, seen = watched(scenario, commands, lab.now_us)
    assert journal.checkpoints or lab.steps < 100
    for at_us, position in random.Random(seed).sample(sorted(seen), min(8, len(seen))):
        view, state = seen[at_us, position]
        sought = journal.seek(at_us, position)
        assert sought.checkpoint() == state
        assert json.dumps(sought.view()) == json.dumps(view)
    for command in commands[:: max(1, len(commands) // 4)]:
        after = journal.seek(until_position=command["position"])
        assert (
            after.position == command["position"]
            and after.checkpoint() == seen[after.now_us, after.position][1]
        )


@pytest.mark.slow
@few
@given(seed=seeds, part=st.floats(0, 1), lanes=three)
@example(seed=4, part=0.6, lanes=ALL_LANES)
def test_a_fork_shares_everything_up_to_the_moment_and_goes_its_own_way(seed, part, lanes):
    scenario, commands, lab = random_life(seed, 8, lanes=lanes)
    journal, _ = watched(scenario, commands, lab.now_us)
    until_us = int(lab.now_us * part)
    untouched = [dict(command) for command in journal.commands], dict(journal.checkpoints)
    fork = fork_of(journal, until_us)
    there = fork.seek(until_us)
    assert there.checkpoint() == journal.seek(until_us).checkpoint() and there.now_us == until_us
    assert fork.commands == journal.commands[: len(fork.commands)]
    join = {"command_id": "own", "kind": "join", "lane": "all", "consumer": "own", "args": {"count": 1},
            "position": there.position + 1, "at_us": until_us}  # fmt: skip
    there.submit(join)
    fork.commands.append(join)
    there.advance_to(until_us + 5 * SECOND)
    assert fork.seek(until_us + 5 * SECOND).checkpoint() == there.checkpoint()
    assert "own" not in journal.seek(lab.now_us).seen and (journal.commands, journal.checkpoints) == untouched
    assert journal.seek(lab.now_us).checkpoint() == lab.checkpoint(), "the original is unchanged"


def test_a_fork_at_the_end_of_a_journal_without_its_future_lives_the_same_future():
    scenario, commands, lab = random_life(11, 12, lanes=THREE_LANES)
    fork = fork_of(Journal(scenario, commands), commands[5]["at_us"])
    fork.commands.extend(commands[len(fork.commands) :])
    assert fork.seek(lab.now_us).checkpoint() == lab.checkpoint()


def test_what_is_dated_exactly_then_belongs_to_the_moment():
    journal, _ = lived([("join", {"count": 1}, 2 * SECOND), ("join", {"count": 1}, SECOND)])
    assert [
        len(journal.seek(at_us).seen) for at_us in (2 * SECOND - 1, 2 * SECOND, 3 * SECOND - 1, 3 * SECOND)
    ] == [3, 4, 4, 5]
    assert journal.seek(2 * SECOND).record_count == 40, "and so does a record"


def test_of_commands_at_one_time_those_up_to_the_position_belong_to_the_moment():
    journal, lab = lived(
        [("join", {"count": 1}, SECOND), ("join", {"count": 1}, 0), ("join", {"count": 1}, 0)]
    )
    assert [len(journal.seek(SECOND, position).seen) for position in (0, 1, 2, 3, 9)] == [3, 4, 5, 6, 6]
    assert [len(journal.seek(until_position=position).seen) for position in (0, 1, 2, 3)] == [3, 4, 5, 6]
    assert journal.seek(until_position=0).now_us == 0
    assert len(journal.seek(2 * SECOND, 1).seen) == 6, "at another time the position leaves nothing out"
    assert journal.cut(SECOND, 2).past_us == SECOND - 1, "what the third has told is not the fork's"
    assert journal.cut(SECOND, 3).past_us == journal.cut(SECOND).past_us == SECOND
    assert lab.position == 3


def test_a_step_belongs_to_a_moment_once_its_record_has_arrived():
    journal, lab = lived([("step", {}, SECOND + 10), ("join", {"count": 1}, 0)])
    began_us, ended_us = SECOND + 10, lab.now_us
    assert ended_us == SECOND + 50_000
    for at_us, positions in ((began_us - 1, []), (began_us, []), (ended_us - 1, []), (ended_us, [1, 2])):
        cut = journal.cut(at_us)
        assert ([command["position"] for command in cut.commands], cut.until_us) == (positions, at_us)
        assert journal.seek(at_us).now_us == at_us
    assert journal.cut(until_position=1)[1:] == (ended_us, ended_us - 1)
    assert journal.seek(until_position=1).record_count == 21


def test_between_two_places_of_the_journal_lies_the_one_before():
    journal, _ = lived([("join", {"count": 1}, SECOND), ("join", {"count": 1}, SECOND)])
    journal.commands[1]["position"] = 7  # what lies between was refused, or left behind by a fork
    assert (
        journal.cut(until_position=5)[:2]
        == journal.cut(until_position=1)[:2]
        == ([journal.commands[0]], SECOND)
    )
    assert journal.cut(until_position=7).until_us == 2 * SECOND


def test_a_moment_without_time_and_place_is_none():
    with pytest.raises(ValueError, match="a time, a position, or both"):
        Journal(SCENARIO).cut()
