"""Out of order is what the programs saw: held against everything that they finished, written down record by
record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.in_flight import LaneTraffic
from broker_core.lab.shared.key_order import KeyOrder
from tests.core.lab.journals import ALL_LANES, THREE_LANES, random_life

SECOND = 1_000_000


@pytest.fixture
def written_down(monkeypatch):
    """id of a lane's traffic -> it, and (when, message) of what its programs have handled."""
    handled, seen = LaneTraffic.handled, {}

    def write_down(traffic, program, message, now_us):
        seen.setdefault(id(traffic), (traffic, []))[1].append((now_us, message))
        handled(traffic, program, message, now_us)

    monkeypatch.setattr(LaneTraffic, "handled", write_down)
    return seen


def out_of_order(lane, written_down):
    """Records finished after a later one of their key."""
    highest, count = {}, 0
    for _, message in sorted(written_down.get(id(lane.traffic), (None, []))[1]):
        code = lane.messages.key_code(message)
        if code >= 0:
            count += message < highest.get(code, -1)
            highest[code] = max(highest.get(code, -1), message)
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "lanes"), [(0, ALL_LANES), (1, ALL_LANES), *((seed, THREE_LANES) for seed in range(2, 12))]
)
def test_the_count_is_what_the_programs_saw(seed, lanes, written_down):
    _, _, lab = random_life(seed, 20, lanes=lanes)
    counted = {lane.id: lane.ledger.tally.order.count for lane in lab.lanes.values()}
    assert counted == {lane.id: out_of_order(lane, written_down) for lane in lab.lanes.values()}


def test_reading_again_after_a_crash_breaks_the_order_of_a_busy_key_in_kafka(written_down):
    lanes = [{"model": "kafka", "algorithm": "range"}]
    lab = Lab(
        scenario_from_json({"lanes": lanes, "workload": {"kind": "hot_key", "rate": 20}, "consumer_rate": 20})
    )
    lab.advance_to(29 * SECOND)
    for position, name in enumerate(("c1", "c2", "c3"), 1):
        lab.submit(
            {
                "command_id": name,
                "kind": "crash",
                "lane": "all",
                "consumer": name,
                "args": {},
                "position": position,
            }
        )
    lab.submit(
        {"command_id": "j", "kind": "join", "lane": "all", "consumer": None, "args": {}, "position": 4}
    )
    lab.advance_to(120 * SECOND)
    lane = lab.lanes["kafka"]
    assert lane.reads.redelivered() > 0
    assert lane.ledger.tally.order.count == out_of_order(lane, written_down) > 0


@pytest.mark.parametrize("consumer_rate", [2, 10])
def test_tubemq_breaks_the_order_only_by_what_it_reads_again(written_down, consumer_rate):
    """A read brings what waits, and what was handled of a batch is read again where it was not confirmed."""
    workload = {"kind": "uniform", "keys": 3, "rate": 4 * consumer_rate}
    lab = Lab(
        scenario_from_json(
            {"lanes": [{"model": "tubemq"}], "workload": workload, "consumer_rate": consumer_rate}
        )
    )
    for position, (second, kind) in enumerate([(20, "join"), (32, "leave"), (44, "join"), (57, "crash")], 1):
        lab.advance_to(second * SECOND)
        name = "c1" if kind != "join" else None
        lab.submit(
            {
                "command_id": f"o{position}",
                "kind": kind,
                "lane": "all",
                "consumer": name if kind == "leave" else name and "c2",
                "args": {},
                "position": position,
            }
        )
    lab.advance_to(110 * SECOND)
    lane = lab.lanes["tubemq"]
    assert lane.reads.redelivered() > 0
    assert lane.ledger.tally.order.count == out_of_order(lane, written_down) > 0


def test_two_programs_at_different_speeds_break_the_order_of_a_queue(written_down):
    lanes = [{"model": "rabbitmq", "algorithm": "prefetch_5"}]
    lab = Lab(
        scenario_from_json(
            {"lanes": lanes, "workload": {"kind": "uniform", "keys": 3, "rate": 20}, "consumers": 2}
        )
    )
    lab.submit(
        {
            "command_id": "s",
            "kind": "slow",
            "lane": "all",
            "consumer": "c1",
            "args": {"rate": 2},
            "position": 1,
        }
    )
    lab.advance_to(30 * SECOND)
    lane = lab.lanes["rabbitmq"]
    assert lane.ledger.tally.order.count == out_of_order(lane, written_down) > 10


def test_order_that_was_kept_goes_on_the_same():
    order = KeyOrder(2)
    order.finish([12, 7, 40], [3, -1, 5])
    again = KeyOrder.from_json(order.to_json())
    again.know_keys(lambda records: [{40: 5, 7: -1, 12: 3}[record] for record in records])
    assert (again.count, again.last) == (order.count, order.last) and again.to_json() == order.to_json()
    assert KeyOrder.from_json(KeyOrder().to_json()).last == KeyOrder().last


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 6)), max_size=60), st.integers(0, 60))
def test_a_record_is_out_of_order_after_a_later_one_of_its_key(finished, stretch):
    order, highest, count = KeyOrder(), {}, 0
    for part in (finished[:stretch], finished[stretch:]):
        order.finish([record for record, _ in part], [code for _, code in part])
    for record, code in finished:
        count += code >= 0 and record < highest.get(code, -1)
        highest[code] = max(record, highest.get(code, -1))
    assert order.count == count
    assert sum(order.to_json()["steps"]) == max(highest.values(), default=0) and len(
        order.to_json()["steps"]
    ) == len(highest)
