"""What a Pulsar lane's sentence says is what its table shows, in each type and as long as it stands there."""

import pytest

from tests.core.lab.pulsar.views.pulsar_panel import SECOND, lab_of, lab_view, order, panel, run, whole


def sentence(lab):
    told = whole(lab_view(lab))["lanes"]["pulsar"]["sentence"]
    return told["code"], told["params"]


@pytest.mark.parametrize(
    ("algorithm", "code"),
    [
        ("auto_split", "pulsar.paused"),
        ("shared", "pulsar.shared.paused"),
        ("failover", "pulsar.failover.paused"),
        ("exclusive", "pulsar.exclusive.paused"),
    ],
)
def test_what_waits_for_a_paused_consumer_differs_from_type_to_type(algorithm, code):
    lab = lab_of(algorithm)
    run(lab, 3)
    order(lab, "pause", "c1")
    for _ in range(3):
        run(lab, 1)
        assert (
            sentence(lab)[0] == code
            and sentence(lab)[1]["held"] == panel(lab)["consumers"]["c1"]["unacked"] > 0
        )


@pytest.mark.parametrize("algorithm", ["failover", "exclusive"])
def test_nothing_waits_for_a_paused_consumer_that_is_not_active(algorithm):
    lab = lab_of(algorithm, partitions=2)
    run(lab, 3)
    order(lab, "pause", "c3")
    run(lab, 1)
    assert sentence(lab)[0] == "pulsar.paused_standby"


@pytest.mark.parametrize("algorithm", ["auto_split", "shared", "failover", "exclusive"])
def test_a_silent_consumer_holds_what_its_row_shows(algorithm):
    lab = lab_of(algorithm)
    run(lab, 3)
    order(lab, "crash", "c1")
    for _ in range(3):
        run(lab, 1)
        assert (
            sentence(lab)[0].endswith("crash_pending")
            and sentence(lab)[1]["unacked"] == panel(lab)["consumers"]["c1"]["unacked"]
        )


@pytest.mark.parametrize("seconds", [3, 5, 5.03, 6.41])
def test_who_leaves_acknowledges_what_it_has_handled_and_the_rest_is_sent_again(seconds):
    lab = lab_of("shared")
    run(lab, seconds)
    order(lab, "leave", "c1")
    run(lab, 1)
    code, params = sentence(lab)
    assert code == "pulsar.shared.leave"
    assert (
        params["redelivered"]
        == sum(consumer["redelivered"] for consumer in panel(lab)["consumers"].values())
        > 0
    )


@pytest.mark.parametrize("algorithm", ["auto_split", "sticky", "consistent_hash", "shared", "failover"])
def test_nobody_has_left_when_the_subscription_seeks(algorithm):
    lab = lab_of(algorithm)
    run(lab, 4)
    order(lab, "pulsar_seek", "c1", entry=0)
    for _ in range(4):
        run(lab, 0.5)
        assert sentence(lab) == ("pulsar.seek", {"consumer": "c1"})


def test_a_newcomer_waits_for_as_many_as_why_it_is_idle_says():
    lab = lab_of("auto_split", order="recently_joined")
    run(lab, 3)
    order(lab, "pause", "c1")
    order(lab, "join")
    counts = []
    for _ in range(4):
        run(lab, 1)
        code, params = sentence(lab)
        assert (
            code == "pulsar.join_waits"
            and params["unacked"] == panel(lab)["consumers"]["c4"]["idle"]["older"]
        )
        counts.append(params["unacked"])
    assert counts[-1] < counts[0]


@pytest.mark.parametrize(("kind", "who", "taker"), [("join", None, "c4"), ("rejoin", "c1", "c1")])
@pytest.mark.parametrize("later", [0, 0.0005, 4])
def test_who_asked_for_an_exclusive_subscription_while_its_consumer_was_silent_has_it_when_that_one_is_given_up(
    kind, who, taker, later
):
    lab = lab_of("exclusive")
    run(lab, 3)
    order(lab, "crash", "c1")
    run(lab, later)
    order(lab, kind, who)
    run(lab, 70)
    assert sentence(lab) == (
        "pulsar.exclusive.join",
        {"consumer": taker, "count": 1, "active": 12, "partitions": 12},
    )


def test_who_had_asked_before_the_exclusive_consumer_fell_silent_has_the_subscription_when_that_one_is_given_up():
    lab = lab_of("exclusive")
    run(lab, 3)
    order(lab, "join")
    run(lab, 0.0005)
    order(lab, "crash", "c1")
    run(lab, 30)
    assert sentence(lab)[0] == "pulsar.exclusive.join" and sentence(lab)[1]["consumer"] == "c4"


