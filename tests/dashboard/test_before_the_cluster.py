"""Labs that were stored before every Kafka lane ran on a cluster replay as they were."""

from importlib import import_module

import pytest
from django.apps import apps

from broker_core.lab.journal import Journal
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from dashboard.models import Lab

migration = import_module("dashboard.migrations.0006_labs_before_the_cluster")
OLD = {"id": "kafka", "model": "kafka", "algorithm": "range", "topic": "flights", "partitions": 4}


def stored(*rigs: dict, **columns: object) -> Lab:
    scenario = scenario_to_json(scenario_from_json({"rigs": [{"model": "pulsar"}]})) | {
        "rigs": [dict(rig) for rig in rigs]
    }
    return Lab.objects.create(scenario=scenario, owner_hash="x", **columns)


@pytest.mark.django_db
def test_a_lab_from_before_the_cluster_keeps_its_lane_and_one_on_a_cluster_its_own():
    old, new = (
        stored(OLD, slug="demo"),
        stored(OLD | {"brokers": 3}, {"id": "t", "model": "tubemq", "algorithm": "modulo", "topic": "t"}),
    )
    migration.mark_all(apps, None)
    old.refresh_from_db()
    new.refresh_from_db()
    assert old.scenario["rigs"] == [OLD | {"cluster": False}] and old.slug is None, "the demo is made anew"
    assert new.scenario["rigs"][0] == OLD | {"brokers": 3} and "cluster" not in new.scenario["rigs"][1]
    core = Journal(scenario_from_json(old.scenario), []).seek(20_000_000)
    assert "cluster" not in core.view()["rigs"]["kafka"] and core.view()["rigs"]["kafka"]["lag"] > 0
    assert "cluster" in Journal(scenario_from_json(new.scenario), []).seek(1_000_000).view()["rigs"]["kafka"]
    migration.unmark_all(apps, None)
    old.refresh_from_db()
    assert old.scenario["rigs"] == [OLD]
