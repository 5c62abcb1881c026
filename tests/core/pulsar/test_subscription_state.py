"""What a subscription answers about itself: what waits, at whom what is, who may have what, in every type and
before anybody has come."""

import pytest

from broker_core.errors import InvariantError
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.errors import ConsumerBusy, ServerMetadata, SubscriptionBusy
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import AssignRefused
from broker_core.pulsar.settings import (
    DRAINING,
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    RECENTLY_JOINED,
    SHARED,
    Asked,
    BrokerSettings,
)
from broker_core.pulsar.subscription import Subscription
from broker_core.pulsar.topic import EARLIEST, LATEST, Topic

EACH = pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])


def topic(partition=-1, **settings):
    made, chosen = (
        Topic("orders", partition),
        BrokerSettings("auto_split", **{"failover_delay_us": 0, **settings}),
    )
    return made, made.subscription("s", LATEST, chosen), chosen


def come(made, *hashes, size=1):
    """Entries arrive; what each subscription sends because of them."""
    sent: list[tuple[str, int]] = []
    for hash32 in hashes:
        entry = Entry(hash32, made.ledger.end, batch=tuple(range(size)) if size > 1 else ())
        position = made.ledger.append(entry)
        for known in made.subscriptions.values():
            sent += known.dispatcher.arrived(position, entry) if known.dispatcher is not None else []
            known.cursor.end = position + 1
    return sent


def state(known):
    return known.to_json()


# --- before anybody has come, and who may


def test_nobody_has_ever_come():
    made, known, _ = topic()
    come(made, 1, 2)
    assert (
        known.consumers == [] and known.waiting == 2 and known.selector is None and known.dispatcher is None
    )
    assert (
        known.unacked_count("a") == known.permits("a") == known.waiting_for("a") == 0
        and known.unacked("a") == []
    )
    assert known.ack_cumulative(1) is False and known.cursor.mark_delete == -1
    known.check()
    with pytest.raises(InvariantError, match="nobody has ever connected to s"):
        known.disconnect("a")


@pytest.mark.parametrize(
    ("kind", "order", "made_of"),
    [
        (EXCLUSIVE, DRAINING, ActiveDispatcher),
        (FAILOVER, RECENTLY_JOINED, ActiveDispatcher),
        (SHARED, DRAINING, SharedDispatcher),
        (KEY_SHARED, RECENTLY_JOINED, KeySharedDispatcher),
        (KEY_SHARED, DRAINING, DrainingDispatcher),
    ],
)
def test_type_and_order_choose_the_dispatcher(kind, order, made_of):
    _, known, _ = topic(order=order)
    known.connect("a", Asked("a", kind))
    assert type(known.dispatcher) is made_of and known.consumers == ["a"]


@pytest.mark.parametrize(
    ("asked", "refusal", "message"),
    [
        (Asked("b", "Round_Robin"), ServerMetadata, "Unsupported subscription type"),
        (Asked("b", SHARED), SubscriptionBusy, "different type"),
        (Asked("b", FAILOVER), SubscriptionBusy, "different type"),
        (Asked("b", EXCLUSIVE), ConsumerBusy, "already connected"),
    ],
)
def test_refused_consumer_leaves_no_trace(asked, refusal, message):
    _, known, _ = topic()
    known.connect("a", Asked("a", EXCLUSIVE))
    before = state(known)
    with pytest.raises(refusal, match=message):
        known.connect("b", asked)
    assert state(known) == before and known.type == EXCLUSIVE


def test_refused_ranges_of_the_first_consumer_leave_the_former_type():
    made, known, _ = topic()
    known.connect("a", Asked("a", SHARED))
    come(made, 1)
    known.disconnect("a")
    before = state(known)
    with pytest.raises(AssignRefused):
        known.connect("b", Asked("b", KEY_SHARED, ranges=((9, 3),)))
    assert state(known) == before and known.type == SHARED


