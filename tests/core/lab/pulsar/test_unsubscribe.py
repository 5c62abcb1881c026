"""Who unsubscribes takes the subscription and its cursor away."""

import pytest

from broker_core.lab.lab import Lab
from tests.core.lab.pulsar.command_lab import SECOND, order, running, view

# -- unsubscribe ---------------------------------------------------------------------------------------------


EVERY_TYPE = [
    ("shared", {}),
    ("failover", {"partitions": 3}),
    ("exclusive", {"partitions": 0}),
    ("consistent_hash", {}),
    ("sticky", {}),
    ("auto_split", {"order": "draining"}),
    ("failover_document", {}),
]


@pytest.mark.parametrize(("algorithm", "options"), EVERY_TYPE)
@pytest.mark.parametrize("initial_position", ["latest", "earliest"])
def test_who_unsubscribes_takes_the_cursor_along_and_the_next_one_begins_anew(
    algorithm, options, initial_position
):
    lab = running(
        algorithm, consumers=1, rate=30, initial_position=initial_position, retention=100_000, **options
    )
    lane = lab.lanes["pulsar"]
    assert lane.reads.lag() > 40
    events = order(lab, "pulsar_unsubscribe", "c1", 2)
    deleted = [event for event in events if event["kind"] == "pulsar.subscription.deleted"]
    assert (
        len(deleted) == max(options.get("partitions", 0), 1)
        and sum(event["data"]["waiting"] for event in deleted) > 40
    )
    shown = view(lab)
    assert shown["sentence"]["code"] == "pulsar.unsubscribed" and shown["pulsar"]["consumers"]["c1"][
        "idle"
    ] == {"code": "unsubscribed"}
    assert (
        lane.reads.lag() <= 1
        and lane.reads.is_settled()
        and sum(cursor["backlog"] for cursor in shown["pulsar"]["cursors"].values()) == 0
    )
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "join", "c9", 3)
        each.lanes["pulsar"].reads.check()
    assert again.checkpoint() == lab.checkpoint()
    acked = sum(known.cursor.mark_delete + 1 for known in lane.reads.subscriptions())
    assert acked > 150 if initial_position == "latest" else acked < 60
    assert view(lab)["pulsar"]["consumers"]["c9"]["connected"] and lane.reads.lag() > (
        40 if initial_position == "earliest" else -1
    )


@pytest.mark.parametrize(("algorithm", "options"), [case for case in EVERY_TYPE if case[0] != "exclusive"])
def test_unsubscribe_is_refused_while_another_consumer_is_connected(algorithm, options):
    lab = running(algorithm, consumers=2, **options)
    before = [known.to_json()["name"] for known in lab.lanes["pulsar"].reads.subscriptions()]
    events = order(lab, "pulsar_unsubscribe", "c1", 1)
    refused = [event["data"] for event in events if event["kind"] == "pulsar.unsubscribe.refused"]
    assert {(one["consumer"], one["error"]) for one in refused} == {("c1", "MetadataError")} and len(
        refused
    ) == max(options.get("partitions", 0), 1)
    assert view(lab)["sentence"]["code"] == "pulsar.unsubscribe_refused"
    assert [known.name for known in lab.lanes["pulsar"].reads.subscriptions()] == before
    assert view(lab)["pulsar"]["consumers"]["c1"]["connected"]


def test_retry_letters_go_with_the_subscription_of_who_unsubscribes():
    lab = running(
        "shared", consumers=1, fails_every=3, retry_topic=True, max_redeliver=2, nack_delay_us=2 * SECOND
    )
    lab.advance_to(9 * SECOND)
    assert view(lab)["picture"]["retry_letters"] > 0
    order(lab, "pulsar_unsubscribe", "c1", 1)
    assert "retry_letters" not in view(lab)["picture"] and lab.lanes["pulsar"].reads.lag() <= 1
    order(lab, "join", "c9", 9)
    assert view(lab)["picture"]["retry_letters"] > 0


def test_who_has_unsubscribed_can_leave_crash_or_subscribe_again():
    for kind, args in (
        ("leave", {}),
        ("crash", {}),
        ("pulsar_priority", {"level": 1}),
        ("pulsar_unsubscribe", {}),
        ("pause", {}),
    ):
        lab = running("shared", consumers=1)
        order(lab, "pulsar_unsubscribe", "c1", 1)
        order(lab, kind, "c1", 70 if kind == "crash" else 2, **args)
        assert lab.lanes["pulsar"].reads.is_settled()
        if kind == "pulsar_priority":
            assert (
                view(lab)["pulsar"]["consumers"]["c1"]["connected"]
                and view(lab)["consumers"]["c1"]["rate"] > 0
            )
