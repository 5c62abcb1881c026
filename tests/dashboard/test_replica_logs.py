"""A replica's log over HTTP: told by the lab's shard, written by the worker's loop, asked for by broker,
topic and partition."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.kafka.log.dump import dump_path
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.lab.kafka.group import GROUP_ID
from dashboard.labs import selectors
from dashboard.logs import labs, places
from dashboard.logs.writer import LogWriter
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("run_dir")]
LANE = {"model": "kafka", "partitions": 4, "brokers": 4, "offsets_partitions": 5}


@pytest.fixture
def lab(world: World) -> Lab:
    lab = world.open(lanes=[LANE], workload={"rate": 40})
    world.run(9)
    return lab


def ask(lab: Lab, question: str = "", **query: Any) -> Any:
    return Client().get(f"/api/labs/{lab.pk}/kafka/log/{question}", query)


def folder_of(lab: Lab, **query: Any) -> Path:
    wanted = {name: str(value) for name, value in query.items()}
    return labs.place(lab.pk, wanted).folder


def look(world: World, lab: Lab, loop: LogWriter | None = None, **query: Any) -> Any:
    """Ask, let the shard tell and the loop write, and ask again. The shard's turn to tell comes within 2 s of
    its clock."""
    ask(lab, **query)
    world.run(2.5)
    (loop or LogWriter()).turn()
    return ask(lab, **query)


def replicas_of(world: World, lab: Lab) -> dict[int, list[int]]:
    """Partition -> the brokers that have it."""
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    assert snapshot is not None
    cluster = snapshot["view"]["lanes"]["kafka"]["cluster"]
    return {int(name.split("-")[1]): each["replicas"] for name, each in cluster["partitions"].items()}


def test_each_replica_shows_its_own_log_and_the_checkpoints_as_files(world: World, lab: Lab) -> None:
    assert ask(lab).json()["brokers"][0] == {"id": 1, "condition": "running"}
    for broker in replicas_of(world, lab)[2]:
        folder = look(world, lab, broker=broker, partition=2).json()
        assert (folder["broker"], folder["folder"], folder["settings_shown"]) == (
            broker,
            "flights-2",
            ["index_interval_bytes", "segment_ms", "segment_bytes", "retention_bytes", "retention_ms"],
        )
        assert folder["start_offset"] <= folder["high_watermark"] <= folder["end_offset"] > 0
        assert folder["replica"]["condition"] == "running" and folder["replica"]["role"] in (
            "leads",
            "follows",
        )
        assert folder["topics"] == ["flights", "__consumer_offsets"] and folder["segments"][-1]["active"]
        disk = folder_of(lab, broker=broker, partition=2)
        state = places.state_of(disk)
        assert not [
            row
            for row in dump_path(disk / str(state["generation"]) / "flights-2", deep=True)
            if row.kind == "problem"
        ]
        names = [row["name"] for row in folder["other_files"]], [row["name"] for row in folder["top_files"]]
        assert names[0] == ["leader-epoch-checkpoint"] and "replication-offset-checkpoint" in names[1]
        epochs = ask(lab, "file/", broker=broker, partition=2, name="leader-epoch-checkpoint").json()
        assert epochs["text"].startswith("0\n1\n0 ") and epochs["name"] == "leader-epoch-checkpoint"
        marks = (
            ask(lab, "file/", broker=broker, partition=2, name="../replication-offset-checkpoint")
            .json()["text"]
            .splitlines()
        )
        assert (
            marks[0] == "0"
            and int(marks[1]) == len(marks) - 2
            and any(row.startswith("flights 2 ") for row in marks[2:])
        )


def test_an_empty_broker_s_partition_a_crashed_broker_and_one_that_lost_its_disk(
    world: World, lab: Lab
) -> None:
    placed = replicas_of(world, lab)
    number, broker = next(
        (number, broker) for number in placed for broker in (1, 2, 3, 4) if broker not in placed[number]
    )
    answer = look(world, lab, broker=broker, partition=number)
    assert (answer.status_code, answer.json()["fields"]) == (
        404,
        {"partition": [f"broker {broker} has no replica of flights-{number}"]},
    )
    held = next(number for number in placed if 2 in placed[number])
    loop = LogWriter()
    before = look(world, lab, loop, broker=2, partition=held).json()
    world.order(lab, "cluster_crash", args={"broker": 2}, lane="kafka")
    world.run(8)
    crashed = look(world, lab, loop, broker=2, partition=held).json()
    assert (crashed["replica"]["condition"], crashed["replica"]["role"]) == ("crashed", "not_running")
    other = next(broker for broker in placed[held] if broker != 2)
    alive = look(world, lab, broker=other, partition=held).json()
    assert before["end_offset"] <= crashed["end_offset"] < alive["end_offset"]
    assert Client().get(f"/lab/{lab.pk}/kafka/log?broker=2&partition={held}").status_code == 200
    world.order(lab, "cluster_lose_disk", args={"broker": 2}, lane="kafka")
    lost = look(world, lab, loop, broker=2, partition=held).json()
    assert lost["replica"]["condition"] == "disk_lost" and lost["segments"] == [] and lost["end_offset"] == 0


def test_the_offsets_partition_of_the_group_is_found_and_its_records_have_named_fields(
    world: World, lab: Lab
) -> None:
    world.run(4)
    topic = "__consumer_offsets"
    chosen = coordinator_partition(GROUP_ID, 5)
    found = next(
        answer
        for broker in (1, 2, 3, 4)
        if (answer := look(world, lab, broker=broker, topic=topic)).status_code == 200
    )
    folder = found.json()
    assert (
        folder["partition"] == chosen
        and folder["cleanup_policy"] == "compact"
        and folder["committed"] is None
    )
    last = folder["end_offset"] - 1
    batch = ask(lab, "lookup/", broker=folder["broker"], topic=topic, offset=last).json()["batch"]
    key, value = batch["records"][-1]["key"]["text"], batch["records"][-1]["value"]["text"]
    assert (
        key.startswith("OffsetCommit group=lab topic=flights partition=")
        and "commit_timestamp=13569984" in value
    )


def test_what_a_round_would_do_to_the_offsets_partition_names_its_keys(world: World, lab: Lab) -> None:
    broker = next(
        broker
        for broker in (1, 2, 3, 4)
        if look(world, lab, broker=broker, topic="__consumer_offsets").status_code == 200
    )
    ask(lab, "clean/", broker=broker, topic="__consumer_offsets")
    world.run(2.5)
    LogWriter().turn()
    clean = ask(lab, "clean/", broker=broker, topic="__consumer_offsets").json()
    assert clean["log"] == {"topic": "__consumer_offsets", "partition": coordinator_partition(GROUP_ID, 5)}, (
        clean
    )
    assert {record["key"] for record in clean["before"]} & {"GroupMetadata group=lab"}
    assert (
        ask(lab, "clean/", broker=broker, partition=replicas_of_broker(world, lab, broker)).json()["log"]
        is None
    )


def replicas_of_broker(world: World, lab: Lab, broker: int) -> int:
    return next(number for number, brokers in replicas_of(world, lab).items() if broker in brokers)


@pytest.mark.parametrize("query", ["", "broker=9", "broker=1&partition=77", "broker=x", "topic=nope"])
def test_without_a_broker_or_with_one_that_cannot_be_the_page_shows_the_leader_s(
    world: World, lab: Lab, query: str
) -> None:
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    assert snapshot is not None
    leader = snapshot["view"]["lanes"]["kafka"]["cluster"]["partitions"]["flights-0"]["leader"]
    answer = Client().get(f"/lab/{lab.pk}/kafka/log?{query}")
    assert answer.status_code == 200
    assert f'<option value="{leader}" selected>broker {leader}' in answer.content.decode()


def test_the_leader_s_is_shown_of_each_partition_and_the_next_leader_s_when_it_has_gone(
    world: World, lab: Lab
) -> None:
    placed = replicas_of(world, lab)
    for number in placed:
        assert look(world, lab, partition=number).json()["replica"]["role"] == "leads"
    leader = ask(lab, partition=1).json()["broker"]
    world.order(lab, "cluster_crash", args={"broker": leader}, lane="kafka")
    world.run(25)
    other = look(world, lab, partition=1).json()
    assert other["broker"] != leader and other["replica"]["role"] == "leads"


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ({"broker": "7"}, 404, "broker"),
        ({"broker": "0"}, 400, "broker"),
        ({"broker": "two"}, 400, "broker"),
        ({"broker": "1", "topic": "flights-latest"}, 400, "topic"),
        ({"broker": "1", "topic": "../../etc"}, 400, "topic"),
        ({"broker": "1", "partition": "4"}, 400, "partition"),
        ({"broker": "1", "partition": "-1"}, 400, "partition"),
        ({"broker": "1", "topic": "__consumer_offsets", "partition": "5"}, 400, "partition"),
        ({"broker": "1", "index_interval_bytes": "-1"}, 400, "index_interval_bytes"),
        ({"topic": "flights-latest"}, 400, "topic"),
    ],
)
def test_a_replica_that_cannot_be_is_refused_at_its_field(
    world: World, lab: Lab, query: dict[str, str], status: int, field: str
) -> None:
    answer = ask(lab, **query)
    assert (answer.status_code, list(answer.json()["fields"])) == (status, [field]), answer.content


@pytest.mark.parametrize(
    "name",
    ["00000000000000000000.log", "../../../request.json", "../replica.json", "/etc/passwd", "", "none"],
)
def test_only_checkpoints_are_opened_as_text(world: World, lab: Lab, name: str) -> None:
    look(world, lab, broker=1, partition=0)
    answer = ask(lab, "file/", broker=1, partition=0, name=name)
    assert (answer.status_code, list(answer.json()["fields"])) in ((404, ["name"]), (400, ["name"])), (
        answer.content
    )


def test_a_killed_writer_begins_a_new_generation_and_old_ones_go(world: World, lab: Lab) -> None:
    first = replicas_of(world, lab)[1][0]
    for _ in range(4):
        folder = look(world, lab, broker=first, partition=1).json()  # a loop of its own each time
        assert folder["segments"] and folder["end_offset"] > 0
    disk = folder_of(lab, broker=first, partition=1)
    assert sorted(entry.name for entry in disk.iterdir() if entry.is_dir() and entry.name.isdigit()) == [
        "3",
        "4",
    ]


def test_a_replica_s_retention_is_its_topic_s_own_and_is_never_a_bound_that_nobody_set(world: World) -> None:
    bounds = {"retention_ms": 20_000, "retention_bytes": 1_000, "segment_ms": 5_000}
    lab = world.open(lanes=[{**LANE, "brokers": 1, **bounds}], workload={"rate": 40})
    world.run(30)
    folder = look(world, lab, broker=1, partition=2).json()
    assert (folder["retention"]["bytes"], folder["retention"]["ms"]) == (1_000, 20_000)
    assert folder["cleanup_policy"] == "delete" and folder["settings_fixed"] == [
        "segment_ms",
        "segment_bytes",
        "retention_bytes",
        "retention_ms",
    ]
    assert {name: folder["settings"][name] for name in bounds} == bounds
    assert set(folder["settings_shown"]) - set(folder["settings_fixed"]) == {"index_interval_bytes"}
    live = [segment for segment in folder["segments"] if segment["state"] != "deleted"]
    assert len(live) > 1 and folder["retention"]["reaches_position"] == folder["bytes"] - 1_000


def test_what_retention_took_is_told_by_its_rule(world: World) -> None:
    for rule in ({"retention_ms": 12_000}, {"retention_bytes": 20_000}):
        bounds = {**rule, "segment_ms": 3_000, "retention_check_interval_ms": 5_000}
        lab = world.open(lanes=[{**LANE, "brokers": 1, "partitions": 1, **bounds}], workload={"rate": 40})
        world.run(34)  # brokers begin to look after 30 s
        loop = LogWriter()
        for _ in range(5):
            folder = look(world, lab, loop, broker=1, partition=0).json()
        reasons = {event["reason"] for event in folder["turning"] if event["kind"] == "deleted"}
        assert reasons == {next(iter(rule))}, folder["turning"]


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_a_compacted_topic_of_records_is_shown_as_one(world: World, policy: str) -> None:
    lab = world.open(
        lanes=[{**LANE, "brokers": 1, "cleanup_policy": policy, "retention_ms": 60_000}],
        workload={"rate": 40},
    )
    world.run(8)
    folder = look(world, lab, broker=1, partition=2).json()
    assert folder["cleanup_policy"] == policy
    assert folder["settings"]["delete_retention_ms"] == 60_000
    assert folder["retention"]["ms"] == (60_000 if "delete" in policy else None)
    found = ask(lab, "clean/", broker=1, partition=2).json()
    assert found.get("reason") in (None, "preparing"), found