@pytest.mark.parametrize(("ranges", "order", "algorithm"), [
    ((), RECENTLY_JOINED, "auto_split"), ((), DRAINING, "auto_split"), (((0, 9),), RECENTLY_JOINED, "sticky"),
    (((0, 9),), DRAINING, "sticky_current"),
])  # fmt: skip
def test_asking_for_ranges_chooses_the_selector_of_sticky_ranges(ranges, order, algorithm):
    _, known, _ = topic(order=order)
    known.connect("a", Asked("a", KEY_SHARED, ranges=ranges))
    assert known.selector.algorithm == algorithm


def test_points_are_for_rings():
    made = Topic("orders")
    known = made.subscription("s", LATEST, BrokerSettings("consistent_hash", points=7))
    known.connect("a", Asked("a", KEY_SHARED))
    assert known.selector is not None and len(known.selector.slices()[0]) == 7


@pytest.mark.parametrize(
    ("partition", "in_order", "active"), [(-1, True, "c"), (0, True, "a"), (0, False, "a")]
)
def test_documents_rule_of_who_came_first_is_for_topics_without_partitions(partition, in_order, active):
    _, known, _ = topic(partition, failover_in_order=in_order)
    for name in "cab":
        known.connect(name, Asked(name, FAILOVER))
    assert known.dispatcher.active == active


@EACH
def test_only_consumer_may_unsubscribe(kind):
    _, known, _ = topic()
    known.connect("a", Asked("a", kind))
    known.unsubscribe("a")
    for name in ("b", ""):
        with pytest.raises(ServerMetadata, match="Unconnected or shared consumer attempting to unsubscribe"):
            known.unsubscribe(name)


# --- what is where


@EACH
def test_what_is_read_is_at_somebody_and_the_rest_waits(kind):
    made, known, _ = topic()
    known.connect("a", Asked("a", kind))
    known.dispatcher.flow("a", 3)
    assert (known.waiting, known.unacked_count("a"), known.waiting_for("a")) == (0, 0, 0), (
        "there is nothing yet"
    )
    come(made, 1, 2, 3, 4, 5)
    known.ack("a", [1])
    assert (known.waiting, known.unacked("a"), known.unacked_count("a"), known.permits("a")) == (
        2,
        [0, 2],
        2,
        0,
    )
    assert known.waiting_for("a") == (0 if kind == SHARED else 2)
    known.ack("a", [4])  # which nobody has had
    assert (known.waiting, known.unacked_count("a")) == (1, 2)


@EACH
def test_batch_counts_by_its_messages_where_they_are_limited_and_as_an_entry_elsewhere(kind):
    made, known, _ = topic()
    known.connect("a", Asked("a", kind))
    known.dispatcher.flow("a", 100)
    come(made, 1, size=3)
    assert known.unacked_count("a") == (1 if kind in (EXCLUSIVE, FAILOVER) else 3) and known.waiting == 0


def test_standby_has_nothing_and_nothing_waits_for_it():
    made, known, _ = topic(0)
    for name in "ab":
        known.connect(name, Asked(name, FAILOVER))
        known.dispatcher.flow(name, 1)
    come(made, 1, 2)
    assert [known.unacked_count(name) for name in "ab"] == [1, 0] and [
        known.waiting_for(name) for name in "ab"
    ] == [1, 0]
    assert known.unacked("b") == [] and known.permits("b") == 1


@pytest.mark.parametrize("order", [RECENTLY_JOINED, DRAINING])
def test_by_key_each_waits_for_its_own(order):
    made, known, _ = topic(order=order)
    for name in "ab":
        known.connect(name, Asked(name, KEY_SHARED))
    come(made, 100, 100, 40_000)
    assert [known.waiting_for(name) for name in "ab"] == [1, 2] and known.waiting == 3


@EACH
def test_after_all_have_left_everything_waits_and_nobody_has_anything(kind):
    made, known, _ = topic()
    known.connect("a", Asked("a", kind))
    known.dispatcher.flow("a", 100)
    come(made, 1, 2, 3)
    known.ack("a", [0])
    known.disconnect("a")
    assert (
        known.waiting,
        known.unacked("a"),
        known.unacked_count("a"),
        known.permits("a"),
        known.waiting_for("a"),
    ) == (2, [], 0, 0, 0)
    assert known.type == kind


