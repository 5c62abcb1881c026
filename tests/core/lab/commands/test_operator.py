"""What an operator orders at the controller, and writers beside the lane's producer, against a page."""

from typing import Any

import pytest

from tests.core.lab.commands.pages import cluster, made, misread, page, refused

FACTS = page(
    kafka=cluster(
        "c1",
        topics={"records": 3, "payments": 2, "pay_ments": 1},
        writers={"writer-1": "running", "writer-2": "paused"},
    )
)


@pytest.mark.parametrize("name", ["a", "Payments_1.eu-west", "a" * 32, "..."])
def test_names_that_a_topic_may_have(name: str) -> None:
    assert misread("cluster_create_topic", topic=name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "a" * 250, "ä", "a\n", None, 5])
def test_names_that_kafka_refuses_are_refused_with_its_own_error(name: object) -> None:
    """Kafka 3.9 Topic.validate."""
    answer = misread("cluster_create_topic", topic=name)
    assert (
        answer is not None and answer[0] == "args.topic" and answer[1].startswith("INVALID_TOPIC_EXCEPTION: ")
    )


@pytest.mark.parametrize("name", ["a" * 33, "__a", "__"])
def test_names_that_kafka_takes_and_this_page_does_not(name: str) -> None:
    assert misread("cluster_create_topic", topic=name) == (
        "args.topic",
        "must be at most 32 characters, and not begin with __",
    )


def test_topic_by_default_has_one_partition_three_copies_and_no_unclean_election() -> None:
    assert made("cluster_create_topic", topic="t").args() == {
        "topic": "t",
        "partitions": 1,
        "replication_factor": 3,
        "min_insync_replicas": 1,
        "unclean_election": False,
    }


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"partitions": 0}, "args.partitions"),
        ({"partitions": 1001}, "args.partitions"),
        ({"replication_factor": 0}, "args.replication_factor"),
        ({"min_insync_replicas": 0}, "args.min_insync_replicas"),
        ({"unclean_election": 1}, "args.unclean_election"),
    ],
)
def test_settings_of_a_topic_that_are_out_of_range(args: dict[str, Any], field: str) -> None:
    answer = misread("cluster_create_topic", topic="t", **args)
    assert answer is not None and answer[0] == field


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        (
            {"topic": "payments", "partitions": 996},
            ("args.partitions", "at most 1000 partitions in a lane; it has 6"),
        ),
        ({"topic": "payments"}, ("args.topic", "TOPIC_ALREADY_EXISTS: there is a topic payments already")),
        (
            {"topic": "pay.ments"},
            ("args.topic", "INVALID_TOPIC_EXCEPTION: topic pay.ments collides with existing topic pay_ments"),
        ),
        ({"topic": "new", "partitions": 994}, None),
        (
            {"topic": "new", "replication_factor": 4},
            ("args.replication_factor", "INVALID_REPLICATION_FACTOR: "),
        ),
    ],
)
def test_first_thing_that_is_wrong_with_a_new_topic(
    args: dict[str, Any], answer: tuple[str, str] | None
) -> None:
    told = refused(FACTS, "cluster_create_topic", **args)
    assert (told is None) == (answer is None)
    assert told is None or answer is None or (told[0] == answer[0] and told[1].startswith(answer[1]))


@pytest.mark.parametrize("replicas", [[], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "1", 1, [0], [None]])
def test_replicas_are_numbers_of_brokers_and_not_none_of_them(replicas: object) -> None:
    answer = misread("cluster_reassign", topic="records", partition=0, replicas=replicas)
    assert answer is not None and answer[0] == "args.replicas"


@pytest.mark.parametrize("replicas", [[1, 1], [4], [1, 4]])
def test_move_to_a_broker_that_is_not_there_or_is_named_twice_is_foreseen_in_kafkas_words(
    replicas: list[int],
) -> None:
    answer = refused(FACTS, "cluster_reassign", topic="records", partition=0, replicas=replicas)
    assert (
        answer is not None
        and answer[0] == "args.replicas"
        and answer[1].startswith("INVALID_REPLICA_ASSIGNMENT: ")
    )


def test_page_leaves_to_the_lab_what_may_have_changed_since() -> None:
    """A partition of a topic that was made a moment ago, a move that may be over, an election that may be
    needed."""
    assert refused(FACTS, "cluster_reassign", topic="unknown", partition=9, replicas=[3, 1]) is None
    assert refused(FACTS, "cluster_reassign", topic="records", partition=0) is None
    assert refused(FACTS, "cluster_elect", topic="records", partition=0) is None


@pytest.mark.parametrize(("topic", "partition"), [("records", None), (None, 0)])
def test_election_is_of_one_partition_or_of_all_that_need_it(
    topic: str | None, partition: int | None
) -> None:
    assert misread("cluster_elect", topic=topic, partition=partition) == (
        "args.partition",
        "name a topic and a partition, or neither",
    )
    assert made("cluster_elect").args() == {"topic": None, "partition": None, "unclean": False}


