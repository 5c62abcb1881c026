"""A process that stops and comes back: what moves in the meantime, under which names, and who waits. Right values are
Kafka's rules carried out by hand: 12 partitions of three members are 0-3, 4-7 and 8-11 under Range; a dynamic
member says goodbye, a static one does not, and is missed when its session is over (45 s)."""

import pytest

from broker_core.kafka.producer.partitioner import partition_for_key
from broker_core.pipeline.feasible import feasibility
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.strategies import strategy_parse
from broker_core.pipeline.timed import CRASH_S, JOIN_S, WARM_S, timetable
from tests.pipeline.pure_study import pure_study

KEYS = [(f"user-{number}", 3) for number in range(240)]
DYNAMIC, STATIC = "kafka.range:partitions=12", "kafka.static_range:partitions=12,session_s=45"


def restart(down_s, names="own", consumer="c2", start=3):
    change = {"kind": "restart", "consumer": consumer, "down_s": down_s, "names": names}
    return {"kind": "given", "start": start, "changes": [change]}


def steps(history):
    return history_steps(history_check(history))


def owners(text, history):
    """Owners of the partitions after each step."""
    return [
        [table.names[owner] for owner in table.owners.tolist()]
        for table in strategy_parse(text).routes(steps(history))
    ]


def runs(*names):
    """Owners of 12 partitions, each name in a run of the same length."""
    return [name for name in names for _ in range(12 // len(names))]


def share_in(partitions):
    """The share of the keys that these partitions have."""
    return sum(partition_for_key(key.encode(), 12) in partitions for key, _ in KEYS) / len(KEYS)


# -- histories -----------------------------------------------------------------------------------------------


def test_a_restart_is_two_steps_and_all_are_a_deployment():
    one, pod, everyone = steps(restart(10)), steps(restart(10, "new")), steps(restart(10, "new", None))
    assert [(step.kind, step.consumer, step.down_s, step.change) for step in one[1:]] == [
        ("stop", "c2", 10, 0),
        ("back", "c2", None, 0),
    ]
    assert [step.label for step in one] == ["3", "−c2", "+c2"]
    assert [step.members for step in pod] == [("c1", "c2", "c3"), ("c1", "c3"), ("c1", "c3", "c4")]
    assert [step.label for step in everyone] == ["3", "−c1", "+c4", "−c2", "+c5", "−c3", "+c6"]
    assert everyone[-1].members == ("c4", "c5", "c6")
    rolling = steps({"kind": "rolling_restart", "consumers": 3, "down_s": 10, "names": "new"})
    assert [step.members for step in rolling] == [step.members for step in everyone]


def test_a_step_lasts_as_long_as_the_process_is_down_and_a_new_name_as_long_as_a_crash():
    for names, last_s in (("own", JOIN_S), ("new", CRASH_S)):
        table = timetable(steps(restart(10, names)), 36, 10, 50_000)
        starts = [at // 1_000_000 for at in table.starts_us]
        assert starts == [0, WARM_S, WARM_S + 10, WARM_S + 10 + last_s]


# -- static membership ---------------------------------------------------------------------------------------


def test_a_dynamic_member_that_restarts_moves_its_partitions_twice():
    before, away, back = owners(DYNAMIC, restart(10))
    assert before == back == runs("c1", "c2", "c3") and away == runs("c1", "c3")


@pytest.mark.parametrize("rule", ["range", "cooperative-sticky", "server_uniform"])
def test_a_static_member_that_is_back_within_its_session_keeps_its_partitions(rule):
    before, away, back = owners(f"kafka.static_{rule}", restart(40))
    assert before == away == back


def test_after_its_session_the_partitions_of_a_static_member_move():
    for text, down_s in ((STATIC, 50), ("kafka.static_range:session_s=6", 10)):
        before, away, back = owners(text, restart(down_s))
        assert away == runs("c1", "c3") and before == back == runs("c1", "c2", "c3")


def test_a_static_member_with_a_new_id_is_a_newcomer_and_the_old_one_is_missed():
    """A replaced pod: nothing moves while the old id's session runs; then c1, c3, c4 share from scratch."""
    before, away, back = owners(STATIC, restart(10, "new"))
    assert before == away == runs("c1", "c2", "c3") and back == runs("c1", "c3", "c4")


def test_a_member_that_leaves_for_good_is_given_up_after_its_session():
    history = {"kind": "given", "start": 3, "changes": [{"kind": "leave", "consumer": "c2"}]}
    assert owners(STATIC, history)[1] == runs("c1", "c3")


def test_a_ring_gets_its_keys_back_under_the_old_name_and_others_under_a_new_one():
    ring = strategy_parse("pulsar.consistent_hash")
    own, new = (ring.routes(steps(restart(10, names))) for names in ("own", "new"))
    assert own[0].bounds.tolist() == own[2].bounds.tolist() != new[2].bounds.tolist()
    assert own[1].space_moved == own[2].space_moved == new[1].space_moved != new[2].space_moved


def test_what_a_restart_costs_is_counted_over_the_records(tmp_path):
    result = pure_study(
        tmp_path / "case", KEYS, [DYNAMIC, STATIC], restart(10), rate=30, consumer_rate=40, is_timed=True
    )
    dynamic, static = result["strategies"]
    moved = share_in({4, 5, 6, 7})
    assert [step["keys_moved_share"] for step in dynamic["steps"][1:]] == pytest.approx([moved, moved])
    assert dynamic["totals"]["churn"] == pytest.approx(2 * moved) and static["totals"]["churn"] == 0
    assert [step["partitions_moved"] for step in static["steps"][1:]] == [0, 0]
    # Nobody reads what waits for a static member: 10 s, and until it is back in its place. A dynamic one's
    # partitions have a new owner after the others' next heartbeat.
    assert 10 <= static["totals"]["pause_longest_s"] < 12 and 0 < dynamic["totals"]["pause_longest_s"] < 5
    assert len(static["waits"]) >= 8 > len(dynamic["waits"])
    assert feasibility(result)["consumers"] == 3
    assert static["luck"]["of"] == "partitions"


# -- processes without names ---------------------------------------------------------------------------------

NAMED, UNNAMED = "pulsar.consistent_hash:points=100", "pulsar.consistent_hash_unnamed:points=100"


def test_a_ring_without_consumer_names_is_another_at_each_start():
    """Under its own name c2 gets its slots back; a process that draws a name has other points. c1 and c3 keep theirs."""
    history = steps(restart(10))
    named, unnamed = (strategy_parse(text).routes(history) for text in (NAMED, UNNAMED))
    assert [table.live for table in unnamed] == [table.live for table in named]
    assert unnamed[-1].names == ("c1", "c2", "c3"), "whoever its process is called, it is c2"
    assert named[0].bounds.tolist() == named[2].bounds.tolist()
    assert unnamed[0].bounds.tolist() == named[0].bounds.tolist() != unnamed[2].bounds.tolist()
    assert unnamed[1].space_moved != unnamed[2].space_moved
    for text in (UNNAMED, "pulsar.consistent_hash_current_unnamed"):
        strategy = strategy_parse(text)
        assert [table.owners.tolist() for table in strategy.routes(history, seed=7)] == [
            table.owners.tolist() for table in strategy.routes(history, seed=7)
        ]
        assert (
            strategy.routes(history, seed=8)[2].bounds.tolist() != strategy.routes(history)[2].bounds.tolist()
        )


def test_its_tables_are_those_of_the_ring_with_the_names_that_were_drawn():
    strategy = strategy_parse(UNNAMED)
    history = steps({"kind": "given", "start": 2, "changes": [
        {"kind": "crash", "consumer": "c1"}, {"kind": "rejoin", "consumer": "c1"}, {"kind": "restart", "consumer": "c2"},
    ]})  # fmt: skip
    drawn = strategy.family.history(history, 7)
    assert [step.kind for step in drawn] == ["start", "crash", "join", "stop", "back"]
    first, again = drawn[0].members[0], drawn[2].consumer
    assert drawn[1].consumer == first == "c1" != again and len(drawn[-1].members) == 2
    ring, shown = strategy_parse(NAMED).routes(drawn), strategy.routes(history)
    whose = {first: "c1", again: "c1", drawn[0].members[1]: "c2", drawn[4].consumer: "c2"}
    for slot in range(0, 1 << 31, 97_654_321):
        assert [whose[table.owner_of(slot)] for table in ring] == [table.owner_of(slot) for table in shown]


def test_after_a_deployment_keys_are_back_under_fixed_names_and_elsewhere_without(tmp_path):
    """As many move: who stops hands on its share, and who comes takes one."""
    history = {"kind": "rolling_restart", "consumers": 4, "down_s": 10}
    named, unnamed = pure_study(
        tmp_path / "case", KEYS, [NAMED, UNNAMED], history, rate=30, consumer_rate=40, is_timed=True
    )["strategies"]
    assert named["totals"]["churn"] == pytest.approx(2.0), "each key goes once and comes back once"
    assert unnamed["steps"][-1]["consumers"].keys() == named["steps"][-1]["consumers"].keys()
    assert unnamed["totals"]["churn"] != named["totals"]["churn"] and unnamed["totals"]["timed_records"] > 0
    assert unnamed["totals"]["churn"] == pytest.approx(2.0, abs=0.5)
    for text, is_back in ((NAMED, True), (UNNAMED, False)):
        first, *_, last = strategy_parse(text).routes(steps(history))
        slots = range(0, 1 << 31, 9_765_432)
        back = sum(first.owner_of(slot) == last.owner_of(slot) for slot in slots) / len(slots)
        assert (back == 1) if is_back else (back < 0.5), "a quarter by chance"
    for each in (named, unnamed):
        luck = each["luck"]
        assert luck["of"] == "names" and luck["draws"] == 20 and luck["low"] < luck["mid"] < luck["high"]