def test_cumulative_acknowledgement_counts_holes_below_it():
    made, known, _ = topic()
    known.connect("a", Asked("a", FAILOVER))
    known.dispatcher.flow("a", 100)
    come(made, *range(6))
    known.ack("a", [1, 4])
    assert known.ack_cumulative(2) and (
        known.cursor.mark_delete,
        known.unacked("a"),
        known.unacked_count("a"),
    ) == (2, [3, 5], 2)
    assert known.ack_cumulative(3) and known.cursor.mark_delete == 4


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_redelivery_counts_live_as_long_as_anybody_is_there(kind):
    made, known, _ = topic()
    for name in "ab":
        known.connect(name, Asked(name, kind))
        known.dispatcher.flow(name, 100)
    come(made, 100)
    holder = next(name for name in "ab" if known.unacked(name))
    known.redeliver(holder, [0])
    known.disconnect(holder)
    assert known.redelivery_counts == {0: 1}
    (left,) = known.consumers
    known.disconnect(left)
    assert known.redelivery_counts == {}


def test_seek_while_somebody_is_there_breaks_a_law():
    _, known, _ = topic()
    known.connect("a", Asked("a", SHARED))
    with pytest.raises(InvariantError, match="s has consumers during a seek"):
        known.seek(0)


# --- its topic


@pytest.mark.parametrize(("initial_position", "begins"), [(EARLIEST, 2), (LATEST, 5)])
def test_new_subscription_begins_at_what_is_kept_or_at_the_end(initial_position, begins):
    made, known, chosen = topic()
    come(made, *range(5))
    known.connect("a", Asked("a", SHARED))
    known.ack("a", [0, 1])
    made.trim(0)
    fresh = made.subscription("new", initial_position, chosen)
    assert (fresh.cursor.read_position, fresh.cursor.mark_delete, fresh.waiting) == (
        begins,
        begins - 1,
        5 - begins,
    )
    assert made.subscription("new", EARLIEST, chosen) is fresh


@pytest.mark.parametrize(("retention", "first"), [(0, 3), (1, 2), (2, 1), (3, 0), (99, 0)])
def test_topic_keeps_what_the_slowest_has_not_acknowledged_and_its_retention_before_that(retention, first):
    made, _, chosen = topic()
    slow = made.subscription("slow", LATEST, chosen)
    fast = made.subscription("fast", LATEST, chosen)
    del made.subscriptions["s"]
    come(made, *range(6))
    for known, acked in ((slow, [0, 1, 2, 4]), (fast, range(6))):
        known.connect("a", Asked("a", SHARED))
        known.ack("a", list(acked))
    made.trim(retention)
    assert made.ledger.first == first and list(made.ledger.entries) == list(range(first, 6))


@pytest.mark.parametrize(("retention", "kept"), [(0, []), (2, [4, 5])])
def test_topic_without_subscriptions_keeps_its_retention_only(retention, kept):
    made, _, _ = topic()
    made.subscriptions.clear()
    come(made, *range(6))
    made.trim(retention)
    assert list(made.ledger.entries) == kept and made.ledger.end == 6


def test_what_a_subscription_would_be_if_somebody_made_it_now_is_not_there():
    made, _, chosen = topic()
    come(made, 1, 2)
    nobodys = made.nobodys("later", chosen)
    assert (nobodys.waiting, nobodys.cursor.mark_delete, nobodys.consumers) == (0, 1, []) and list(
        made.subscriptions
    ) == ["s"]
    nobodys.connect("a", Asked("a", EXCLUSIVE))
    assert nobodys.unacked("a") == []


@EACH
def test_restored_subscription_has_its_dispatcher_only_with_its_topic(kind):
    made, known, chosen = topic()
    known.connect("a", Asked("a", kind, priority=3))
    known.dispatcher.flow("a", 2)
    come(made, 100, 40_000, 100)
    again = Subscription.from_json(state(known))
    assert again.dispatcher is None and again.type == kind
    again.attach(made.full_name, made.partition, made.ledger.entries, chosen)
    assert state(again) == state(known) and again.consumers == ["a"] and again.unacked("a") == [0, 1]
    assert again.attached.flow("a", 1) == known.attached.flow("a", 1) == [("a", 2)]