@pytest.mark.parametrize(
    ("kind", "args", "card"),
    [
        ("cluster_create_topic", {"topic": "t"}, ("create_topic", ["t"])),
        (
            "cluster_reassign",
            {"topic": "t", "partition": 2, "replicas": [3, 1]},
            ("reassign", ["t-2", "3 1"]),
        ),
        ("cluster_reassign", {"topic": "t", "partition": 2}, ("take_back", ["t-2"])),
        ("cluster_elect", {}, ("elect_all", [])),
        ("cluster_elect", {"unclean": True}, ("elect_unclean_all", [])),
        ("cluster_elect", {"topic": "t", "partition": 0}, ("elect", ["t-0"])),
        ("cluster_elect", {"topic": "t", "partition": 0, "unclean": True}, ("elect_unclean", ["t-0"])),
        ("cluster_start_writer", {"writer": 3, "topic": "t"}, ("start_writer", ["writer-3", "t"])),
        (
            "cluster_start_writer",
            {"writer": 3, "topic": "t", "transactional_id": "id"},
            ("start_writer", ["writer-3", "id"]),
        ),
        ("cluster_crash", {"broker": 2}, ("crash", ["broker-2"])),
        ("cluster_slow_link", {"one": "broker-1", "other": "c1"}, ("quick_link", ["broker-1", "c1"])),
        (
            "cluster_cut_link",
            {"one": "broker-1", "other": "c1", "one_way": True},
            ("cut_link_one_way", ["broker-1", "c1"]),
        ),
    ],
)
def test_card_says_what_was_done_and_to_whom(
    kind: str, args: dict[str, Any], card: tuple[str, list[str]]
) -> None:
    command: Any = made(kind, **args)
    assert command.card() == card


def test_writer_has_a_number_of_its_own_and_a_topic_of_its_own() -> None:
    assert refused(FACTS, "cluster_start_writer", writer=1, topic="payments") == (
        "args.writer",
        "there is a writer-1 already",
    )
    answer = refused(FACTS, "cluster_start_writer", writer=3, topic="records")
    assert answer == ("args.topic", "records has the lane's own records: create another topic for a writer")
    assert refused(FACTS, "cluster_start_writer", writer=3, topic="payments") is None
    assert refused(FACTS, "cluster_start_writer", writer=1, topic="records") == (
        "args.writer",
        "there is a writer-1 already",
    )


@pytest.mark.parametrize(
    ("transactional_id", "is_one"),
    [("a", True), ("a" * 32, True), ("a" * 33, False), ("", False), ("-a", False), (None, False)],
)
def test_transactional_id_is_a_name(transactional_id: object, is_one: bool) -> None:
    answer = misread("cluster_start_writer", writer=1, topic="t", transactional_id=transactional_id)
    assert (answer is None) == is_one and (answer is None or answer[0] == "args.transactional_id")


def test_writers_topic_is_their_transactional_id_if_they_have_no_other() -> None:
    assert made("cluster_start_writer", writer=1, topic="t").args()["transactional_id"] == "t"


@pytest.mark.parametrize(
    ("kind", "writer", "answer"),
    [
        ("pause_writer", 1, None),
        ("pause_writer", 2, ("args.writer", "writer-2 is paused already")),
        ("resume_writer", 2, None),
        ("resume_writer", 1, ("args.writer", "writer-1 is not paused")),
        ("pause_writer", 3, ("args.writer", "there is no writer-3")),
        ("resume_writer", 3, ("args.writer", "there is no writer-3")),
    ],
)
def test_writer_that_runs_can_be_paused_and_one_that_is_paused_goes_on(
    kind: str, writer: int, answer: tuple[str, str] | None
) -> None:
    assert refused(FACTS, f"cluster_{kind}", writer=writer) == answer


@pytest.mark.parametrize("kind", ["cluster_start_writer", "cluster_pause_writer", "cluster_resume_writer"])
def test_there_are_at_most_eight_writers(kind: str) -> None:
    args = {"topic": "t"} if kind == "cluster_start_writer" else {}
    assert misread(kind, writer=8, **args) is None
    for number in (0, 9):
        assert misread(kind, writer=number, **args) == ("args.writer", "must be a whole number from 1 to 8")


@pytest.mark.parametrize(
    ("kind", "args", "verb", "amount_us"),
    [
        (
            "cluster_slow_link",
            {"one": "broker-2", "other": "broker-3", "delay_us": 200_000},
            "slow_link",
            200_000,
        ),
        ("cluster_slow_link", {"one": "broker-2", "other": "broker-3"}, "quick_link", None),
        ("cluster_slow_disk", {"broker": 1, "write_us": 7_000}, "slow_disk", 7_000),
        ("cluster_slow_disk", {"broker": 1, "write_us": 0}, "quick_disk", None),
        ("cluster_skew_clock", {"broker": 1, "skew_ms": 60_000}, "skew_clock", 60_000_000),
        ("cluster_skew_clock", {"broker": 1, "skew_ms": -60_000}, "skew_clock_behind", 60_000_000),
        ("cluster_skew_clock", {"broker": 1, "skew_ms": 0}, "set_clock", None),
        ("cluster_crash", {"broker": 2}, "crash", None),
    ],
)
def test_card_says_by_how_much(kind: str, args: dict[str, Any], verb: str, amount_us: int | None) -> None:
    command: Any = made(kind, **args)
    assert (command.card()[0], command.amount_us()) == (verb, amount_us)
