"""The worked examples of the article on Pulsar (documentation 3.2), under its own rules and under the
recorded ones."""

import pytest

from broker_core.hashing.murmur3 import murmur3_31, murmur3_32
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.selectors import SELECTORS, AssignRefused, Selector
from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.consistent_hash import RING_3_2_0, RING_3_2_1, RING_CURRENT, RingSelector
from broker_core.pulsar.selectors.ring_document import RingDocumentSelector

ORDER = "Order-3459134"
POD = "orders-aggregator-pod-2345-consumer"
AUTO_SPLITS = ["auto_split", "auto_split_document"]


def drawn(selector: Selector) -> str:
    """The space as the article draws it: owner and first slot of the next range, up to 65,536.

    The real ranges end with their bound and the article's begin with it; both print the same bounds.
    """
    bounds, owners = selector.slices()
    last = selector.space - 1
    shift = 0 if isinstance(selector, AutoSplitSelector) else 1
    return " ".join(
        f"{owner} {selector.space if bound == last else bound + shift}"
        for owner, bound in zip(owners, bounds, strict=True)
    )


def test_hash_of_the_order_leads_to_slot_6067() -> None:
    assert murmur3_32(ORDER) == 3112179635
    assert 3112179635 % 65536 == 6067
    # Pulsar drops the top bit first; modulo 65,536 that changes nothing.
    assert murmur3_31(ORDER) == 964695987 and 964695987 % 65536 == 6067


@pytest.mark.parametrize("algorithm", AUTO_SPLITS)
def test_four_consumers_connect_one_by_one(algorithm: str) -> None:
    selector = SELECTORS[algorithm]()
    story = []
    for consumer in ("C1", "C2", "C3", "C4"):
        selector.add(consumer)
        story.append(drawn(selector))
    assert story == [
        "C1 65536",
        "C2 32768 C1 65536",
        "C3 16384 C2 32768 C1 65536",
        "C3 16384 C2 32768 C4 49152 C1 65536",
    ]


@pytest.mark.parametrize("algorithm", AUTO_SPLITS)
def test_order_goes_to_c3(algorithm: str) -> None:
    selector = SELECTORS[algorithm]()
    for consumer in ("C1", "C2", "C3", "C4"):
        selector.add(consumer)
    assert selector.slot(murmur3_32(ORDER)) == 6067
    assert selector.select(murmur3_32(ORDER)) == "C3"


@pytest.mark.parametrize("algorithm", AUTO_SPLITS)
def test_c4_leaves_to_its_right_and_then_c1_to_its_left(algorithm: str) -> None:
    selector = SELECTORS[algorithm]()
    for consumer in ("C1", "C2", "C3", "C4"):
        selector.add(consumer)
    selector.remove("C4")
    assert drawn(selector) == "C3 16384 C2 32768 C1 65536"
    selector.remove("C1")
    assert drawn(selector) == "C3 16384 C2 65536"


def test_first_figure_of_the_article_has_c1_and_c4_exchanged() -> None:
    """It draws C3, C2, C1, C4; its own story, and the recorded runs, give C3, C2, C4, C1."""
    selector = SELECTORS["auto_split_document"]()
    for consumer in ("C1", "C2", "C3", "C4"):
        selector.add(consumer)
    assert selector.slices()[1] == ["C3", "C2", "C4", "C1"]


def test_slot_16384_is_where_article_and_recorded_truth_part() -> None:
    real, article = SELECTORS["auto_split"](), SELECTORS["auto_split_document"]()
    for consumer in ("C1", "C2", "C3", "C4"):
        real.add(consumer)
        article.add(consumer)
    assert (real.select(16384), article.select(16384)) == ("C3", "C2")
    assert (real.select(16383), article.select(16383)) == ("C3", "C3")


def test_three_printed_ring_points_are_on_the_article_ring() -> None:
    selector = RingDocumentSelector()
    selector.add("c", POD)
    printed = {1: 1003084738, 2: 373317202, 100: 320276078}
    assert {number: murmur3_32(f"{POD}{number}") for number in printed} == printed
    assert set(printed.values()) <= set(selector.ring.points) and len(selector.ring) == 100


def test_real_rings_count_points_from_0_so_consumer100_is_none() -> None:
    real = RingSelector(RING_3_2_0)
    real.add("c", POD)
    points = set(real.ring.points)
    assert {1003084738, 373317202} <= points and 320276078 not in points
    assert murmur3_31(f"{POD}0") in points
    for rule in (RING_3_2_1, RING_CURRENT):
        other = RingSelector(rule)
        other.add("c", POD)
        assert not {1003084738, 373317202, 320276078} & set(other.ring.points)


