"""Labs that were stored before every Kafka lane ran on a cluster replay on a cluster of one."""

from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client

from broker_core.lab import checkpoint
from broker_core.lab.journal import Journal
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from dashboard.models import Checkpoint, Lab
from tests.dashboard.world import World

MARKED, RENAMED = "0006_labs_before_the_cluster", "0012_lanes"
migration, renaming = (import_module(f"dashboard.migrations.{name}") for name in (MARKED, RENAMED))
OLD = {"id": "kafka", "model": "kafka", "algorithm": "range", "topic": "flights", "partitions": 4}


def stored(*lanes: dict, **columns: object) -> Lab:
    """As it was stored then, when a lane had its older name."""
    scenario = scenario_to_json(scenario_from_json({"lanes": [{"model": "pulsar"}]}))
    del scenario["lanes"]
    return Lab.objects.create(
        scenario={**scenario, "rigs": [dict(lane) for lane in lanes]}, owner_hash="x", **columns
    )


def as_of(name: str) -> Any:
    """The models as they were at a migration."""
    return MigrationLoader(connection).project_state(("dashboard", name)).apps


@pytest.mark.django_db
def test_a_lab_from_before_the_cluster_has_one_broker_and_one_on_a_cluster_its_own():
    old, new = (
        stored(OLD, slug="demo"),
        stored(OLD | {"brokers": 3}, {"id": "t", "model": "tubemq", "algorithm": "modulo", "topic": "t"}),
    )
    migration.mark_all(as_of(MARKED), None)
    renaming.rename(as_of(RENAMED), renaming.RENAMED)
    old.refresh_from_db()
    new.refresh_from_db()
    assert old.scenario["lanes"] == [OLD | {"cluster": False}] and old.slug is None, "the demo is made anew"
    assert new.scenario["lanes"][0] == OLD | {"brokers": 3} and "cluster" not in new.scenario["lanes"][1]
    core = Journal(scenario_from_json(old.scenario), []).seek(20_000_000)
    seen = core.view()["lanes"]["kafka"]
    assert list(seen["cluster"]["brokers"]) == ["1"] and seen["lag"] > 0
    assert {len(part["replicas"]) for part in seen["cluster"]["partitions"].values()} == {1}
    assert "cluster" in Journal(scenario_from_json(new.scenario), []).seek(1_000_000).view()["lanes"]["kafka"]
    renaming.rename(as_of(RENAMED), renaming.BACK)
    migration.unmark_all(as_of(MARKED), None)
    renaming.rename(as_of(RENAMED), renaming.RENAMED)
    old.refresh_from_db()
    assert old.scenario["lanes"] == [OLD]


@pytest.mark.django_db
def test_it_is_replayed_once_on_a_cluster_of_one_and_says_that_its_rules_are_newer(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an upgrade finds it, with checkpoints of another shape."""
    with monkeypatch.context() as older:
        older.setattr(checkpoint, "VERSION", checkpoint.VERSION - 1)
        lab = world.open(lanes=[{"model": "kafka", "brokers": 1}], workload={"rate": 1_000})
        world.run(1)
        world.order(lab, "crash", consumer="c1", lane="all")
        world.run(9)
    floor_us = Lab.objects.get(pk=lab.pk).clock_floor_us
    (kafka,) = lab.scenario["lanes"]
    del kafka["brokers"], kafka["replication_factor"]
    scenario = lab.scenario | {"lanes": [kafka | {"cluster": False}]}
    Lab.objects.filter(pk=lab.pk).update(scenario=scenario, rules_version=2)
    unreadable = set(Checkpoint.objects.filter(lab=lab).values_list("pk", flat=True))
    assert unreadable

    Lab.objects.update(lease_owner="", lease_until_ms=0)  # the old worker is gone
    world.shard = world.shard_new()
    world.run(6)
    assert set(Checkpoint.objects.filter(lab=lab).values_list("pk", flat=True)) - unreadable, "replayed once"
    row = Lab.objects.get(pk=lab.pk)
    assert row.status == Lab.Status.RUNNING and row.clock_floor_us >= floor_us
    view = client.get(f"/api/labs/{lab.pk}/snapshot/").json()["view"]
    assert list(view["lanes"]["kafka"]["cluster"]["brokers"]) == ["1"]
    for path in ("", "journal/"):
        rules = client.get(f"/api/labs/{lab.pk}/{path}").json()["rules"]
        assert rules == {"made": 2, "now": RULES_VERSION, "older": True}
    for page in ("", "kafka/cluster/", "kafka/groups/"):
        assert 'data-say="rules.older"' in client.get(f"/lab/{lab.pk}/{page}").content.decode()
