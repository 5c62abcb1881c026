"""What the page says would happen is what happens: the same key, the same lab, after the join or the
leave."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import murmur3_31
from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.pulsar.views.ranges import check_ranges, ranges_from_text
from broker_core.lab.pulsar.views.what_if import KEY_BYTES_MAX, next_name, ordering_key_of, what_if
from broker_core.lab.view import lab_view
from broker_core.pulsar.selectors import SELECTORS
from tests.core.lab.pulsar.views.pulsar_panel import lab_of, order, panel, run, subscription

KEYS = ["N725MQ", "N14228", "flight", "订单", "a", "0"]
OWNED = [*SELECTORS, "failover", "failover_document"]


def told(lab, key, name="c9"):
    return what_if(json.loads(json.dumps(panel(lab))), lab.lanes["pulsar"].algorithm, key, name)


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        *((name, {}) for name in OWNED),
        ("failover", {"failover_ring": True}),
        ("failover", {"topics": 4}),
        ("failover_document", {"topics": 4}),
    ],
)
def test_who_has_a_key_after_a_join_is_who_was_named_before(algorithm, options):
    lab = lab_of(
        algorithm,
        consumers=3,
        **({"partitions": 5} if algorithm == "failover" and not options.get("topics") else {}),
        **options,
    )
    run(lab, 3)
    name = next_name(lab.seen)
    before = {key: told(lab, key, name) for key in KEYS}
    order(lab, "join")
    run(lab, 3)
    assert list(lab.lanes["pulsar"].consumers)[-1] == name
    assert {key: told(lab, key)["consumer"] for key in KEYS} == {
        key: answer["joins"]["consumer"] for key, answer in before.items()
    }


@pytest.mark.parametrize("algorithm", OWNED)
@pytest.mark.parametrize("leaver", ["c1", "c2", "c4"])
def test_who_has_a_key_after_a_leave_is_who_was_named_before(algorithm, leaver):
    lab = lab_of(algorithm, consumers=4, **({"partitions": 5} if algorithm == "failover" else {}))
    run(lab, 3)
    before = {key: told(lab, key) for key in KEYS}
    order(lab, "leave", leaver)
    run(lab, 3)
    said = {key: answer["leaves"].get(leaver, answer["consumer"]) for key, answer in before.items()}
    assert {key: told(lab, key)["consumer"] for key in KEYS} == said


@pytest.mark.parametrize("algorithm", list(SELECTORS))
@settings(max_examples=20, deadline=None)
@given(key=st.text(max_size=20))
def test_the_slice_holds_the_slot_and_the_owner_is_the_lanes(algorithm, key):
    lab = LABS.setdefault(algorithm, _started(algorithm))
    answer, view = told(lab, key), panel(lab)
    assert answer["hash31"] == answer["hash"] & 0x7FFFFFFF
    first, last = answer["range"]
    assert first <= answer["slot"] <= last or (
        first > last and (answer["slot"] >= first or answer["slot"] <= last)
    )
    assert answer["consumer"] in view["consumers"]


LABS = {}


def _started(algorithm):
    lab = lab_of(algorithm)
    run(lab, 2)
    return lab


def test_a_name_decides_where_a_newcomers_points_are_and_a_restart_under_another_name_moves_keys():
    lab = lab_of(consumers=3)
    run(lab, 2)
    answers = [
        {key: told(lab, key, name)["joins"]["consumer"] == name for key in map(str, range(60))}
        for name in ("c4", "pod-7f9c", "pod-x2k1")
    ]
    assert answers[0] != answers[1] != answers[2]
    assert all(5 <= sum(taken.values()) <= 30 for taken in answers)


@pytest.mark.parametrize("algorithm", list(SELECTORS))
def test_the_first_consumer_will_have_every_key(algorithm):
    empty = lab_of(algorithm, consumers=0)
    run(empty, 1)
    assert {told(empty, key, "c1")["joins"]["consumer"] for key in KEYS} == {"c1"}


def test_without_a_key_without_consumers_and_in_shared():
    assert told(lab_of("shared"), "k")["consumer"] is None
    empty = lab_of(consumers=0)
    run(empty, 1)
    answer = told(empty, "k", "c1")
    assert answer["consumer"] is None and answer["joins"]["consumer"] == "c1" and answer["slot"] is not None
    partitioned = lab_of("failover", partitions=3)
    run(partitioned, 2)
    assert told(partitioned, "")["partition"] is None
    keyless = lab_of()
    run(keyless, 2)
    assert told(keyless, "")["consumer"] in ("c1", "c2", "c3")


def test_a_second_exclusive_consumer_would_be_refused_in_the_brokers_words():
    lab = lab_of("exclusive", partitions=2, consumers=1)
    run(lab, 2)
    answer = told(lab, "k", "c2")
    assert answer["joins"] == {
        "name": "c2",
        "consumer": None,
        "refused": "Exclusive consumer is already connected",
    }
    assert answer["leaves"] == {"c1": None}


@pytest.mark.parametrize("level", [0, 1])
def test_newcomer_has_the_priority_that_the_lane_has_for_its_name(level):
    lab = lab_of("failover", partitions=5, consumers=2, priorities={"c1": 1, "c2": 1, "c3": level})
    run(lab, 3)
    before = {key: told(lab, key, "c3")["joins"]["consumer"] for key in KEYS}
    order(lab, "join")
    run(lab, 3)
    assert {key: told(lab, key)["consumer"] for key in KEYS} == before
    assert (set(before.values()) == {"c3"}) == (level == 0)


@pytest.mark.parametrize(("algorithm", "options"), [("auto_split", {}), ("failover", {"partitions": 5})])
def test_ordering_key_that_the_producer_sets_decides_where_a_key_goes(algorithm, options):
    lab = lab_of(algorithm, consumers=3, ordering_keys=7, **options)
    run(lab, 5)
    lane = lab.lanes["pulsar"]
    for code, owner in list(zip(lane.keys.codes, lane.reads.key_owners(), strict=False))[:40]:
        key = lab.workload.key(code)
        ordering_key = ordering_key_of(lab.workload, panel(lab)["ordering_keys"], key)
        assert ordering_key == f"key-{code % 7}"
        answer = what_if(panel(lab), algorithm, key, "c9", ordering_key)
        assert answer["consumer"] == owner and (answer["key"], answer["ordering_key"]) == (key, ordering_key)
    assert (
        ordering_key_of(lab.workload, 7, "")
        is ordering_key_of(lab.workload, 7, "nobody's")
        is ordering_key_of(lab.workload, 0, "key-9")
        is None
    )


def test_a_key_that_is_too_long_is_refused_at_its_field():
    with pytest.raises(CommandError) as refused:
        told(lab_of(), "k" * (KEY_BYTES_MAX + 1))
    assert refused.value.field == "key"


# -- sticky ranges -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0-1", [(0, 1)]),
        (" 0 - 1 ;\n 5..9 ", [(0, 1), (5, 9)]),
        ("", []),
        ("-3-4", [(-3, 4)]),
        ("9-3,", [(9, 3)]),
    ],
)
def test_ranges_as_people_write_them(text, found):
    assert ranges_from_text(text) == found


@pytest.mark.parametrize("text", ["x", "1", "1-2-3", "1-2 3-4", ",".join(["0-1"] * 65), "1-99999999999"])
def test_what_is_no_range_is_refused_at_its_field(text):
    with pytest.raises(CommandError) as refused:
        ranges_from_text(text)
    assert refused.value.field == "ranges"


def checked(ranges, consumer="c2", algorithm="sticky", **options):
    lab = lab_of(algorithm, consumers=2, **options)
    run(lab, 2)
    return check_ranges(panel(lab), consumer, ranges)


def test_what_ranges_would_cover_and_overlap_and_what_the_broker_says():
    good = checked([(32768, 65535)])
    assert good == {"refused": None, "covered": 65536, "space": 65536, "gaps": [], "overlaps": []}
    gap = checked([(40000, 65535)])
    assert gap["refused"] is None and gap["gaps"] == [[32768, 39999]] and gap["covered"] == 65536 - 7232
    over = checked([(30000, 40000)])
    assert over["refused"] == {
        "kind": "range_conflict",
        "message": over["refused"]["message"],
        "conflict": "c1",
    }
    assert over["overlaps"] == [[30000, 32767, "c1"]] and over["gaps"] == [[40001, 65535]]


def test_what_the_client_refuses_before_the_broker_sees_it():
    assert checked([])["refused"]["kind"] == "empty_ranges"
    assert checked([(9, 3)])["refused"]["kind"] == "start_gt_end"
    assert checked([(40000, 70000)])["refused"]["kind"] == "out_of_bounds"
    own = checked([(40000, 50000), (45000, 60000)])
    assert own["refused"]["kind"] == "own_ranges_overlap" and own["overlaps"] == [[45000, 50000, ""]]
    with pytest.raises(CommandError):
        checked([(0, 1)], algorithm="auto_split")


def test_half_open_ranges_of_the_article_may_meet():
    assert checked([(32768, 65536)], algorithm="sticky_document")["overlaps"] == []


@pytest.mark.parametrize(
    ("rule", "rule_of_order"), [("3.2", "recently_joined"), ("3.2", "out_of_order"), ("current", "draining")]
)
def test_a_gap_within_the_ranges_of_one_consumer_is_served_by_the_rule_of_3_2_alone_and_the_page_says_so(
    rule, rule_of_order
):
    lab = lab_of("sticky", consumers=1, order=rule_of_order)
    run(lab, 2)
    order(lab, "pulsar_ranges", "c1", ranges=[[0, 20000], [40000, 65535]])
    run(lab, 5)
    shown = panel(lab)
    key = next(text for text in map(str, range(99)) if 20000 < murmur3_31(text) % 65536 < 40000)
    answer = what_if(shown, "sticky", key, "c2")
    served = rule == "3.2"
    assert shown["rule"]["selector"] == rule and shown["draining"] is None
    assert answer["consumer"] == ("c1" if served else None) and (answer["range"] is None) is not served
    assert ("c1" in lab.lanes["pulsar"].reads.key_owners()) and (
        None in lab.lanes["pulsar"].reads.key_owners()
    ) is not served
    assert (subscription(lab).waiting > 20) is not served
    if served:
        return
    order(lab, "join", ranges=[[20001, 39999]])
    run(lab, 5)
    assert None not in lab.lanes["pulsar"].reads.key_owners() and subscription(lab).waiting < 5
    twin = Lab.restore(lab.scenario, lab.checkpoint())
    assert panel(twin) == panel(lab)


def test_the_editor_counts_what_the_rule_serves():
    parts = [(32768, 40000), (50000, 65535)]
    assert checked(parts)["gaps"] == []
    gap = checked(parts, order="draining")
    assert gap["gaps"] == [[40001, 49999]] and (gap["covered"], gap["space"]) == (65536 - 9999, 65536)
    assert checked([(40000, 65535)], order="draining", consumer="c1")["overlaps"] == [[40000, 65535, "c2"]]
    assert checked([(1, 32767)], order="draining", consumer="c1")["gaps"] == []  # no key has slot 0 there
    lab = lab_of("sticky", consumers=1, order="draining")
    run(lab, 1)
    order(lab, "pulsar_ranges", "c1", ranges=[[1, 65535]])
    run(lab, 1)
    assert lab.lanes["pulsar"].reads.dark_units()[0] == 0
    assert whole(lab_view(lab))["lanes"]["pulsar"]["picture"]["now"]["bounds"] == [65535]
