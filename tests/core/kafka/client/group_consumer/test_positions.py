"""Where a consumer begins, and whether a position still means the same: what it asks of whom, and what each
answer leads to."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.consumer_metadata import Leader
from broker_core.kafka.client.group_consumer.core import FAILED
from broker_core.kafka.client.group_consumer.positions import Positions
from broker_core.kafka.client.group_consumer.subscription import (
    AWAIT_RESET,
    AWAIT_VALIDATION,
    FETCHING,
    INITIALIZING,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from tests.core.kafka.client.group_consumer.parts import SECOND, Parts

BACK_OFF = 100_000


class Looking(Parts):
    """It owns these partitions, and knows no position."""

    def __init__(self, *numbers: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.positions = Positions(self.core)
        self.own(*(numbers or (0,)))

    def update(self, now_us: int = 0) -> list[tuple[int, Any]]:
        self.positions.update(now_us, self.out)
        return self.sent()

    def committed(self, *rows: tuple[int, int, int, int], now_us: int = 0) -> None:
        """Of each partition: number, committed offset, its leader epoch, error code."""
        parts = [
            m.FetchedPartition(number, offset, committed_leader_epoch=epoch, error_code=code)
            for number, offset, epoch, code in rows
        ]
        answer = m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [m.FetchedTopicResult("t", parts)])])
        self.positions.answered_offsets(answer, now_us, self.out)

    def asked(self) -> None:
        self.update()
        assert all(known.is_asked for known in self.state.subscribed.assigned.values())

    def resetting(self) -> None:
        """No offset was committed, and the leaders have been asked."""
        self.asked()
        self.committed(*((number, -1, -1, 0) for _, number in self.state.owned))
        self.update()

    def listed(self, *rows: tuple[int, int, int, int], now_us: int = 0) -> None:
        """Of each partition: number, offset, leader epoch, error code."""
        answer = r.ListOffsetsResponse(
            [r.ListedOffset("t", number, code, offset, -1, epoch) for number, offset, epoch, code in rows]
        )
        self.positions.answered_reset(answer, now_us, self.out)

    def reading(
        self, position: int = 40, offset_epoch: int = 0, leader_epoch: int = 0, number: int = 0
    ) -> None:
        known = self.known(number)
        known.seek(position, offset_epoch)
        known.leader_epoch = leader_epoch

    def led_by(self, leader: int, epoch: int, number: int = 0) -> None:
        self.state.cluster.leaders["t"][number] = Leader(leader, epoch)
        self.positions.metadata_changed()

    def ends(self, epoch: int, end: int, code: int = 0, now_us: int = 0) -> None:
        self.positions.answered_validation(
            r.OffsetsForLeaderEpochResponse([r.EpochEnd("t", 0, code, epoch, end)]), now_us, self.out
        )


# --- committed offsets


def test_the_coordinator_is_asked_once_for_all_partitions_and_only_for_offsets_that_will_stay() -> None:
    looking = Looking(0, 2)
    ((broker, request),) = looking.update()
    assert broker == -1 and request == m.OffsetFetchRequest(
        [m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0, 2])])], require_stable=True
    )
    assert looking.update() == [], "an answer is under way"


def test_a_member_of_the_consumer_protocol_says_who_it_is_and_of_which_epoch() -> None:
    looking = Looking(group_protocol="consumer")
    looking.state.member.member_id, looking.state.member.generation = "m1", 7
    ((_, request),) = looking.update()
    assert (request.groups[0].member_id, request.groups[0].member_epoch) == ("m1", 7)


def test_without_a_coordinator_it_is_looked_for_and_nothing_counts_as_asked() -> None:
    looking = Looking()
    looking.state.coordinator.node_id = -1
    assert [type(request) for _, request in looking.update()] == [
        FindCoordinatorRequest
    ] and not looking.known().is_asked


def test_a_committed_offset_is_the_position_and_one_that_is_not_there_means_a_reset() -> None:
    looking = Looking(0, 1)
    looking.asked()
    looking.committed((0, 7, 3, 0), (1, -1, -1, 0))
    first, second = looking.known(0), looking.known(1)
    assert (first.state, first.position, first.offset_epoch, first.committed) == (FETCHING, 7, 3, 7)
    assert (second.state, second.position, second.reset, second.committed) == (
        AWAIT_RESET,
        -1,
        "earliest",
        -1,
    )


def test_an_offset_of_zero_is_a_committed_offset() -> None:
    looking = Looking()
    looking.asked()
    looking.committed((0, 0, -1, 0))
    assert (looking.known().state, looking.known().position) == (FETCHING, 0)


def test_an_answer_about_what_was_given_up_or_sought_elsewhere_meanwhile_changes_nothing() -> None:
    looking = Looking(0, 1)
    looking.asked()
    looking.state.subscribed.give_up([("t", 0)])
    looking.known(1).seek(90)
    looking.committed((0, 7, -1, 0), (1, 7, -1, 0), (2, 7, -1, 0))
    assert looking.state.owned == [("t", 1)] and looking.known(1).position == 90


def test_one_partition_in_an_open_transaction_waits_alone() -> None:
    looking = Looking(0, 1)
    looking.asked()
    looking.committed((0, -1, -1, codes.UNSTABLE_OFFSET_COMMIT), (1, 5, -1, 0), now_us=SECOND)
    known = looking.known(0)
    assert (known.state, known.is_asked, known.retry_us) == (
        INITIALIZING,
        False,
        SECOND + BACK_OFF,
    ) and looking.known(1).position == 5
    assert looking.update(SECOND + BACK_OFF - 1) == [] and looking.out.deadlines["retry"] == SECOND + BACK_OFF
    ((_, request),) = looking.update(SECOND + BACK_OFF)
    assert request.groups[0].topics == [m.FetchedTopic("t", [0])]


@pytest.mark.parametrize("is_whole", [False, True], ids=["a group's error", "a call that failed"])
@pytest.mark.parametrize(
    "code",
    [
        codes.NOT_COORDINATOR,
        codes.COORDINATOR_NOT_AVAILABLE,
        14,
        codes.UNKNOWN_MEMBER_ID,
        codes.STALE_MEMBER_EPOCH,
    ],
)
def test_a_refusal_of_the_whole_question_means_to_ask_again_after_the_back_off(
    code: int, is_whole: bool
) -> None:
    looking = Looking(0, 1)
    looking.asked()
    refusal: Any = (
        m.FailedCall(code) if is_whole else m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [], code)])
    )
    looking.positions.answered_offsets(refusal, SECOND, looking.out)
    is_gone = code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE)
    assert (looking.state.coordinator.node_id == -1) is is_gone and (
        looking.failed == [(-1, ["offsets"])]
    ) is is_gone
    assert [(known.is_asked, known.retry_us) for known in looking.state.subscribed.assigned.values()] == [
        (False, SECOND + BACK_OFF)
    ] * 2


# --- resets


@pytest.mark.parametrize(("where", "timestamp"), [("earliest", -2), ("latest", -1)])
def test_each_leader_is_asked_for_the_end_that_the_settings_name_under_its_epoch(
    where: str, timestamp: int
) -> None:
    looking = Looking(0, 1, 2, auto_offset_reset=where, isolation_level=1)
    looking.state.cluster.leaders["t"] = [Leader(1, 5), Leader(3, 6), Leader(1, 7)]
    looking.asked()
    looking.committed(*((number, -1, -1, 0) for number in range(3)))
    asked = dict(looking.update())
    assert [(part.partition, part.timestamp, part.current_leader_epoch) for part in asked[1].partitions] == [
        (0, timestamp, 5),
        (2, timestamp, 7),
    ]
    assert [(part.partition, part.timestamp, part.current_leader_epoch) for part in asked[3].partitions] == [
        (1, timestamp, 6)
    ]
    assert asked[1].isolation_level == 1, "read_committed's latest is the last stable offset"


def test_what_a_leader_lists_is_the_position_and_its_epoch_the_checked_one() -> None:
    looking = Looking()
    looking.resetting()
    looking.listed((0, 12, 4, 0))
    known = looking.known()
    assert (known.state, known.position, known.offset_epoch, known.leader_epoch) == (FETCHING, 12, 4, 4)
    other = Looking()
    other.resetting()
    other.known().leader_epoch = 9
    other.listed((0, 12, 4, 0))
    assert other.known().leader_epoch == 9, "never back"


@pytest.mark.parametrize(
    "row", [(0, -1, -1, 0), (0, 12, 4, E.NOT_LEADER_OR_FOLLOWER), (0, -1, -1, E.UNKNOWN_LEADER_EPOCH)]
)
def test_an_offset_that_could_not_be_listed_is_asked_for_again_with_newer_metadata(
    row: tuple[int, int, int, int],
) -> None:
    looking = Looking()
    looking.resetting()
    looking.listed(row, now_us=SECOND)
    known = looking.known()
    assert looking.state.cluster.is_stale and (known.state, known.is_asked, known.retry_us) == (
        AWAIT_RESET,
        False,
        SECOND + BACK_OFF,
    )


def test_a_log_that_begins_at_zero_is_no_error() -> None:
    looking = Looking()
    looking.resetting()
    looking.listed((0, 0, 0, 0))
    assert (looking.known().state, looking.known().position) == (
        FETCHING,
        0,
    ) and not looking.state.cluster.is_stale


def test_without_a_leader_newer_metadata_come_first_and_the_others_are_asked() -> None:
    looking = Looking(0, 1)
    looking.asked()
    looking.state.cluster.leaders["t"][0] = Leader(-1, 0)
    looking.committed((0, -1, -1, 0), (1, -1, -1, 0))
    ((broker, request),) = looking.update(SECOND)
    assert broker == 2 and [part.partition for part in request.partitions] == [1]
    assert looking.state.cluster.is_stale and looking.known(0).retry_us == SECOND + BACK_OFF


def test_a_seek_during_a_reset_wins() -> None:
    looking = Looking()
    looking.resetting()
    looking.known().seek(3)
    looking.listed((0, 12, 4, 0))
    assert looking.known().position == 3


def test_none_ends_the_consumer_once_and_names_all_partitions_without_an_offset() -> None:
    looking = Looking(1, 2, 3, auto_offset_reset="none")
    looking.asked()
    looking.committed((1, -1, -1, 0), (2, 8, 0, 0), (3, -1, -1, 0), now_us=5)
    told = (
        "kafka.consumer.threw",
        {"client": "c1", "error": "NoOffsetForPartitionException", "topic": "t", "partitions": [1, 3]},
    )
    assert looking.ended == [5] and looking.out.told == [told]
    looking.state.member.phase = FAILED
    looking.positions.reset([("t", 1)], "OffsetOutOfRangeException", 6, looking.out)
    assert looking.ended == [5] and len(looking.out.told) == 1


def test_a_reset_leaves_no_position_and_tells_where_it_goes() -> None:
    looking = Looking(0, auto_offset_reset="latest")
    looking.asked()
    looking.committed((0, 50, 0, 0))
    looking.positions.reset([("t", 0)], "OffsetOutOfRangeException", 5, looking.out)
    assert looking.known().position == -1 and looking.state.handled() == {}, "nothing is committed meanwhile"
    looking.update(6)
    looking.listed((0, 80, 0, 0))
    told = ("kafka.consumer.offset_reset", {"client": "c1", "topic": "t", "partition": 0, "offset": 80})
    assert looking.known().position == 80 and looking.out.told == [told]


@pytest.mark.parametrize(
    ("where", "offset", "is_told"), [("earliest", 12, False), ("latest", 0, False), ("latest", 12, True)]
)
def test_a_beginning_that_passes_nothing_over_is_not_told(where: str, offset: int, is_told: bool) -> None:
    looking = Looking(0, auto_offset_reset=where)
    looking.asked()
    looking.committed((0, -1, -1, 0))
    looking.update(6)
    looking.listed((0, offset, 0, 0))
    assert bool(looking.out.told) is is_told


# --- whether a position still means the same (KIP-320)


@pytest.mark.parametrize(
    ("offset_epoch", "leader_epoch", "new_epoch", "is_checked"),
    [
        (0, 0, 1, True), (0, 0, 0, False), (0, 2, 1, False),  # an older or the same epoch is none
        (-1, 0, 1, False),  # nothing was read yet, so nothing can have been cut off
        (3, -1, 3, False),  # the committed offset is of this leader's own epoch
        (3, -1, 4, True),
    ],
)  # fmt: skip
def test_a_position_is_checked_under_a_newer_epoch_if_it_says_what_was_read(
    offset_epoch: int, leader_epoch: int, new_epoch: int, is_checked: bool
) -> None:
    looking = Looking()
    looking.reading(40, offset_epoch, leader_epoch)
    looking.led_by(2, new_epoch)
    known = looking.known()
    assert known.state == (AWAIT_VALIDATION if is_checked else FETCHING)
    assert known.leader_epoch == (leader_epoch if is_checked else max(leader_epoch, new_epoch))


def test_the_new_leader_is_asked_where_the_last_epoch_that_was_read_ends() -> None:
    looking = Looking()
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    ((broker, request),) = looking.update()
    assert broker == 3 and request == r.OffsetsForLeaderEpochRequest([r.EpochPartition("t", 0, 5, 2)])
    assert looking.known().is_asked and looking.update() == []


@pytest.mark.parametrize(
    ("epoch", "end", "position", "told"),
    [(2, 50, 40, False), (2, 40, 40, False), (2, 39, 39, True), (1, 10, 10, True)],
    ids=["ends later", "ends there", "was cut off", "of an older epoch"],
)
def test_a_position_stays_or_goes_back_to_the_end_of_its_epoch(
    epoch: int, end: int, position: int, told: bool
) -> None:
    looking = Looking()
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    looking.update()
    looking.ends(epoch, end)
    known = looking.known()
    assert (known.state, known.position, known.leader_epoch, known.is_asked) == (FETCHING, position, 5, False)
    assert (looking.out.told == [("kafka.consumer.truncated", {"client": "c1", "partition": 0})]) is told
    assert known.offset_epoch == (epoch if told else 2)


@pytest.mark.parametrize(("epoch", "end"), [(-1, -1), (-1, 5), (2, -1)])
def test_a_leader_that_knows_nothing_of_the_epoch_means_a_reset(epoch: int, end: int) -> None:
    looking = Looking()
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    looking.update()
    looking.ends(epoch, end)
    assert looking.known().state == AWAIT_RESET and looking.known().leader_epoch == 5


@pytest.mark.parametrize(("epoch", "end"), [(-1, -1), (2, 10)])
def test_another_log_in_its_place_is_an_exception_where_nothing_is_reset(epoch: int, end: int) -> None:
    looking = Looking(auto_offset_reset="none")
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    looking.update()
    looking.ends(epoch, end, now_us=7)
    assert looking.ended == [7] and [data["error"] for _, data in looking.out.told] == [
        "LogTruncationException"
    ]


def test_an_answer_to_a_question_that_is_not_open_any_more_moves_nothing() -> None:
    looking = Looking()
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    looking.ends(2, 10)
    assert looking.known().state == AWAIT_VALIDATION and looking.known().position == 40, (
        "it was not asked yet"
    )
    looking.update()
    looking.known().seek(90)
    looking.ends(2, 10)
    assert looking.known().position == 90
    looking.state.subscribed.give_up([("t", 0)])
    looking.ends(2, 10)
    assert looking.state.owned == [] and looking.out.told == []


def test_an_error_is_asked_again_with_newer_metadata_and_the_position_stays_unchecked() -> None:
    looking = Looking()
    looking.reading(40, 2, 2)
    looking.led_by(3, 5)
    looking.update()
    looking.ends(-1, -1, E.FENCED_LEADER_EPOCH, SECOND)
    known = looking.known()
    assert looking.state.cluster.is_stale and (known.state, known.retry_us, known.leader_epoch) == (
        AWAIT_VALIDATION,
        SECOND + BACK_OFF,
        2,
    )


def test_a_new_epoch_makes_a_preferred_replica_one_no_more() -> None:
    looking = Looking()
    looking.reading()
    looking.known().preferred_replica, replicas = 3, []
    for epoch in (0, 1):
        looking.led_by(2, epoch)
        replicas.append(looking.known().preferred_replica)
    assert replicas == [3, -1]


def test_only_what_is_read_is_checked() -> None:
    looking = Looking()
    looking.resetting()
    looking.known().offset_epoch = 0
    looking.led_by(2, 4)
    assert looking.known().state == AWAIT_RESET


# --- when it looks, and when it need not


def test_with_every_position_known_it_does_not_look_until_something_changes() -> None:
    looking = Looking()
    looking.asked()
    settled = [looking.state.subscribed.is_settled]
    looking.committed((0, 7, 0, 0))
    assert looking.update() == []
    settled.append(looking.state.subscribed.is_settled)
    looking.led_by(2, 3)
    settled.append(looking.state.subscribed.is_settled)
    assert settled == [False, True, False]


def test_after_any_connection_broke_whatever_was_asked_is_asked_again() -> None:
    looking = Looking(0, 1)
    looking.asked()
    looking.committed((0, 7, 0, 0))
    looking.positions.lost(SECOND, looking.out)
    assert looking.known(0).retry_us == 0 and (looking.known(1).is_asked, looking.known(1).retry_us) == (
        False,
        SECOND + BACK_OFF,
    )
