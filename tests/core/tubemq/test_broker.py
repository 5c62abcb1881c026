"""A broker on its own: registering, reading, confirming, and how long it believes that an owner is alive."""

from broker_core.clock import SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.message_log import HEADER_BYTES
from tests.core.playbook import Played, play, wake

KEY = "1:orders:0"
SIZE = 100


def broker(messages=(), batch=1) -> tuple[Broker, Played]:
    node, out = Broker(BrokerState(1, {KEY: Partition()}, batch * (HEADER_BYTES + SIZE))), Played("broker")
    play(node, out, 9, *[r.SendMessageRequestP2B(KEY, message, SIZE) for message in messages])
    return node, out


def connect(node, out, client, connection=1, offset=-1, now_us=0):
    ((_, answer),) = play(
        node,
        out,
        connection,
        r.RegisterRequestC2B(r.REGISTER, client, "g", KEY, offset * r.ENTRY_BYTES),
        now_us=now_us,
    )
    return answer.code, answer.curr_offset // r.ENTRY_BYTES


def read(node, out, client, now_us=0):
    ((_, answer),) = play(node, out, 1, r.GetMessageRequestC2B(client, "g", KEY), now_us=now_us)
    return answer.code, answer.messages


def confirm(node, out, client, consumed=True):
    ((_, answer),) = play(node, out, 1, r.CommitOffsetRequestC2B(client, "g", KEY, consumed))
    return answer.code, answer.curr_offset // r.ENTRY_BYTES


def test_batch_comes_again_until_it_is_confirmed():
    node, out = broker(messages=(70, 71, 72), batch=2)
    connect(node, out, "a")
    assert read(node, out, "a") == read(node, out, "a") == (200, [70, 71])
    assert confirm(node, out, "a", consumed=False) == (200, 0)
    assert read(node, out, "a") == (200, [70, 71])
    assert confirm(node, out, "a") == (200, 2)
    assert read(node, out, "a") == (200, [72])
    assert node.state.read_again == 4
    confirm(node, out, "a")
    assert read(node, out, "a") == (404, [])


def test_one_owner_per_partition_and_group():
    node, out = broker()
    assert connect(node, out, "a")[0] == 200
    assert connect(node, out, "b")[0] == 410
    assert read(node, out, "b")[0] == 412 and confirm(node, out, "b")[0] == 401
    ((_, answer),) = play(node, out, 1, r.RegisterRequestC2B(r.REGISTER, "b", "other group", KEY))
    assert answer.code == 200


def test_owner_whose_time_is_over_is_removed_by_the_first_request_which_is_still_refused():
    node, out = broker()
    connect(node, out, "a")
    assert [connect(node, out, "b", now_us=30 * SECOND_US)[0] for _ in range(2)] == [410, 200]
    assert out.told == [
        ("tubemq.broker.registration_timed_out", {"consumer": "a", "client": "a", "partition": KEY})
    ] and out.blamed == [1]


def test_reads_and_heartbeats_keep_an_owner_alive_and_confirmations_do_not():
    node, out = broker(messages=(5,))
    connect(node, out, "a", connection=4)
    read(node, out, "a", now_us=10 * SECOND_US)
    wake(node, out, f"registration:g:{KEY}")
    assert out.told == [] and out.deadlines[f"registration:g:{KEY}"] == 40 * SECOND_US
    play(node, out, 4, r.HeartBeatRequestC2B("a", "g", [KEY]), now_us=35 * SECOND_US)
    wake(node, out, f"registration:g:{KEY}")
    confirm(node, out, "a")
    assert out.deadlines[f"registration:g:{KEY}"] == 65 * SECOND_US
    wake(node, out, f"registration:g:{KEY}")
    assert out.blamed == [4] and out.told[-1] == (
        "tubemq.broker.registration_timed_out",
        {"consumer": "a", "client": "a", "partition": KEY},
    )
    assert read(node, out, "a")[0] == 411


