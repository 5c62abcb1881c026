"""RabbitMQ with an owner per key: what moves as queues come and go, and what waits for a consumer that has crashed."""

from broker_core.hashing.phash2 import phash2
from broker_core.lab.workload.weighted_keys import KeysWorkload
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.strategies import strategy_parse
from broker_core.pipeline.timed import Timetable, timed_run
from broker_core.pipeline.units import unit_map

SECOND_US, RATE = 1_000_000, 20
STRATEGY = strategy_parse("rabbitmq.consistent_hash")


def steps_of(*changes):
    return history_steps(history_check({"kind": "given", "start": 3, "changes": list(changes)}))


def test_a_newcomer_takes_its_share_and_who_bound_last_moves_its_own_keys_alone():
    steps = steps_of({"kind": "join"}, {"kind": "leave", "consumer": "c4"}, {"kind": "join"})
    start, more, back, again = STRATEGY.routes(steps)
    assert sorted(start.owners) == [0, 1, 2] and len(more.owners) == 4
    assert back.owners.tolist() == start.owners.tolist()
    assert abs(more.space_moved - 250_000) < 2_000 and back.space_moved == more.space_moved
    assert again.space_moved == more.space_moved and again.names[-1] == "c5"


def test_the_first_to_have_bound_takes_nearly_all_keys_along():
    steps = steps_of({"kind": "join"})
    first = STRATEGY.routes(steps)[0]
    name = first.names[first.owners[0]]
    gone = STRATEGY.routes(steps_of({"kind": "join"}, {"kind": "leave", "consumer": name}))[-1]
    assert gone.space_moved > 850_000


def test_units_hold_the_owner_of_every_key_in_every_step():
    tables = STRATEGY.routes(
        steps_of({"kind": "join"}, {"kind": "leave", "consumer": "c2"}, {"kind": "join"})
    )
    units, owners = unit_map("phash2", tables)
    assert units.count < 200, "all slots with one history are one unit"
    for number in range(500):
        hashed = phash2(f"key-{number}".encode())
        unit = units.slots[units.rule(hashed)]
        for step, table in enumerate(tables):
            assert table.names[owners[step, unit]] == table.owner_of(hashed)


def test_keys_of_a_crashed_consumer_wait_until_its_server_has_noticed():
    steps = steps_of({"kind": "crash", "consumer": "c1"})
    keys = tuple((f"key-{number}".encode(), 1) for number in range(60))
    workload = KeysWorkload(rate=RATE, seed=7, name="keys", weighted=keys, keyless=0)
    table = Timetable((0, 30 * SECOND_US, 260 * SECOND_US), RATE, SECOND_US // RATE, RATE)
    calm, crash = timed_run(STRATEGY.lane_spec(), steps, table, workload, 7)
    assert calm.waited == 0
    assert crash.waits[0] == crash.waited, "they are never done: the queue goes with its consumer"
    assert 120 * RATE / 4 < crash.waited < 180 * RATE / 2