def test_key_goes_clockwise_to_the_next_point_and_past_the_highest_to_the_first() -> None:
    selector = RingDocumentSelector(point_count=3)
    for consumer in ("C1", "C2"):
        selector.add(consumer)
    bounds, owners = selector.slices()
    for bound, owner in zip(bounds, owners, strict=True):
        assert selector.select(bound) == owner
    for bound, following in zip(bounds, owners[1:], strict=False):
        assert selector.select(bound + 1) == following
    assert selector.select(bounds[-1] + 1) == owners[0]


def test_consumers_at_one_point_share_its_keys_by_hash_mod_list_size() -> None:
    selector = RingDocumentSelector(point_count=1)
    # Two names, one point text: "c1" + "1" cannot be told from the point of a namesake.
    selector.add("first", "c1")
    selector.add("second", "c1")
    assert [selector.select(hash32) for hash32 in (0, 1, 2, 3)] == ["first", "second", "first", "second"]


def test_newcomer_of_the_ring_takes_a_little_from_everybody() -> None:
    for algorithm in ("consistent_hash", "ring_document"):
        selector = SELECTORS[algorithm]()
        for consumer in ("C1", "C2", "C3"):
            selector.add(consumer)
        hashes = [murmur3_32(f"key-{number}") for number in range(2_000)]
        before = [selector.select(hash32) for hash32 in hashes]
        selector.add("C4")
        losers = {was for was, hash32 in zip(before, hashes, strict=True) if selector.select(hash32) == "C4"}
        assert losers == {"C1", "C2", "C3"}


def test_two_sticky_consumers_as_the_article_writes_them() -> None:
    selector = SELECTORS["sticky_document"]()
    selector.add("C1", ranges=[(0, 16384), (32768, 49152)])
    selector.add("C2", ranges=[(16384, 32768), (49152, 65536)])
    assert drawn(selector) == "C1 16384 C2 32768 C1 49152 C2 65536"
    assert selector.select(murmur3_32(ORDER)) == "C1"


def test_articles_sticky_ranges_sent_to_the_real_broker_conflict_at_the_borders() -> None:
    selector = SELECTORS["sticky"]()
    selector.add("C1", ranges=[(0, 16384), (32768, 49152)])
    with pytest.raises(AssignRefused, match="Range conflict with consumer C1"):
        selector.add("C2", ranges=[(16384, 32768), (49152, 65536)])
    selector.add("C2", ranges=[(16385, 32767), (49153, 65535)])
    assert selector.select(murmur3_32(ORDER)) == "C1"


@pytest.mark.parametrize("algorithm", ["sticky", "sticky_document"])
@pytest.mark.parametrize("ranges", [None, [], [(16000, 20000)]])
def test_refused_sticky_consumer_is_as_if_it_had_never_tried(
    algorithm: str, ranges: list[tuple[int, int]] | None
) -> None:
    dispatcher = KeySharedDispatcher(SELECTORS[algorithm]())
    dispatcher.connect("C1", "C1", 1000, [(0, 16384)])
    state = dispatcher.to_json()
    with pytest.raises(AssignRefused):
        dispatcher.connect("C2", "C2", 1000, ranges)
    assert dispatcher.to_json() == state


@pytest.mark.parametrize(
    ("read", "acked", "again"), [(0, 0, [0, 1, 2, 3]), (4, 0, [0, 1, 2, 3]), (4, 4, []), (4, 2, [2, 3])]
)
def test_what_is_not_acknowledged_comes_again_whatever_was_read(
    read: int, acked: int, again: list[int]
) -> None:
    """The article lets the next consumer go on after what was *read*; the recorded truth is what was
    *acknowledged*."""
    dispatcher = KeySharedDispatcher(SELECTORS["auto_split"]())
    dispatcher.connect("A", "A", read)
    dispatcher.publish([murmur3_32(ORDER)] * 4)
    dispatcher.ack(range(acked))
    dispatcher.disconnect("A")
    assert [position for _, position in dispatcher.connect("C", "C", 1000)] == again


def test_same_key_keeps_its_consumer_until_that_one_leaves() -> None:
    dispatcher = KeySharedDispatcher(SELECTORS["auto_split"]())
    for consumer in ("C1", "C2"):
        dispatcher.connect(consumer, consumer, 1000)
    hash32 = murmur3_32(ORDER)
    sent = [delivery for _ in range(5) for delivery in dispatcher.publish([hash32])]
    assert {consumer for consumer, _ in sent} == {"C2"}
    assert dispatcher.disconnect("C2") == [("C1", position) for position in range(5)]
