"""Batches of a Pulsar lane: what the page says of them is what the broker sent, by whose keys, and how far it
is acknowledged."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.batches import KEPT
from broker_core.lab.pulsar.views.batches import ACKED, HANDLED, MESSAGES_SHOWN, OPEN
from tests.core.lab.pulsar.views.pulsar_panel import lab_of, order, panel, run, subscription

HALF_SECOND_US = 500_000


def batching_lab(kind: str, **options) -> Lab:
    return lab_of("auto_split", batching=kind, batching_delay_us=HALF_SECOND_US, **{"rate": 24, **options})


def batches(lab: Lab) -> dict:
    return panel(lab)["batches"]


def test_a_lane_without_batches_has_no_such_panel():
    lab = lab_of("auto_split")
    run(lab, 2)
    assert batches(lab) is None


def test_default_batches_mix_keys_and_go_where_the_first_key_belongs():
    lab = batching_lab("default")
    run(lab, 10.2)
    view = batches(lab)
    assert (view["kind"], view["entries"], view["messages"], view["mixed"]) == ("default", 20, 240, 20)
    entries = view["recent"].values()
    assert [entry["size"] for entry in entries] == [12] * 20
    for entry in entries:
        assert entry["owners"][0] == entry["to"]  # the broker looks at the first key, and at no other
        assert len(entry["keys"]) == len(entry["owners"]) == len(entry["done"]) == 12
    # Nobody came or went, so what went astray so far is what the picture shows, entry by entry.
    assert (
        view["misplaced"] == sum(owner != entry["to"] for entry in entries for owner in entry["owners"]) > 100
    )


def test_each_key_s_owner_is_the_selector_s():
    lab = batching_lab("default")
    run(lab, 3)
    lane = lab.lanes["pulsar"]
    owners = dict(
        zip([lab.workload.key(code) for code in lane.keys.codes], lane.reads.key_owners(), strict=False)
    )
    told = [
        pair
        for entry in batches(lab)["recent"].values()
        for pair in zip(entry["keys"], entry["owners"], strict=True)
    ]
    assert len(told) == 60 and all(owners[key] == owner for key, owner in told)


def test_key_based_batches_have_one_key_and_none_goes_astray():
    lab = batching_lab("key_based", rate=200)
    run(lab, 10.2)
    view = batches(lab)
    assert view["messages"] == 2_000 and view["entries"] > 1_000 and view["mixed"] == view["misplaced"] == 0
    for entry in view["recent"].values():
        assert len(set(entry["keys"])) == 1 and set(entry["owners"]) == {entry["to"]}


def test_of_a_long_batch_the_first_messages_are_shown_and_of_all_entries_the_last():
    lab = batching_lab("default", rate=200)
    run(lab, 16)
    view = batches(lab)
    assert len(view["recent"]) == KEPT < view["entries"]
    assert {entry["size"] for entry in view["recent"].values()} == {100}
    assert {len(entry["keys"]) for entry in view["recent"].values()} == {MESSAGES_SHOWN}
    assert max(entry["position"] for entry in view["recent"].values()) == subscription(lab).cursor.end - 1


@pytest.mark.parametrize("hears", [False, True])
def test_with_batch_index_acks_the_broker_hears_of_single_messages(hears):
    lab = batching_lab("default", batch_index_acks=hears)
    run(lab, 5.2)
    order(lab, "slow", "c1")
    run(lab, 3)
    view, known = batches(lab), subscription(lab)
    assert view["index_acks"] is hears
    letters = {position: entry["done"] for position, entry in view["recent"].items()}
    part = {position: done for position, done in letters.items() if 0 < done.count(ACKED) < len(done)}
    assert bool(part) is hears and bool(known.cursor.acked_in_batch) is hears
    assert view["in_part"] == [
        len(known.cursor.acked_in_batch),
        sum(map(len, known.cursor.acked_in_batch.values())),
    ]
    if not hears:  # it is handled message by message, and acknowledged with the last one
        assert any(HANDLED in done and OPEN in done for done in letters.values())
    for position, done in letters.items():
        assert (done == ACKED * len(done)) == known.cursor.is_acked(view["recent"][position]["position"])


def test_an_entry_that_is_sent_again_counts_again_and_says_who_has_it_now():
    lab = batching_lab("default")
    run(lab, 5.2)
    order(lab, "pause", "c1")
    run(lab, 2)
    before = batches(lab)
    mine = [
        position
        for position, entry in before["recent"].items()
        if entry["to"] == "c1" and OPEN in entry["done"]
    ]
    order(lab, "leave", "c1")
    run(lab, 0.1)
    after = batches(lab)
    assert mine and all(
        after["recent"][position]["to"] != "c1" and after["recent"][position]["times"] == 2
        for position in mine
    )
    assert after["entries"] >= before["entries"] + len(mine)


def test_a_restored_lab_goes_on_with_the_same_batches():
    lab = batching_lab("default", batch_index_acks=True)
    run(lab, 5.2)
    restored = Lab.restore(lab.scenario, lab.checkpoint())
    assert batches(restored) == batches(lab)
    for each in (lab, restored):
        run(each, 3)
    assert batches(restored) == batches(lab)