def test_nobody_has_an_exclusive_subscription_whose_consumer_is_given_up_when_nobody_asks_for_it():
    lab = lab_of("exclusive")
    run(lab, 3)
    order(lab, "crash", "c1")
    run(lab, 70)
    assert sentence(lab) == ("pulsar.exclusive.crash_noticed", {"consumer": "c1"})


@pytest.mark.parametrize(
    ("algorithm", "way"),
    [("exclusive", "exclusive"), ("failover", "failover"), ("failover_document", "standby")],
)
def test_what_comes_next_is_what_happens_to_a_newcomer(algorithm, way):
    lab = lab_of(algorithm)
    run(lab, 3)
    assert whole(lab_view(lab))["lanes"]["pulsar"]["hero"] == {"code": "next", "way": way}
    order(lab, "join")
    run(lab, 3)
    assert (panel(lab)["consumers"]["c4"]["refused"] != "") == (way == "exclusive")
    assert (whole(lab_view(lab))["lanes"]["pulsar"]["bill"]["partitions_moved"] > 0) == (way == "failover")


def lane_view(lab):
    return whole(lab_view(lab))["lanes"]["pulsar"]


@pytest.mark.parametrize("algorithm", ["failover", "failover_document", "exclusive"])
def test_the_pause_of_a_crash_is_as_long_as_its_partitions_had_nobody(algorithm):
    lab = lab_of(algorithm)
    run(lab, 5)
    order(lab, "crash", "c1")
    run(lab, 4)
    lane = lane_view(lab)
    assert lane["bill"]["pause_us"] == 4 * SECOND == lab.now_us - lane["hero"]["since_us"]
    paused = [part for part in lane["picture"]["partitions"].values() if part["stopped"]]
    own = [part for part in lane["picture"]["partitions"].values() if part["owner"] == "c1"]
    assert paused == own != []
    run(lab, 66)
    if algorithm == "exclusive":
        assert lane_view(lab)["bill"]["pause_us"] == 70 * SECOND
        order(lab, "join")
        run(lab, 2)
    lane = lane_view(lab)
    dark_us = lab.lanes["pulsar"].ledger.tally.darkness.unit_us_at(lab.now_us)
    assert not any(part["stopped"] for part in lane["picture"]["partitions"].values())
    if algorithm == "failover":
        assert lane["bill"]["pause_us"] == lane["hero"]["until_us"] - lane["hero"]["since_us"] > 50 * SECOND
    else:
        assert lane["bill"]["pause_us"] * len(lane["picture"]["partitions"]) == dark_us


def test_nothing_is_paused_by_a_crash_of_one_who_stands_by():
    lab = lab_of("failover", partitions=2)
    run(lab, 5)
    order(lab, "crash", "c3")
    run(lab, 70)
    assert lane_view(lab)["bill"]["pause_us"] == 0


def test_a_newcomer_that_handles_what_was_given_back_does_not_wait():
    lab = lab_of("auto_split", order="recently_joined", rate=60)
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 20)
    order(lab, "join")
    run(lab, 1)
    assert lane_view(lab)["consumers"]["c4"]["state"] == "waiting"
    order(lab, "leave", "c1")
    worked = 0
    for _ in range(40):
        run(lab, 0.25)
        known = lane_view(lab)["consumers"]["c4"]
        assert known["state"] == ("live" if known["unacked"] else known["state"])
        worked += (
            known["unacked"] > 0
            and lab.lanes["pulsar"].reads.held_back(lab.lanes["pulsar"].consumers["c4"]) > 0
        )
    assert worked


@pytest.mark.parametrize("algorithm", ["auto_split", "shared"])
def test_what_a_leaver_had_goes_to_the_one_other_or_to_several(algorithm):
    lab = lab_of(algorithm)
    run(lab, 5)
    order(lab, "leave", "c1")
    run(lab, 1)
    assert sentence(lab)[1]["several"] == 1
    order(lab, "leave", "c2")
    run(lab, 1)
    assert (sentence(lab)[1]["several"], sentence(lab)[1]["other"]) == (0, "c3")


@pytest.mark.parametrize(
    ("algorithm", "code"), [("auto_split", "pulsar.leave_nothing"), ("shared", "pulsar.shared.leave_nothing")]
)
def test_one_that_held_nothing_gives_nothing_back(algorithm, code):
    lab = lab_of(algorithm, rate=1)
    run(lab, 5.5)
    order(lab, "leave", "c1")
    run(lab, 1)
    assert sentence(lab)[0] == code and lane_view(lab)["bill"]["redelivered"] == 0
