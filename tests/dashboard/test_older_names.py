"""`rig`, the older name of a lane: in requests and links of then, and in the rows of a site that is upgraded."""

import json
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client

from dashboard.labs import services
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredEvent, StoredView, Study, StudyWindow
from tests.dashboard.test_api import post
from tests.dashboard.test_damaged_rows import DAMAGE, damage
from tests.dashboard.world import World

migration = import_module("dashboard.migrations.0012_lanes")
pytestmark = pytest.mark.django_db


def test_a_request_may_have_it_and_what_comes_back_has_todays() -> None:
    made = [
        post("/api/labs/", {name: [{"model": "kafka", "partitions": 2}]}).json() for name in ("lanes", "rigs")
    ]
    assert [Lab.objects.get(pk=lab["id"]).scenario["lanes"][0]["partitions"] for lab in made] == [2, 2]
    assert "lanes" in made[1] and "rigs" not in made[1]
    for name in ("lanes", "rigs"):
        refused = post("/api/labs/", {name: [{"model": "kafka", "partitions": 0}]})
        assert list(refused.json()["fields"]) == ["lanes.0.partitions"]
        assert list(post("/api/labs/", {"scenario": {name: 7}}).json()["fields"]) == ["lanes"]
    opened = services.lab_open(request={"lanes": [{"model": "kafka"}]})
    path, token = f"/api/labs/{opened.lab.pk}/commands/", opened.owner_token
    for name in ("lane", "rig"):
        answer = post(path, {"command_id": name, "kind": "join", name: "nowhere here"}, token)
        assert (answer.status_code, list(answer.json()["fields"])) == (400, ["lane"])
        assert post(path, {"command_id": name, "kind": "join", name: "kafka"}, token).status_code == 202
    assert [row.body["lane"] for row in StoredCommand.objects.filter(command_id__in=("lane", "rig"))] == [
        "kafka"
    ] * 2
    both = post(path, {"command_id": "x", "kind": "join", "lane": "kafka", "rig": "kafka"}, token)
    assert (both.status_code, list(both.json()["fields"])) == (400, ["lane"])


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("/lab/x/pulsar/?rig=second", "/lab/x/pulsar/?lane=second"),
        ("/lab/x/kafka/log/?rig=a%20b&partition=3", "/lab/x/kafka/log/?partition=3&lane=a+b"),
        ("/api/labs/x/pulsar/key/?key=k&rig=second", "/api/labs/x/pulsar/key/?key=k&lane=second"),
        ("/lab/x/pulsar/?lane=one&rig=two", "/lab/x/pulsar/?lane=one"),
    ],
)
def test_a_link_of_then_leads_to_the_lane(client: Client, address: str, leads_to: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer["Location"]) == (301, leads_to)
    assert client.get("/lab/x/?bright=1&lane=y").status_code == 404, "no other address is touched"


def older(value: Any) -> Any:
    """JSON as it was stored then. The lab in this test names nothing else so."""
    if isinstance(value, list):
        return [older(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {migration.BACK.get(name, name): older(each) for name, each in value.items()}


def as_of_then() -> Any:
    return MigrationLoader(connection).project_state(("dashboard", "0012_lanes")).apps


def rows_of(lab: Lab) -> dict[str, Any]:
    row = Lab.objects.get(pk=lab.pk)
    return {
        "scenario": row.scenario,
        "script": row.script,
        "commands": list(
            StoredCommand.objects.filter(lab=lab).order_by("position").values_list("body", "fields")
        ),
        "events": list(StoredEvent.objects.filter(lab=lab).order_by("seq").values_list("event", flat=True)),
        "view": json.loads(StoredView.objects.get(pk=lab.pk).text),
    }


def upgraded_from_then(lab: Lab) -> None:
    """Write the rows of the lab as they were, and upgrade."""
    Lab.objects.filter(pk=lab.pk).update(scenario=older(lab.scenario), script=older(lab.script))
    for row in StoredCommand.objects.filter(lab=lab):
        StoredCommand.objects.filter(pk=row.pk).update(body=older(row.body), fields=older(row.fields))
    for event in StoredEvent.objects.filter(lab=lab):
        StoredEvent.objects.filter(pk=event.pk).update(event=older(event.event))
    view = StoredView.objects.get(pk=lab.pk)
    StoredView.objects.filter(pk=lab.pk).update(text=json.dumps(older(json.loads(view.text))))


def lived(world: World) -> Lab:
    """A lab of two lanes with orders for all, for one, one that the worker refuses, and a script."""
    lab = world.open(lanes=[{"model": "pulsar"}, {"model": "tubemq"}], workload={"rate": 100})
    Lab.objects.filter(pk=lab.pk).update(
        script=[
            {"at_us": 10**12, "body": {"command_id": "study:1", "kind": "join", "lane": "all", "args": {}}}
        ]
    )
    world.run(1)
    world.order(lab, "crash", consumer="c1", lane="tubemq")
    world.order(lab, "leave", consumer="c1", lane="tubemq")
    world.run(2)
    StoredCommand.objects.filter(lab=lab, body__kind="leave").update(fields={"lane": ["no"]})
    return Lab.objects.get(pk=lab.pk)


def test_an_upgrade_renames_it_in_every_row_and_the_lab_goes_on(world: World, client: Client) -> None:
    lab = lived(world)
    before = rows_of(lab)
    assert before["script"] and any(event["lane"] == "tubemq" for event in before["events"])
    assert any(lane["why"] for lane in before["view"]["lanes"].values())
    upgraded_from_then(lab)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM dashboard_storedevent WHERE CAST(event AS text) LIKE '%%\"rig\"%%'"
        )
        assert cursor.fetchone()[0] == len(before["events"])
    migration.rename(as_of_then(), migration.RENAMED)
    assert rows_of(lab) == before and not Checkpoint.objects.exists()
    Lab.objects.update(lease_owner="", lease_until_ms=0)
    world.shard = world.shard_new()
    world.run(3)
    assert Lab.objects.get(pk=lab.pk).status == Lab.Status.RUNNING
    assert client.get(f"/lab/{lab.pk}/pulsar/?lane=pulsar").status_code == 200


def test_and_takes_it_back(world: World) -> None:
    lab = lived(world)
    before = rows_of(lab)
    migration.rename(as_of_then(), migration.BACK)
    assert '"rigs"' in StoredView.objects.get(pk=lab.pk).text
    migration.rename(as_of_then(), migration.RENAMED)
    assert rows_of(lab) == before


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such value")
def test_a_damaged_row_stays_that_rows_alone(world: World, how: str) -> None:
    lab, other = lived(world), world.open(lanes=[{"model": "tubemq"}])
    world.run(1)
    before = rows_of(other)
    upgraded_from_then(other)
    for column, (table, key) in {
        "scenario": ("dashboard_lab", "id"),
        "text": ("dashboard_storedview", "lab_id"),
    }.items():
        damage(table, key, lab.pk, column, how)
    migration.rename(as_of_then(), migration.RENAMED)
    assert rows_of(other) == before


def test_the_windows_of_a_live_study_are_renamed() -> None:
    study = Study.objects.create(name="x", live=True, request={}, owner_hash="x")
    StudyWindow.objects.create(
        study=study, start_us=1, lane="kafka", version=1, row={"rig": "kafka", "lag": 2}
    )
    migration.rename(as_of_then(), migration.RENAMED)
    assert StudyWindow.objects.get().row == {"lane": "kafka", "lag": 2}
