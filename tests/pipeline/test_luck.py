"""How far a skew is chance: the tables that are drawn are the strategies' own, the spread holds the figure that
a study has, and the partition counts that are named are the most even ones."""

from collections import Counter

import pytest

from broker_core.pipeline.hot_keys import HotKey, KeyProfile, key_owner
from broker_core.pipeline.luck import SUITS_WITHIN, key_loads, luck_of
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.strategies import FAMILIES, strategy_parse

KEYS = [(f"key-{number}".encode(), 12_000 // number) for number in range(1, 201)]
PROFILE = KeyProfile([HotKey(key, count) for key, count in KEYS], [])
RECORDS = sum(count for _, count in KEYS)
MEMBERS = tuple(f"c{number}" for number in range(1, 9))
STEPS = history_steps(history_check({"kind": "given", "start": 8}))
SEED, TOPIC = 7, "orders"


def loads(strategy, records=RECORDS, no_key=0):
    return key_loads(PROFILE, strategy.hash, strategy.model, records, no_key)


def luck(text, **more):
    strategy = strategy_parse(text)
    mine = loads(strategy, **more)
    actual = mine.skew(strategy.routes(STEPS, seed=SEED, topic=TOPIC)[0])
    return luck_of(strategy, MEMBERS, mine, actual=actual, seed=SEED, topic=TOPIC), actual


def by_hand(strategy, table):
    """The skew key by key, with the table's own look-up."""
    held = Counter(dict.fromkeys(table.live, 0))
    for key, count in KEYS:
        held[key_owner(key, strategy.hash, table)] += count
    return max(held.values()) * len(held) / sum(held.values())


@pytest.mark.parametrize(
    "text", ["pulsar.consistent_hash", "pulsar.consistent_hash_current", "pulsar.auto_split", "tubemq.modulo"]
)
def test_a_skew_from_a_table_is_the_one_that_its_look_ups_give(text):
    strategy = strategy_parse(text)
    table = strategy.routes(STEPS, seed=SEED, topic=TOPIC)[0]
    assert loads(strategy).skew(table) == pytest.approx(by_hand(strategy, table))


@pytest.mark.parametrize(
    "family",
    [family for family in FAMILIES.values() if family.start is not None and family.drawn == "partitions"],
)
def test_a_table_without_a_lane_shares_as_the_lane_does(family):
    """Names may be in another order; how many partitions each has is the same. Which ones follows from the names
    in the article's rule, and from who came first where the coordinator keeps what it has given."""
    strategy = family.make({"partitions": 21}, "strategies")
    lane, alone = strategy.routes(STEPS, seed=SEED, topic=TOPIC)[0], family.start(strategy, MEMBERS)
    assert sorted(Counter(lane.owners.tolist()).values()) == sorted(Counter(alone.owners.tolist()).values())
    if family.sends_keys and strategy.algorithm not in (
        "round_robin_hashed",
        "server_uniform",
        "static_server_uniform",
    ):
        assert loads(strategy).skew(alone) == pytest.approx(loads(strategy).skew(lane))


def test_the_spread_of_a_ring_holds_its_own_skew_and_more_points_narrow_it():
    few, actual = luck("pulsar.consistent_hash:points=5")
    assert few["of"] == "names" and few["low"] <= actual <= few["high"] and few["draws"] == 20
    assert few["low"] < few["mid"] < few["high"]
    # Of keys that are all light: what hot keys do, no number of points mends.
    wide, narrow = (
        luck(f"pulsar.consistent_hash:points={points}", records=RECORDS * 1_000)[0] for points in (5, 500)
    )
    assert narrow["high"] - narrow["low"] < (wide["high"] - wide["low"]) / 3
    assert luck("pulsar.consistent_hash:points=5")[0] == few, "the same seed draws the same names"


@pytest.mark.parametrize("text", ["pulsar.consistent_hash_current", "kafka.range", "tubemq.modulo"])
def test_no_draw_is_below_what_the_hottest_key_leaves_the_largest_group(text):
    """The worst step of one draw may have fewer consumers than the history has at most; another draw's has them all."""
    profile = KeyProfile([HotKey(b"hot", 51), HotKey(b"warm", 49)], [])
    strategy = strategy_parse(text)
    mine = key_loads(profile, strategy.hash, strategy.model, 100, 0)
    found = luck_of(strategy, MEMBERS[:5], mine, group=MEMBERS, actual=5.0, seed=SEED, topic=TOPIC)
    assert found["low"] >= 0.51 * len(MEMBERS) - 1e-9


def test_counts_nearby_spread_range_and_the_counts_that_suit_are_the_most_even():
    found, actual = luck("kafka.range:partitions=12")
    assert found["of"] == "partitions" and [count for count, _ in found["counts"]] == list(range(9, 16))
    assert dict(found["counts"])[12] == pytest.approx(actual) and found["low"] < actual <= found["high"]
    strategy = strategy_parse("kafka.range")
    skews = {
        count: loads(strategy).skew(
            strategy.family.start(strategy_parse(f"kafka.range:partitions={count}"), MEMBERS)
        )
        for count in range(8, 33)
    }
    least = min(skews.values())
    assert found["suits"] and all(skews[count] <= least * SUITS_WITHIN for count in found["suits"])
    assert found["suits_skew"] == pytest.approx(max(skews[count] for count in found["suits"]))


def test_tubemq_is_tried_with_as_many_partitions_on_each_broker():
    found, _ = luck("tubemq.modulo:partitions=12,brokers=3")
    assert all(count % 3 == 0 for count, _ in found["counts"]) and all(
        count % 3 == 0 for count in found["suits"]
    )


def test_keys_beyond_the_hottest_are_spread_over_the_space_and_lower_the_skew():
    for text in ("pulsar.consistent_hash", "kafka.range"):
        strategy = strategy_parse(text)
        table = strategy.routes(STEPS, seed=SEED, topic=TOPIC)[0]
        assert loads(strategy, records=RECORDS * 50).skew(table) < loads(strategy).skew(table)


def test_pulsars_records_without_a_key_are_one_more_hot_key():
    strategy = strategy_parse("pulsar.consistent_hash")
    table = strategy.routes(STEPS, seed=SEED, topic=TOPIC)[0]
    assert loads(strategy, RECORDS * 100, RECORDS * 99).skew(table) > 7


def test_where_chance_decides_nothing_nothing_is_drawn():
    assert luck("pulsar.auto_split")[0] is None and luck("pulsar.sticky")[0] is None
    queue = strategy_parse("rabbitmq.queue")
    assert luck_of(queue, MEMBERS, None, actual=1.0, seed=SEED, topic=TOPIC) is None
