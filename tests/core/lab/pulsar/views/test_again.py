"""The ladder to the dead-letter topic as the page shows it: what the broker counts, and when the clients
ask."""

import pytest

from tests.core.lab.pulsar.views.pulsar_panel import idle, lab_of, panel, run, subscription

SECOND = 1_000_000


def again(lab):
    return panel(lab)["again"]


def test_nothing_is_told_where_nothing_can_be_asked_for_again():
    for lab in (lab_of("shared"), lab_of("failover", fails_every=5)):
        run(lab, 3)
        assert again(lab) is None


def test_each_message_climbs_its_ladder_and_ends_as_a_dead_letter():
    lab = lab_of("shared", rate=10, fails_every=20, max_redeliver=3, nack_delay_us=3 * SECOND)
    seen = []
    for _ in range(20):
        run(lab, 1)
        view = again(lab)
        seen.append(view["entries"].get("0", {}).get("times"))
        assert (view["max"], view["delay_us"], view["in_retry_topic"]) == (3, 3 * SECOND, False)
        assert view["count"] == len(view["entries"])
        for position, entry in view["entries"].items():
            assert (
                entry["record"] == int(position) and int(position) % 20 == 0
            )  # every 20th cannot be handled
            assert not subscription(lab).cursor.is_acked(int(position)) and 0 <= entry["times"] <= 3
    climbed = [times for times in seen if times is not None]
    # The fourth delivery fails at once and is the last: no full second sees it.
    assert climbed == sorted(climbed) and {0, 1, 2} <= set(climbed) <= {0, 1, 2, 3} and seen[-1] is None
    assert again(lab)["dead_letters"] == lab.lanes["pulsar"].reads.picture()["dead_letters"] > 0


def test_who_has_it_and_when_it_is_asked_for_again_are_the_client_s():
    lab = lab_of("shared", rate=10, fails_every=20, max_redeliver=3, nack_delay_us=3 * SECOND)
    run(lab, 2)
    entry = again(lab)["entries"]["0"]
    assert entry["times"] == 0 and entry["holder"] in panel(lab)["consumers"]
    assert 3 * SECOND <= entry["at_us"] <= lab.now_us + 3 * SECOND


def test_without_a_policy_there_is_no_end_of_it():
    lab = lab_of("shared", rate=10, fails_every=20, nack_delay_us=SECOND)
    run(lab, 15)
    view = again(lab)
    assert view["max"] == 0 and view["dead_letters"] == 0 and view["entries"]["0"]["times"] > 5


def test_with_a_retry_letter_topic_the_ladder_is_there():
    lab = lab_of(
        "shared", rate=10, fails_every=20, max_redeliver=3, nack_delay_us=3 * SECOND, retry_topic=True
    )
    run(lab, 12)
    view = again(lab)
    assert (
        view["in_retry_topic"] and view["count"] == lab.lanes["pulsar"].reads.picture()["retry_letters"] > 0
    )
    assert {entry["times"] for entry in view["entries"].values()} <= {1, 2, 3}
    assert all(entry["record"] % 20 == 0 for entry in view["entries"].values())


def test_a_retry_letter_that_was_delivered_waits_for_no_moment_and_is_beside_what_the_cursor_counts():
    lab = lab_of("shared", fails_every=4, max_redeliver=3, nack_delay_us=SECOND, retry_topic=True)
    run(lab, 9)
    view, entries = again(lab), again(lab)["entries"].values()
    assert {entry["at_us"] for entry in entries if entry["holder"]} == {None}
    assert all(entry["at_us"] > lab.now_us for entry in entries if not entry["holder"])
    unacked = sum(consumer["unacked"] for consumer in panel(lab)["consumers"].values())
    cursor = panel(lab)["cursors"]["-1"]
    assert unacked == cursor["backlog"] + view["held"] > cursor["backlog"]


@pytest.mark.parametrize("algorithm", ["shared", "auto_split"])
def test_one_whose_cumulative_acks_are_refused_says_so_before_it_is_blocked(algorithm):
    lab = lab_of(algorithm, acks_cumulatively=True, unacked_max=50, rate=60)
    run(lab, 15)
    told = idle(lab, "c1")
    assert (
        told["code"] == "acks_refused"
        and told["count"] == panel(lab)["consumers"]["c1"]["refused_acks"] >= 50
        and told["unacked"] >= 50
    )


@pytest.mark.parametrize("by_index", [False, True])
def test_in_batches_the_messages_that_cannot_be_handled_are_counted_and_named(by_index):
    options = {"batching": "default", "batching_delay_us": 500_000, "batch_index_acks": by_index}
    lab = lab_of("shared", fails_every=10, nack_delay_us=60_000_000, **options)
    run(lab, 6)
    view = panel(lab)["again"]
    assert view["messages"] > view["count"] == len(view["entries"]) > 3, (
        "two of the twenty messages of an entry"
    )
    assert {entry["record"] % 10 for entry in view["entries"].values()} == {0}
