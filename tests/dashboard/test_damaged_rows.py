"""A column of a row that is cut, overwritten or of another shape: its lab or study stops alone, with its
reason, and reading it is no 500."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from dashboard import access
from dashboard.labs import selectors, services, writes
from dashboard.models import DEMO_SLUG, Checkpoint, Lab, StoredCommand, StoredView, Study
from dashboard.stored import Damaged
from tests.dashboard.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such value"),
]
VISITOR = "v" * 32
DAMAGE = {
    "cut": "substr({column}, 1, length({column}) - 3)",
    "empty": "''",
    "no JSON": "'{{not JSON'",
    "no UTF-8": "CAST(x'7b22ff' AS TEXT)",
    "bytes": "x'00ff00'",
    "a number": "7",
    "another shape": "'7'",
    "null": "'null'",
    "deep": "replace(hex(zeroblob(50000)), '00', '[')",
}
LAB_COLUMNS = {
    "scenario": ("dashboard_lab", "id"),
    "script": ("dashboard_lab", "id"),
    "body": ("dashboard_storedcommand", "lab_id"),
    "fields": ("dashboard_storedcommand", "lab_id"),
    "event": ("dashboard_storedevent", "lab_id"),
    "text": ("dashboard_storedview", "lab_id"),
    "state": ("dashboard_checkpoint", "lab_id"),
}


def damage(table: str, key: str, row: str, column: str, how: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(
            f"UPDATE {table} SET {column} = {DAMAGE[how].format(column=column)} WHERE {key} = %s".replace(
                "%%", "%"
            ),
            [row],
        )
        cursor.execute("PRAGMA ignore_check_constraints = OFF")


def client() -> Client:
    found = Client(raise_request_exception=False)
    found.cookies["highwater_visitor"] = VISITOR
    return found


def two_labs(world: World) -> tuple[Lab, Lab]:
    """One to be damaged, one beside it; both the visitor's, driven for a moment, with a command, and
    resting."""
    labs = [
        services.lab_open(
            request={"lanes": [{"model": "rabbitmq"}, {"model": "kafka", "brokers": 1}], "seed": seed},
            visitor=VISITOR,
        ).lab
        for seed in (1, 2)
    ]
    world.run(3)
    for lab in labs:
        services.lab_submit(
            lab_id=lab.pk,
            request={"command_id": "mine", "kind": "join", "args": {"count": 1}},
            visitor=VISITOR,
        )
    world.run(3)
    for driver in list(world.shard.drivers.values()):
        world.shard._rest(driver)
    return labs[0], labs[1]


def reads(lab: Lab) -> list[str]:
    api, page = f"/api/labs/{lab.pk}/", f"/lab/{lab.pk}/"
    return [
        api,
        f"{api}snapshot/",
        f"{api}journal/",
        f"{api}events/",
        f"{api}commands/mine/",
        f"{api}kafka/log/",
        f"{api}kafka/comparison/kafka/",
        page,
        f"{page}kafka/log",
        f"{page}kafka/cluster/",
        f"{page}kafka/groups/",
        f"{page}?at_us=1000",
        "/",
        "/labs/",
        "/analyze/",
    ]


CASES = [
    (column, how)
    for place, column in enumerate(LAB_COLUMNS)
    for number, how in enumerate(DAMAGE)
    if how == "cut" or (place + number) % 4 == 0
]
"""Each column cut, and each kind of damage in one column or two: a case takes a second."""


@pytest.mark.parametrize(("column", "how"), CASES)
def test_a_damaged_column_is_its_labs_alone(world: World, column: str, how: str) -> None:
    broken, sound = two_labs(world)
    table, key = LAB_COLUMNS[column]
    damage(table, key, broken.pk, column, how)
    for path in reads(broken):
        answer = client().get(path)
        is_made_again = answer.status_code == 503 and column == "text"
        assert answer.status_code < 500 or is_made_again, (path, answer.content[:300])
        if answer.status_code == 409 and path.startswith("/api/"):
            assert list(answer.json()["fields"]), path
    assert [client().get(path).status_code for path in reads(sound)[:5]] == [200] * 5
    for path in (f"/api/labs/{broken.pk}/fork/", f"/api/labs/{broken.pk}/commands/"):
        body = {"command_id": "next", "kind": "join"} if "commands" in path else {}
        answer = client().post(path, json.dumps(body), content_type="application/json")
        assert answer.status_code < 500, (path, answer.content[:300])
    services.lab_watched(lab_ids=[broken.pk, sound.pk], wake=True)
    Checkpoint.objects.filter(lab=broken).delete() if column == "body" else None
    before_us = StoredView.objects.get(pk=sound.pk).at_us
    world.run(4)
    assert StoredView.objects.get(pk=sound.pk).at_us > before_us + 1_000_000, "the neighbour goes on"
    status, reason = Lab.objects.filter(pk=broken.pk).values_list("status", "failed_reason").get()
    if column in ("scenario", "script", "body"):
        assert status == Lab.Status.FAILED and reason
        assert "damaged" in reason or "Error" in reason
    else:
        assert (status, reason) == (Lab.Status.RUNNING, ""), (
            "a view, a checkpoint, an event are made again or only told"
        )
        assert selectors.lab_snapshot(lab_id=broken.pk) is not None
    assert client().get(f"/lab/{broken.pk}/").status_code == 200
    listed = client().get("/labs/")
    assert listed.status_code == 200 and broken.pk in listed.content.decode()
    assert client().delete(f"/api/labs/{broken.pk}/").status_code == 200


def test_a_damaged_demo_makes_room_for_a_new_one(world: World) -> None:
    demo = services.demo_lab_ensure()
    world.run(6)
    damage("dashboard_lab", "id", demo, "scenario", "cut")
    assert Client().get("/").status_code in (200, 503)
    assert services.demo_lab_ensure() != demo
    assert Lab.objects.get(slug=DEMO_SLUG).pk != demo


@pytest.mark.parametrize(
    ("column", "how"),
    [("request", how) for how in DAMAGE]
    + [(column, how) for column in ("progress", "error") for how in ("cut", "another shape", "null")],
)
def test_a_damaged_study_is_listed_and_can_be_deleted(column: str, how: str) -> None:
    owner = access.token_hash(VISITOR)
    request = {
        "source": {"kind": "uniform", "keys": 3, "records": 10},
        "strategies": ["kafka.range"],
        "topic": "t",
    }
    rows = [
        Study.objects.create(
            name=name,
            request=request,
            owner_hash=owner,
            state=Study.State.FAILED,
            error={"template": "x", "values": {}},
        )
        for name in ("broken", "sound")
    ]
    damage("dashboard_study", "id", rows[0].pk, column, how)
    for path in (
        "/api/studies/",
        "/analyze/",
        f"/api/studies/{rows[0].pk}/",
        f"/analyze/{rows[0].pk}/",
        f"/analyze/?from={rows[0].pk}",
    ):
        answer = client().get(path)
        assert answer.status_code < 500, (path, answer.content[:400])
    listed = client().get("/api/studies/").json()["studies"]
    assert {study["name"] for study in listed} == {"broken", "sound"}
    csrf = client().get("/analyze/").cookies["csrftoken"].value
    remover = client()
    remover.cookies["csrftoken"] = csrf
    assert remover.delete(f"/api/studies/{rows[0].pk}/", headers={"x-csrftoken": csrf}).status_code == 204
    assert Study.objects.get().name == "sound"


def test_what_is_damaged_is_refused_whatever_is_asked_of_it() -> None:
    broken = Damaged("lab", "script")
    asked: list[Any] = [
        lambda: broken["a"],
        lambda: {**broken},
        lambda: list(broken),
        lambda: bool(broken),
        lambda: "a" in broken,
        lambda: broken.get("a"),
        lambda: len(broken),
        broken.items,
    ]
    for ask in asked:
        with pytest.raises(Exception, match="its script is damaged"):
            ask()
    assert writes.state_of(None) is None
    assert StoredCommand._meta.get_field("body").deconstruct()[1] == "django.db.models.JSONField"
