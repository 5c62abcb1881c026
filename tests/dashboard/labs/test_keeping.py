"""A lab's name, its deletion and the undo: whose right it is, what runs on, what is left."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard import access
from dashboard.errors import Refused
from dashboard.labs import keeping, selectors, services
from dashboard.logs.places import write_json
from dashboard.models import Lab, StoredCommand, StoredEvent
from tests.dashboard.world import OWNER, World

pytestmark = pytest.mark.django_db

VISITOR, OTHER = "v" * 20, "w" * 20


def mine(**request: Any) -> Lab:
    return services.lab_open(request=request, visitor=VISITOR).lab


def age(lab: Lab, seconds: float) -> None:
    Lab.everything.filter(pk=lab.pk).update(deleted_at=timezone.now() - timedelta(seconds=seconds))


def test_a_lab_has_the_name_that_it_is_made_with_and_else_none() -> None:
    assert selectors.lab_meta(lab=mine(name=" Rush hour "))["name"] == "Rush hour"
    assert selectors.lab_meta(lab=mine(name="demo"))["name"] == "demo"
    assert selectors.lab_meta(lab=mine())["name"] == ""


def test_a_new_name_leaves_the_journal_and_its_scenario_alone() -> None:
    lab = mine(name="first")
    before = selectors.journal(lab=lab)
    renamed = keeping.lab_rename(lab_id=lab.pk, request={"name": " 高峰 "}, visitor=VISITOR)
    assert selectors.lab_meta(lab=renamed)["name"] == "高峰"
    assert selectors.journal(lab=selectors.lab_get(lab_id=lab.pk)) == before


def test_a_copy_has_the_name_of_its_original() -> None:
    lab = mine(name="first")
    keeping.lab_rename(lab_id=lab.pk, request={"name": "second"}, visitor=VISITOR)
    copy = services.lab_fork(lab_id=lab.pk, visitor=OTHER).lab
    assert (
        selectors.lab_meta(lab=copy)["name"]
        == selectors.lab_meta(lab=selectors.lab_get(lab_id=copy.pk))["name"]
        == "second"
    )


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\nb", "a\x00b", "\u202eabc", 7, None, ["a"]])
def test_a_wrong_name_is_refused_at_its_field(name: Any) -> None:
    lab = mine(name="first")
    with pytest.raises(Refused) as refused:
        keeping.lab_rename(lab_id=lab.pk, request={"name": name}, visitor=VISITOR)
    assert refused.value.status == 400 and list(refused.value.fields) == ["name"]
    assert selectors.lab_get(lab_id=lab.pk).name == "first"


@pytest.mark.parametrize(
    "rights", [{}, {"visitor": OTHER}, {"bearer": "wrong"}, {"bearer": "wrong", "visitor": VISITOR}]
)
def test_somebody_elses_lab_is_neither_renamed_nor_deleted_nor_brought_back(rights: dict[str, str]) -> None:
    lab, demo = mine(name="first"), selectors.lab_get(lab_id=services.demo_lab_ensure())
    for row in (lab, demo):
        for forbidden in (lambda row=row: keeping.lab_rename(lab_id=row.pk, request={"name": "x"}, **rights),
                          lambda row=row: keeping.lab_delete(lab_id=row.pk, **rights)):  # fmt: skip
            with pytest.raises(Refused) as refused:
                forbidden()
            assert refused.value.status == 403
    keeping.lab_delete(lab_id=lab.pk, visitor=VISITOR)
    with pytest.raises(Refused) as refused:
        keeping.lab_restore(lab_id=lab.pk, **rights)
    assert refused.value.status == 403
    assert {row.name for row in Lab.everything.all()} == {"first", ""}


def test_a_deleted_lab_is_found_by_nobody_and_comes_back_whole() -> None:
    lab = mine(name="first")
    before = selectors.lab_meta(lab=selectors.lab_get(lab_id=lab.pk))
    keeping.lab_delete(lab_id=lab.pk, visitor=VISITOR)
    for gone in (
        lambda: selectors.lab_get(lab_id=lab.pk),
        lambda: selectors.command_get(lab_id=lab.pk, command_id="lab:open"),
        lambda: services.lab_submit(
            lab_id=lab.pk, request={"command_id": "x", "kind": "join"}, visitor=VISITOR
        ),
        lambda: services.lab_fork(lab_id=lab.pk, visitor=VISITOR),
        lambda: keeping.lab_delete(lab_id=lab.pk, visitor=VISITOR),
    ):
        with pytest.raises(Refused) as refused:
            gone()
        assert refused.value.status == 404
    assert selectors.lab_list(visitor=VISITOR) == [] and not selectors.lab_exists(lab_id=lab.pk)
    restored = keeping.lab_restore(lab_id=lab.pk, visitor=VISITOR)
    assert selectors.lab_meta(lab=restored) == before
    assert keeping.lab_restore(lab_id=lab.pk, visitor=VISITOR).pk == lab.pk, "asked twice, done once"


def test_after_the_undo_a_lab_is_really_gone(settings: Any, tmp_path: Path) -> None:
    settings.RUN_DIR = tmp_path
    lab, other = mine(name="first"), mine(name="other")
    keeping.lab_delete(lab_id=lab.pk, visitor=VISITOR)
    files = [Path(settings.RUN_DIR) / "comparisons" / each.pk / "kafka.json" for each in (lab, other)]
    for file in files:
        file.parent.mkdir(parents=True)
        write_json(file, {"state": "done"})
    assert keeping.labs_purge() == 0
    age(lab, settings.LAB_UNDO_S + 1)
    with pytest.raises(Refused) as refused:
        keeping.lab_restore(lab_id=lab.pk, visitor=VISITOR)
    assert refused.value.status == 404
    assert keeping.labs_purge() == 1
    assert [row.pk for row in Lab.everything.all()] == [other.pk]
    assert [file.exists() for file in files] == [False, True], "what was compared goes with its lab"
    assert (
        not StoredCommand.objects.filter(lab_id=lab.pk).exists()
        and not StoredEvent.objects.filter(lab_id=lab.pk).exists()
    )


def test_a_copy_outlives_its_original(settings: Any) -> None:
    lab = mine(name="first")
    copy = services.lab_fork(lab_id=lab.pk, visitor=OTHER).lab
    keeping.lab_delete(lab_id=lab.pk, visitor=VISITOR)
    age(lab, settings.LAB_UNDO_S + 1)
    keeping.labs_purge()
    assert selectors.lab_get(lab_id=copy.pk).parent_id is None


def test_a_deleted_lab_does_not_run_and_goes_on_where_it_was(world: World) -> None:
    lab, other = world.open(), world.open()
    world.run(1.0)
    world.order(lab, kind="join")
    keeping.lab_delete(lab_id=lab.pk, visitor=OWNER)
    at_us = selectors.lab_snapshot(lab_id=lab.pk)["at_us"]
    world.run(3.0)
    assert lab.pk not in world.shard.drivers and other.pk in world.shard.drivers
    assert selectors.lab_snapshot(lab_id=lab.pk)["at_us"] == at_us
    keeping.lab_restore(lab_id=lab.pk, visitor=OWNER)
    world.run(3.0)
    assert lab.pk in world.shard.drivers
    assert selectors.lab_snapshot(lab_id=lab.pk)["at_us"] > at_us
    assert StoredCommand.objects.get(lab=lab, body__kind="join").state == "applied"


def test_a_purged_lab_does_not_run_either(world: World, settings: Any) -> None:
    lab = world.open()
    world.order(lab, kind="join")
    world.run(1.0)
    keeping.lab_delete(lab_id=lab.pk, visitor=OWNER)
    age(lab, settings.LAB_UNDO_S + 1)
    keeping.labs_purge()
    world.run(2.0)
    assert world.shard.drivers == {}


def test_a_program_names_deletes_and_takes_back_its_lab(settings: Any) -> None:
    client = Client()
    opened = client.post("/api/labs/", {"name": "first"}, content_type="application/json").json()
    bearer, url = {"authorization": f"Bearer {opened['owner_token']}"}, f"/api/labs/{opened['id']}/"
    assert opened["name"] == "first"
    renamed = client.patch(url, {"name": "second"}, content_type="application/json", headers=bearer)
    assert (renamed.status_code, renamed.json()["name"]) == (200, "second")
    refused = client.patch(
        url, {"name": "second", "seed": 5}, content_type="application/json", headers=bearer
    )
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["seed"])
    assert client.delete(url).status_code == 403
    deleted = client.delete(url, headers=bearer)
    assert (deleted.status_code, deleted.json()) == (200, {"id": opened["id"], "undo_s": settings.LAB_UNDO_S})
    assert client.get(url).status_code == client.get(f"/lab/{opened['id']}/").status_code == 404
    assert client.post(f"{url}restore/", headers=bearer).json()["name"] == "second"
    assert client.get(url).json()["name"] == "second"
    assert client.put(url).status_code == 405


def test_a_browser_needs_its_csrf_token_to_delete() -> None:
    lab = mine(name="first")
    client = Client(enforce_csrf_checks=True)
    client.cookies["highwater_visitor"] = VISITOR
    assert client.delete(f"/api/labs/{lab.pk}/").json()["fields"].keys() == {"csrf"}
    assert access.is_owner(selectors.lab_get(lab_id=lab.pk), bearer=None, visitor=VISITOR)


def test_lab_is_of_the_browser_that_has_its_token() -> None:
    opened = services.lab_open(request={"lanes": [{"model": "rabbitmq"}]})
    for given in ({}, {"visitor": "a-visitor-without-the-token"}, {"bearer": "another-token-altogether"}):
        with pytest.raises(Refused) as refused:
            keeping.lab_own(lab_id=opened.lab.pk, **given)
        assert refused.value.status == 403
    with pytest.raises(Refused):
        keeping.lab_own(lab_id=opened.lab.pk, bearer=opened.owner_token)
    keeping.lab_own(lab_id=opened.lab.pk, bearer=opened.owner_token, visitor="the-one-who-opens-the-link")
    lab = Lab.objects.get(pk=opened.lab.pk)
    assert access.is_owner(lab, bearer=None, visitor="the-one-who-opens-the-link")