def test_heartbeat_names_what_its_sender_does_not_hold():
    node, out = broker()
    connect(node, out, "a")
    ((_, answer),) = play(node, out, 1, r.HeartBeatRequestC2B("b", "g", [KEY, "1:orders:7"]))
    assert answer.failures == [(412, KEY), (411, "1:orders:7")]


def test_release_frees_the_partition_and_the_next_owner_reads_what_was_not_confirmed():
    node, out = broker(messages=(5, 6))
    connect(node, out, "a")
    read(node, out, "a")
    play(node, out, 1, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", KEY))
    assert connect(node, out, "b") == (200, 0)
    assert read(node, out, "b") == (200, [5])
    ((_, answer),) = play(node, out, 1, r.RegisterRequestC2B(r.UNREGISTER, "b", "g", KEY, -1, True))
    assert (answer.code, answer.curr_offset) == (200, r.ENTRY_BYTES)


def test_log_forgets_what_every_group_has_confirmed_and_a_restored_one_gives_the_same_batches():
    node, out = broker(messages=range(500, 700))
    connect(node, out, "a", offset=70)
    for number in range(570, 576):
        assert read(node, out, "a") == (200, [number])
        confirm(node, out, "a")
    log = node.state.partitions[KEY].log
    assert (log.start, log.messages[0]) == (
        71,
        571,
    )  # with the first confirmation 71 messages went, since then too few
    twin, again = Broker(from_plain(to_plain(node.state), BrokerState)), Played()
    assert read(twin, again, "a") == read(node, out, "a") == (200, [576])
    assert connect(node, out, "a", offset=3) == (200, 71)  # what is gone cannot be read again


def test_first_offset_replaces_the_stored_one_and_ends_at_the_end():
    node, out = broker(messages=range(4))
    assert connect(node, out, "a", offset=2) == (200, 2)
    assert connect(node, out, "a", offset=99) == (200, 4)
    assert connect(node, out, "a", offset=-5) == (200, 4)


def test_owner_of_a_partition_that_is_not_there_is_refused_and_kept_until_its_time_is_over():
    node, out = broker(messages=(70,))
    absent = "1:orders:7"

    def register(client):
        ((_, answer),) = play(node, out, 1, r.RegisterRequestC2B(r.REGISTER, client, "g", absent))
        return answer.code

    assert (register("a"), register("b")) == (403, 410)
    ((_, answer),) = play(node, out, 1, r.GetMessageRequestC2B("a", "g", absent))
    assert answer.code == 403
    (name,) = out.deadlines
    wake(node, out, name)
    assert node.state.absent == {} and list(node.state.partitions) == [KEY]


def test_read_status_says_where_a_group_without_a_stored_offset_begins():
    node, out = broker(messages=(70, 71, 72))

    def register(group, read_status, offset=-1):
        request = r.RegisterRequestC2B(r.REGISTER, "a", group, KEY, offset, read_status=read_status)
        ((_, answer),) = play(node, out, 1, request)
        return answer.curr_offset

    assert [register("first", 0), register("max", 1), register("always", 2)] == [0, 84, 84]
    # What is stored goes before the status, a given offset before what is stored, and the last status before all.
    assert [register("first", 1), register("max", 0, 57), register("first", 2, 0)] == [0, 56, 84]


def test_read_confirms_the_batch_before_it_when_it_says_so():
    node, out = broker(messages=(70, 71))
    connect(node, out, "a")
    assert read(node, out, "a") == (200, [70])
    ((_, answer),) = play(node, out, 1, r.GetMessageRequestC2B("a", "g", KEY, True))
    assert (answer.messages, answer.curr_offset, answer.max_offset) == ([71], 28, 56)


def test_unknown_partition_is_forbidden():
    node, out = broker()
    ((_, answer),) = play(node, out, 1, r.RegisterRequestC2B(r.REGISTER, "a", "g", "1:orders:7"))
    assert answer.code == 403
