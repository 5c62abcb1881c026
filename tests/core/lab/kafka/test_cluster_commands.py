"""A person's faults reach the cluster of a lane: as commands, with cards, through a checkpoint, a replay and
a change of rule."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import stored

SECOND = 1_000_000
LANE = {"model": "kafka", "brokers": 3, "min_insync_replicas": 2, "partitions": 3, "offsets_partitions": 3}


def lab_on_a_cluster(**lane):
    lab = Lab(
        scenario_from_json(
            {"lanes": [LANE | lane], "consumers": 2, "workload": {"kind": "uniform", "keys": 20, "rate": 20}}
        )
    )
    lab.advance_to(5 * SECOND)
    return lab


def order(lab, kind, seconds=0, **args):
    number = lab.position + 1
    lab.submit({"command_id": f"n{number}", "kind": f"cluster_{kind}", "args": args})
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def cluster(lab):
    return lab.view()["lanes"]["kafka"]["cluster"]


def test_the_view_has_the_lanes_partitions_and_none_of_kafkas_own():
    view = cluster(lab_on_a_cluster())
    assert [name.rpartition("-")[2] for name in view["partitions"]] == ["0", "1", "2"] and view["counts"][
        "healthy"
    ] == 3
    assert all(partition["high_watermark"] > 0 for partition in view["partitions"].values())
    assert view["producers"]["producer"]["counts"]["acked"] > 0


def test_a_lane_without_a_cluster_has_no_such_panel_and_refuses_its_commands():
    lab = Lab(scenario_from_json({"lanes": [{"model": "tubemq", "id": "kafka"}]}))
    assert "cluster" not in lab.view()["lanes"]["kafka"]
    with pytest.raises(CommandError):
        order(lab, "crash", broker=1)


def test_a_crash_and_what_came_of_it():
    lab = lab_on_a_cluster()
    order(lab, "crash", 20, broker=1)
    view = cluster(lab)
    assert view["brokers"]["1"]["condition"] == "crashed" and view["counts"]["under_replicated"] == 3
    card = view["faults"][-1]
    assert (card["verb"], card["target"], card["was"]["healthy"]) == ("crash", ["broker-1"], 3)
    assert {"unavailable", "elections"} <= {entry["code"] for entry in card["means"]}
    order(lab, "come_back", 30, broker=1)
    assert cluster(lab)["counts"]["healthy"] == 3
    assert lab.timeline[lab.position]["kind"] == "cluster_come_back"


@pytest.mark.parametrize(
    ("kind", "args", "field"),
    [
        ("crash", {"broker": 4}, "args.broker"),
        ("crash", {"broker": 0}, "args.broker"),
        ("resume", {"broker": 1}, "args.broker"),
        ("come_back", {"broker": 1}, "args.broker"),
        ("heal_link", {"one": "broker-1", "other": "broker-2"}, "args.one"),
        ("cut_link", {"one": "broker-1", "other": "broker-1"}, "args.other"),
        ("cut_link", {"one": "broker-1", "other": "nobody"}, "args.other"),
        ("slow_disk", {"broker": 1, "write_us": -1}, "args.write_us"),
        ("skew_clock", {"broker": 1}, "args.skew_ms"),
        ("skew_clock", {"broker": 1, "skew_ms": -86_400_001}, "args.skew_ms"),
        ("cut_link", {"one": "broker-1", "other": "broker-2", "one_way": 1}, "args.one_way"),
    ],
)
def test_a_wrong_order_is_a_message_at_its_field_and_changes_nothing(kind, args, field):
    lab = lab_on_a_cluster()
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        order(lab, kind, **args)
    assert refused.value.field == field and lab.checkpoint() == before


def test_cut_links_are_refused_by_what_a_page_knows_too():
    lab = lab_on_a_cluster()
    order(lab, "cut_link", one="broker-1", other="broker-2", one_way=True)
    facts = stored(lab)

    def check(kind, **args):
        command_from_json({"command_id": "x", "kind": kind, "args": args}).check(facts)

    check("cluster_cut_link", one="broker-2", other="broker-1", one_way=True)
    check("cluster_heal_link", one="broker-1", other="broker-2")
    with pytest.raises(CommandError):
        check("cluster_cut_link", one="broker-1", other="broker-2", one_way=True)
    with pytest.raises(CommandError):
        check("cluster_crash", broker=9)


@pytest.mark.parametrize(
    ("done", "kind", "reason"),
    [
        ("pause", "stop", "broker 1 is paused"),
        ("pause", "pause", "broker 1 is paused"),
        ("pause", "come_back", "broker 1 is paused"),
        ("crash", "resume", "broker 1 is down"),
        ("crash", "stop", "broker 1 is down"),
        ("cut_power", "crash", "broker 1 is down"),
        ("lose_disk", "lose_disk", "broker 1 has lost its disk already"),
        ("lose_disk", "pause", "broker 1 is down"),
        ("stop", "resume", "broker 1 is down"),
        (None, "resume", "broker 1 is running"),
        (None, "come_back", "broker 1 is running"),
    ],
)
def test_what_a_broker_is_not_ready_for_is_refused_with_its_condition_at_once_and_by_the_lab(
    done, kind, reason
):
    lab = lab_on_a_cluster()
    if done is not None:
        order(lab, done, 20, broker=1)
    facts = stored(lab)
    with pytest.raises(CommandError, match=reason):
        command_from_json({"command_id": "x", "kind": f"cluster_{kind}", "args": {"broker": 1}}).check(facts)
    with pytest.raises(CommandError, match=reason):
        order(lab, kind, broker=1)


def test_a_clock_may_be_ahead_and_behind():
    lab = lab_on_a_cluster()
    for skew_ms in (60_000, -60_000, 0):
        order(lab, "skew_clock", 2, broker=1, skew_ms=skew_ms)
        assert cluster(lab)["brokers"]["1"]["skew_ms"] == skew_ms
        assert cluster(lab)["counts"]["healthy"] == 3


def test_a_broker_that_shuts_down_may_be_down_by_now_so_only_the_lab_knows():
    lab = lab_on_a_cluster()
    order(lab, "stop", broker=1)
    assert cluster(lab)["brokers"]["1"]["stage"] == "shutting_down"
    command_from_json({"command_id": "x", "kind": "cluster_come_back", "args": {"broker": 1}}).check(
        stored(lab)
    )
    with pytest.raises(CommandError, match="broker 1 is shutting down"):
        order(lab, "stop", broker=1)


def test_a_cluster_under_faults_goes_on_the_same_after_a_checkpoint():
    lab = lab_on_a_cluster()
    order(lab, "crash", 2, broker=2)
    order(lab, "cut_link", 1, one="broker-1", other="broker-3", one_way=True)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        order(each, "come_back", 12, broker=2)
    assert lab.view() == other.view() and lab.checkpoint() == other.checkpoint()


def test_a_lane_with_another_rule_goes_through_its_faults_again():
    lab = lab_on_a_cluster()
    order(lab, "crash", 15, broker=3)
    lab.submit(
        {"command_id": "rule", "kind": "set_algorithm", "lane": "kafka", "args": {"algorithm": "roundrobin"}}
    )
    assert (
        cluster(lab)["brokers"]["3"]["condition"] == "crashed"
        and cluster(lab)["faults"][-1]["verb"] == "crash"
    )


def test_a_topic_is_made_its_partition_moved_and_its_leader_elected_again():
    lab = lab_on_a_cluster(brokers=4)
    order(lab, "create_topic", 3, topic="payments", partitions=2, replication_factor=3)
    made = cluster(lab)["partitions"]
    assert [name for name in made if name.startswith("payments")] == ["payments-0", "payments-1"]
    assert all(len(made[name]["isr"]) == 3 for name in ("payments-0", "payments-1"))
    before = made["payments-0"]["replicas"]
    target = [broker for broker in (1, 2, 3, 4) if broker not in before] + before[:2]
    order(lab, "reassign", 5, topic="payments", partition=0, replicas=target)
    moved = cluster(lab)["partitions"]["payments-0"]
    assert (moved["replicas"], moved["leader"], sorted(moved["isr"])) == (target, before[0], sorted(target))
    assert {"code": "moved", "count": 1} in cluster(lab)["faults"][-1]["means"]
    order(lab, "elect", 2, topic="payments", partition=0)
    assert cluster(lab)["partitions"]["payments-0"]["leader"] == target[0]
    assert [(card["verb"], card["target"]) for card in cluster(lab)["faults"]] == [
        ("create_topic", ["payments"]),
        ("reassign", ["payments-0", " ".join(map(str, target))]),
        ("elect", ["payments-0"]),
    ]


def test_an_unclean_election_is_an_operators_order_where_nobody_may_lead():
    lab = lab_on_a_cluster(partitions=1, min_insync_replicas=1, acks=1)
    leader = cluster(lab)["partitions"]["records-0"]["leader"]
    others = [broker for broker in (1, 2, 3) if broker != leader]
    for broker in others:
        order(lab, "crash", broker=broker)
    lab.advance_to(lab.now_us + 15 * SECOND)
    order(lab, "crash", 15, broker=leader)
    order(lab, "come_back", 10, broker=others[0])
    assert cluster(lab)["partitions"]["records-0"]["state"] == "offline"
    order(lab, "elect", 3, topic="records", partition=0, unclean=True)
    assert cluster(lab)["partitions"]["records-0"]["leader"] == others[0]
    assert {"lost", "unclean"} <= {entry["code"] for entry in cluster(lab)["faults"][-1]["means"]}


@pytest.mark.parametrize(
    ("kind", "args", "field", "error"),
    [
        ("create_topic", {"topic": "records"}, "args.topic", "TOPIC_ALREADY_EXISTS"),
        ("create_topic", {"topic": "a/b"}, "args.topic", "INVALID_TOPIC_EXCEPTION"),
        (
            "create_topic",
            {"topic": "t", "replication_factor": 4},
            "args.replication_factor",
            "INVALID_REPLICATION_FACTOR",
        ),
        ("create_topic", {"topic": "t", "partitions": 1000}, "args.partitions", "at most 1000"),
        ("create_topic", {"topic": "__t"}, "args.topic", "not begin with __"),
        (
            "reassign",
            {"topic": "records", "partition": 3, "replicas": [1]},
            "args.partition",
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
        (
            "reassign",
            {"topic": "records", "partition": 0, "replicas": [9]},
            "args.replicas",
            "INVALID_REPLICA_ASSIGNMENT",
        ),
        ("reassign", {"topic": "records", "partition": 0, "replicas": []}, "args.replicas", "list"),
        (
            "reassign",
            {"topic": "records", "partition": 0, "replicas": [1, 1]},
            "args.replicas",
            "INVALID_REPLICA_ASSIGNMENT",
        ),
        ("reassign", {"topic": "records", "partition": 0}, "args.replicas", "NO_REASSIGNMENT_IN_PROGRESS"),
        ("elect", {"topic": "records", "partition": 0}, "args.partition", "ELECTION_NOT_NEEDED"),
        ("elect", {"topic": "records"}, "args.partition", "neither"),
        ("cut_link", {"one": "producer", "other": "c1"}, "args.other", "client"),
        ("start_writer", {"writer": 1, "topic": "records"}, "args.topic", "another topic"),
        ("start_writer", {"writer": 9, "topic": "t"}, "args.writer", "1 to 8"),
        (
            "start_writer",
            {"writer": 1, "topic": "t", "transactional_id": ""},
            "args.transactional_id",
            "letters",
        ),
        ("pause_writer", {"writer": 1}, "args.writer", "no writer-1"),
    ],
)
def test_the_controllers_own_error_stands_at_the_field_and_nothing_changes(kind, args, field, error):
    lab = lab_on_a_cluster()
    before = lab.checkpoint()
    with pytest.raises(CommandError, match=error) as refused:
        order(lab, kind, **args)
    assert refused.value.field == field and lab.checkpoint() == before


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("cluster_create_topic", {"topic": "records"}),
        ("cluster_create_topic", {"topic": "t", "replication_factor": 4}),
        ("cluster_reassign", {"topic": "records", "partition": 0, "replicas": [4]}),
        ("cluster_reassign", {"topic": "records", "partition": 0, "replicas": [1, 1]}),
    ],
)
def test_a_page_foresees_the_controllers_error_word_for_word(kind, args):
    lab = lab_on_a_cluster()
    command = command_from_json({"command_id": "x", "kind": kind, "args": args})
    said = []
    for facts in (stored(lab), lab.facts()):
        with pytest.raises(CommandError) as refused:
            command.check(facts)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_a_producer_cut_off_from_a_leader_goes_on_when_the_link_is_whole_again():
    lab = lab_on_a_cluster(partitions=1)
    leader = f"broker-{cluster(lab)['partitions']['records-0']['leader']}"
    order(lab, "cut_link", 3, one="producer", other=leader)
    cut = cluster(lab)
    assert cut["links"][f"{leader}>producer"]["cut"] == [leader, "producer"]
    order(lab, "heal_link", 3, one=leader, other="producer")
    whole = cluster(lab)
    sent = whole["producers"]["producer"]["counts"]
    assert whole["links"][f"{leader}>producer"]["cut"] == [] and sent["sent"] - sent["acked"] <= 1
    assert cut["producers"]["producer"]["counts"]["acked"] + 60 <= sent["acked"]


def test_a_consumer_whose_fetches_are_slow_reads_later_and_its_link_is_in_the_picture():
    lab = lab_on_a_cluster()
    lab.advance_to(10 * SECOND)
    reader = lab.view()["lanes"]["kafka"]["picture"]["partitions"]["0"]["owner"]
    leader = f"broker-{cluster(lab)['partitions']['records-0']['leader']}"
    order(lab, "slow_link", 2, one=reader, other=leader, delay_us=800_000)
    key = ">".join(sorted((reader, leader)))
    assert cluster(lab)["links"][key]["slow"] == {reader: 800_000, leader: 800_000}
    assert cluster(lab)["clients"][reader] == {"kind": "consumer", "condition": "running", "verbs": []}
    order(lab, "slow_link", one=reader, other=leader)
    order(lab, "cut_link", 3, one=leader, other=reader, one_way=True)
    partition = lab.view()["lanes"]["kafka"]["picture"]["partitions"]["0"]
    assert cluster(lab)["links"][key]["cut"] == [leader] and partition["lag"] > 0


def producers(lab):
    return {name: one for name, one in cluster(lab)["producers"].items() if one["transaction"]}


def test_a_writer_that_comes_back_after_another_one_took_its_id_is_fenced():
    lab = lab_on_a_cluster()
    order(lab, "create_topic", 1, topic="payments", partitions=1)
    order(lab, "start_writer", 6, writer=1, topic="payments")
    order(lab, "pause_writer", 2, writer=1)
    open_since = cluster(lab)["partitions"]["payments-0"]["copies"]["1"]["stable"]
    assert producers(lab)["writer-1"]["transaction"]["phase"] == "in_transaction"
    assert open_since < cluster(lab)["partitions"]["payments-0"]["high_watermark"]
    order(lab, "start_writer", 6, writer=2, topic="payments")
    assert producers(lab)["writer-2"]["transaction"]["committed"] > 0
    assert producers(lab)["writer-2"]["epoch"] > producers(lab)["writer-1"]["epoch"]
    order(lab, "resume_writer", 0, writer=1)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        each.advance_to(each.now_us + 5 * SECOND)
    assert lab.view() == other.view()
    zombie = producers(lab)["writer-1"]["transaction"]
    assert (zombie["phase"], zombie["error"]) == ("fatal_error", "PRODUCER_FENCED")
    assert {"code": "fenced", "id": "payments"} in cluster(lab)["faults"][-1]["means"]
    with pytest.raises(CommandError, match="there is a writer-1 already"):
        order(lab, "start_writer", writer=1, topic="payments")


def test_a_writers_records_are_not_the_lanes():
    calm, busy = lab_on_a_cluster(), lab_on_a_cluster()
    order(busy, "create_topic", 1, topic="payments", partitions=9)
    order(busy, "start_writer", 10, writer=1, topic="payments")
    calm.advance_to(busy.now_us)
    one, other = (lab.view()["lanes"]["kafka"] for lab in (calm, busy))
    assert one["consumers"] == other["consumers"] and one["lag"] == other["lag"]
    assert len(other["picture"]["partitions"]) == 3


def test_no_consumer_takes_the_name_of_a_node():
    lab = lab_on_a_cluster()
    for name in ("broker-1", "writer-2", "controller", "tool"):
        with pytest.raises(CommandError, match="process of the lane itself"):
            lab.submit({"command_id": f"join-{name}", "kind": "join", "consumer": name})


def test_a_cluster_that_has_lost_its_only_disk_shows_no_log_and_neither_does_its_restored_copy():
    lab = lab_on_a_cluster(brokers=1, min_insync_replicas=1)
    order(lab, "lose_disk", 5, broker=1)
    assert {
        partition["end"] for partition in lab.view()["lanes"]["kafka"]["picture"]["partitions"].values()
    } == {0}
    assert Lab.restore(lab.scenario, lab.checkpoint()).view() == lab.view()


@pytest.mark.parametrize(("before", "after"), [(1, -1), (-1, 1), (0, 1), (1, 0), (-1, 0)])
def test_the_producer_goes_on_with_other_acks_and_loses_nothing(before, after):
    lab = lab_on_a_cluster(acks=before)
    order(lab, "set_acks", 0.2, acks=after)
    known = lab.lanes["kafka"].reads.producer()
    assert known.settings.acks == after and known.is_idempotent == (after == -1)
    lab.advance_to(lab.now_us + 3 * SECOND)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        each.advance_to(each.now_us + 3 * SECOND)
    assert again.view() == lab.view()
    view = cluster(lab)
    assert sum(partition["end"] for partition in view["partitions"].values()) >= 20 * 11 - 2
    assert view["producers"]["producer"]["counts"]["failed"] == 0 and view["faults"] == []
    assert list(lab.view()["timeline"].values())[-1]["acks"] == {-1: "all"}.get(after, str(after))


@pytest.mark.parametrize("acks", [None, 2, -2, "all", True])
def test_acks_are_0_1_or_all(acks):
    with pytest.raises(CommandError) as refused:
        order(lab_on_a_cluster(), "set_acks", acks=acks)
    assert refused.value.field == "args.acks"
