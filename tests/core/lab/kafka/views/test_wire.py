"""What is on its way in a cluster carries the numbers of the nodes that sent it: a fault's whole
conversation, message by message."""

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

MS = 1_000
LANE = {
    "model": "kafka",
    "brokers": 3,
    "min_insync_replicas": 1,
    "partitions": 1,
    "offsets_partitions": 1,
    "network_delay_us": 50 * MS,
}


def seen(lab: Lab, kind: str, seconds: float, **args: object) -> list[Json]:
    """Order this, and give all that was on the wire in so many seconds after it, each message once."""
    lab.submit({"command_id": f"n{lab.position}", "kind": f"cluster_{kind}", "args": args})
    found: dict[str, Json] = {}
    for _ in range(int(seconds * 50)):
        lab.advance_to(lab.now_us + 20 * MS)
        found |= lab.view()["lanes"]["kafka"]["cluster"]["wire"]
    return list(found.values())


def parts(messages: list[Json], kind: str) -> list[list[int]]:
    """Of the lane's own topic: what messages of this kind say of its partition."""
    return [
        part[1:]
        for message in messages
        if message["kind"] == kind
        for part in message["parts"]
        if part[0] == "records"
    ]


def test_a_leader_that_crashes_and_comes_back_asks_where_its_epoch_ends_and_joins_the_isr_again() -> None:
    lane = LANE | {"truncation": "epoch_request"}
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 1, "workload": {"kind": "uniform", "keys": 20, "rate": 20}}
        )
    )
    lab.advance_to(5_000_000)
    cluster = lab.view()["lanes"]["kafka"]["cluster"]
    old, epoch = (
        cluster["partitions"]["records-0"]["leader"],
        cluster["partitions"]["records-0"]["leader_epoch"],
    )
    seen(lab, "crash", 12, broker=old)
    partition = lab.view()["lanes"]["kafka"]["cluster"]["partitions"]["records-0"]
    begun = dict(partition["copies"][str(partition["leader"])]["epochs"])
    messages = seen(lab, "come_back", 8, broker=old)

    assert [0, epoch] in parts(messages, "epochs"), "the epoch that it led in"
    assert [0, epoch, begun[epoch + 1]] in parts(messages, "epoch_ends"), "it ends where the next one begins"

    assert [0, sorted(cluster["partitions"]["records-0"]["isr"])] in [
        [number, sorted(isr)] for number, isr in parts(messages, "alter_partition")
    ]
    assert [0, [1, 2, 3], 0] in [
        [number, sorted(isr), error] for number, isr, error in parts(messages, "altered")
    ]
    assert all(
        message["from"] == f"broker-{old}"
        for message in messages
        if message["kind"] == "epochs" and message["parts"][0][0] == "records"
    )
    for message in messages:
        assert message["due_us"] is not None and message["delay_us"] == 50 * MS
