"""What is read of labs, row by row: whose lists, which commands, what a copy of the demo is, and which moment
a link names."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.http import QueryDict

from broker_core.lab.facts import LabFacts, facts_text
from broker_core.lab.limits import Limits
from dashboard import access
from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.labs.moment import Moment, moment_in, moment_of
from dashboard.models import Lab, StoredCommand, StoredEvent, StoredView

pytestmark = pytest.mark.django_db
VISITOR, OTHER = "visitor-" + "v" * 20, "other-" + "o" * 20
SCENARIO: dict[str, Any] = {
    "name": "demo",
    "seed": 7,
    "workload": {"kind": "flights"},
    "lanes": [{"id": "kafka"}, {"id": "second"}],
}


def lab_row(lab_id: str, visitor: str | None = None, age_s: int = 0, **columns: Any) -> Lab:
    made = datetime.fromtimestamp(1_700_000_000 - age_s, UTC)
    owner = {"visitor_hash": access.token_hash(visitor)} if visitor else {}
    return Lab.objects.create(
        **{"id": lab_id, "scenario": SCENARIO, "owner_hash": "", "shard": 0, "created_at": made}
        | owner
        | columns
    )


# -- lists ---------------------------------------------------------------------------------------------------


def test_a_visitor_sees_its_own_labs_newest_first_and_everybody_the_demo() -> None:
    for name, visitor, age_s in (
        ("old", VISITOR, 50),
        ("new", VISITOR, 5),
        ("theirs", OTHER, 1),
        ("nobodys", None, 1),
    ):
        lab_row(name, visitor, age_s)
    lab_row("the-demo", slug="demo")
    lab_row("gone", VISITOR, deleted_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert [row["id"] for row in selectors.lab_list(visitor=VISITOR)] == ["new", "old"]
    assert [row["id"] for row in selectors.lab_list(visitor=VISITOR, limit=1)] == ["new"]
    assert [row["id"] for row in selectors.lab_list()] == ["the-demo"]
    assert selectors.lab_list(visitor="nobody-" + "n" * 20) == []


def test_a_list_says_how_far_each_lab_is_without_reading_its_view() -> None:
    for name in ("seen", "unseen"):
        lab_row(name, VISITOR)
    StoredView.objects.create(lab_id="seen", epoch=0, seq=1, at_us=5_000, text="no JSON at all")
    assert {row["id"]: row["at_us"] for row in selectors.lab_list(visitor=VISITOR)} == {
        "seen": 5_000,
        "unseen": 0,
    }


def test_a_list_says_which_labs_somebody_has_paused(client) -> None:
    states = {"plays": (True, "running"), "stands": (False, "running"), "rests": (False, "idle")}
    for name, (is_playing, status) in states.items():
        lab_row(name, VISITOR, status=status)
        facts = facts_text(LabFacts({}, is_playing, Limits()))
        StoredView.objects.create(lab_id=name, epoch=0, seq=1, at_us=0, text="{}", facts=facts)
    assert {row["id"]: row["is_playing"] for row in selectors.lab_list(visitor=VISITOR)} == {
        "plays": True, "stands": False, "rests": False,
    }  # fmt: skip
    client.cookies[settings.VISITOR_COOKIE] = VISITOR
    page = client.get("/labs/").content.decode()
    assert [page.count(f'data-say="labs.{state}"') for state in ("running", "paused", "idle")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "made_as", "shown"),
    [
        ("", "demo", ""),
        ("", "rush hour", "rush hour"),
        ("mine", "demo", "mine"),
        ("mine", "rush hour", "mine"),
    ],
)
def test_a_lab_is_called_as_its_owner_calls_it_else_as_it_was_made(
    name: str, made_as: str, shown: str
) -> None:
    lab = lab_row("x", name=name, scenario={**SCENARIO, "name": made_as})
    assert selectors.lab_name(lab) == selectors.lab_meta(lab=lab)["name"] == shown


def test_what_a_lab_is_names_its_lanes_and_parent_and_no_secret() -> None:
    parent = lab_row("parent")
    meta = selectors.lab_meta(
        lab=lab_row("child", VISITOR, parent=parent, position=4, status="failed", failed_reason="why")
    )
    assert (meta["lanes"], meta["parent"], meta["position"]) == (["kafka", "second"], "parent", 4)
    assert (meta["status"], meta["failed_reason"]) == ("failed", "why")
    assert meta["created_at"] == "2023-11-14T22:13:20+00:00" and not [
        name for name in meta if "hash" in name or "lease" in name
    ]


# -- which labs there are ------------------------------------------------------------------------------------


def test_a_deleted_lab_is_not_there() -> None:
    lab_row("here")
    lab_row("gone", deleted_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert selectors.labs_there(lab_ids=["here", "gone", "never"]) == {"here"}
    assert [selectors.lab_exists(lab_id=name) for name in ("here", "gone", "never")] == [True, False, False]
    for name in ("gone", "never"):
        with pytest.raises(Refused) as refused:
            selectors.lab_get(lab_id=name)
        assert (refused.value.status, list(refused.value.fields)) == (404, ["lab"])


def test_a_lab_has_stopped_when_it_failed_and_says_why() -> None:
    lab_row("runs", failed_reason="an old one")
    lab_row("failed", status="failed", failed_reason="KeyError: 'c1'")
    assert [selectors.lab_stopped(lab_id=name) for name in ("runs", "failed", "never")] == [
        "",
        "KeyError: 'c1'",
        "",
    ]
    refused = selectors.lab_has_stopped("KeyError")
    assert (refused.status, refused.fields) == (409, {"lab": ["this lab has stopped: KeyError"]})


@pytest.mark.parametrize(
    ("changes", "is_fresh"),
    [
        ({}, True),
        ({"position": 3}, False),
        ({"scenario": {**SCENARIO, "seed": 8}}, False),
        ({"parent": None}, False),
    ],
)
def test_a_copy_of_the_demo_is_fresh_until_somebody_orders_something(
    changes: dict[str, Any], is_fresh: bool
) -> None:
    demo = lab_row("the-demo", slug="demo", position=2)
    assert (
        selectors.is_fresh_demo(lab=lab_row("copy", **{"parent": demo, "position": 2} | changes)) == is_fresh
    )


def test_a_copy_of_another_lab_is_no_demo() -> None:
    other = lab_row("other", slug="retired", position=2)
    assert not selectors.is_fresh_demo(lab=lab_row("copy", parent=other, position=2))


# -- journal and turning points ------------------------------------------------------------------------------


def order(lab: Lab, position: int, state: str, at_us: int | None) -> None:
    StoredCommand.objects.create(
        lab=lab, command_id=f"c{position}", position=position, state=state, at_us=at_us, body={"kind": "join"}
    )


def test_a_journal_is_what_was_applied_in_order() -> None:
    lab = lab_row("x")
    for position, state, at_us in (
        (3, "applied", 30),
        (1, "applied", 10),
        (2, "refused", 20),
        (4, "accepted", None),
    ):
        order(lab, position, state, at_us)
    assert selectors.journal(lab=lab) == {
        "rules": selectors.rules_of(lab=lab),
        "scenario": SCENARIO,
        "commands": [
            {"kind": "join", "position": 1, "at_us": 10},
            {"kind": "join", "position": 3, "at_us": 30},
        ],
    }


def test_turning_points_are_those_after_a_place_of_this_lab() -> None:
    labs = [lab_row(name) for name in ("x", "y")]
    StoredEvent.objects.bulk_create(
        StoredEvent(lab=lab, seq=seq, at_us=0, event={lab.pk: seq}) for lab in labs for seq in (2, 3, 1)
    )
    assert selectors.events_since(lab_id="x", seq=1) == [{"x": 2}, {"x": 3}]
    assert (
        selectors.events_since(lab_id="x", seq=0, limit=1) == [{"x": 1}]
        and selectors.events_since(lab_id="x", seq=3) == []
    )


# -- a moment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "moment"),
    [
        ("", {}),
        ("lang=en&lane=kafka", {}),
        ("at_us=83250000&position=5&speed=4", {"at_us": 83_250_000, "position": 5, "speed": 4}),
        ("speed=0.5", {"speed": 0.5}),
        ("until_us=5", {}),  # a program's word, not a link's
        ("at_us=-5&position=1e3&speed=.5", {"at_us": "-5", "position": "1e3", "speed": ".5"}),
        ("at_us=" + "9" * 15, {"at_us": 10**15 - 1}),
        ("at_us=" + "9" * 16, {"at_us": "9" * 16}),
        ("at_us=²&speed=1.²", {"at_us": "²", "speed": "1.²"}),
        ("at_us=&speed=1.", {"at_us": "", "speed": "1."}),
    ],
)
def test_a_link_names_a_moment_by_numbers_and_garbage_stays_text(query: str, moment: dict[str, Any]) -> None:
    assert moment_in(QueryDict(query)) == moment


@pytest.fixture
def lab() -> Lab:
    """At 9 s, with three changes of which the last still waits."""
    lab = lab_row("x", clock_floor_us=9_000_000, position=3)
    order(lab, 1, "applied", 0)
    order(lab, 2, "refused", 4_000_000)
    order(lab, 3, "accepted", None)
    return lab


@pytest.mark.parametrize(
    ("request_", "moment"),
    [
        ({"at_us": 0}, Moment(0, None, None)),
        ({"at_us": 9_000_000, "position": 2, "speed": 4}, Moment(9_000_000, 2, 4.0)),
        ({"until_us": 5}, Moment(5, None, None)),
        ({"until_position": 2}, Moment(None, 2, None)),
        ({"until_us": 5, "until_position": 0, "speed": 0.5}, Moment(5, 0, 0.5)),
    ],
)
def test_a_moment_is_a_time_or_a_change_that_the_lab_has_come_to(
    lab: Lab, request_: Any, moment: Moment
) -> None:
    assert moment_of(lab, request_) == moment


@pytest.mark.parametrize(
    ("request_", "field", "reason"),
    [
        ({"at_us": 9_100_000}, "at_us", "the lab has not come that far: it is at 0:09.0, not yet at 0:09.1"),
        (
            {"until_us": 9_000_001},
            "until_us",
            (
                "the lab has not come that far: it is at 9\u202f000\u202f000 µs, not yet at "
                "9\u202f000\u202f001 µs"
            ),
        ),
        (
            {"until_us": 61_000_000},
            "until_us",
            "the lab has not come that far: it is at 0:09.0, not yet at 1:01.0",
        ),
        ({"until_position": 3}, "until_position", "change 3 has not been made yet"),
        ({"at_us": 1, "position": 4_000}, "position", "change 4\u202f000 has not been made yet"),
        ({"position": 2}, "at_us", "must be a whole number of 0 or more"),
        ({"at_us": 1.0}, "at_us", "must be a whole number of 0 or more"),
        ({"at_us": True}, "at_us", "must be a whole number of 0 or more"),
        ({"until_position": 10**15}, "until_position", "must be a whole number of 0 or more"),
        ({"until_us": 1, "at_us": 1}, "at_us", "is unknown"),
        ({"until_us": 1, "position": 1}, "position", "is unknown"),
        ({"at_us": 1, "seed": 1}, "seed", "is unknown"),
    ],
)
def test_what_is_no_moment_of_the_lab_is_refused_at_the_callers_own_field(
    lab: Lab, request_: Any, field: str, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        moment_of(lab, request_)
    assert (refused.value.status, refused.value.fields) == (400, {field: [reason]})


@pytest.mark.parametrize("speed", [0, 21, -1, "fast", None, True])
def test_a_speed_is_refused_as_the_order_itself_would_be(lab: Lab, speed: Any) -> None:
    with pytest.raises(Refused) as refused:
        moment_of(lab, {"at_us": 0, "speed": speed})
    assert (refused.value.status, list(refused.value.fields)) == (400, ["speed"])
