"""The largest labs that are allowed are built beside others: their clicks stay within the bar meanwhile, a
DELETE ends it, and larger ones are refused at a field, for a lab and for an address."""

import time
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.size import RECORDS_WAITING_MAX
from dashboard.errors import Refused
from dashboard.labs import driver as drivers
from dashboard.labs import keeping, selectors, services
from dashboard.labs.shard import Shard
from dashboard.models import Lab
from tests.dashboard.world import OWNER, OWNER_HASH, World

pytestmark = pytest.mark.django_db
UNIFORM: dict[str, Any] = {"kind": "uniform", "keys": 20}
HIGH = DEFAULT_LIMITS.parts_max
CLICK_S = 3 * 0.5
"""Three times the bar, in CPU time."""
LARGEST = {
    "a group of 512 members": {"consumers": 512, "lanes": [{"model": "kafka", "partitions": 180}]},
    "connections to 100 brokers": {
        "consumers": 225,
        "lanes": [{"model": "tubemq", "partitions": 1_000, "brokers": 100}],
    },
    "points of a ring": {"consumers": 205, "lanes": [{"model": "pulsar", "points": 1_000}]},
    "partitions under Failover": {
        "consumers": 3,
        "lanes": [{"model": "pulsar", "algorithm": "failover", "partitions": 660}],
    },
}


def beside(world: World) -> tuple[Shard, Lab]:
    """A shard that goes by the time that this process works, with a lab in it that takes commands."""
    shard = world.shard = Shard(0, world.transport, time.process_time)  # type: ignore[arg-type]
    neighbour = world.open(workload=UNIFORM, lanes=[{"model": "rabbitmq"}])
    while neighbour.pk not in shard.frame_due_s:
        shard.turn()
    return shard, neighbour


def click_s(world: World, neighbour: Lab, rate: int) -> float:
    """How long the shard works until it has carried a command out."""
    started_s = time.process_time()
    asked = world.order(neighbour, "slow", consumer="c1", args={"rate": rate})["command_id"]
    while selectors.command_get(lab_id=neighbour.pk, command_id=asked)["state"] != "applied":
        world.shard.turn()
        assert time.process_time() < started_s + 20
    return time.process_time() - started_s


@pytest.mark.parametrize("name", LARGEST)
def test_clicks_beside_the_build_of_a_largest_lab_stay_within_the_bar(world: World, name: str) -> None:
    shard, neighbour = beside(world)
    large = world.open(workload=UNIFORM, **LARGEST[name])  # type: ignore[arg-type]
    assert large.parts > 0.8 * HIGH
    clicks = [click_s(world, neighbour, 2)]
    while large.pk not in shard.frame_due_s or len(clicks) < 100:
        clicks.append(click_s(world, neighbour, 2 + len(clicks) % 2))
        assert sum(clicks) < 120
    clicks.sort()
    assert clicks[-1 - len(clicks) // 100] < CLICK_S, clicks[-5:]
    assert Lab.objects.get(pk=large.pk).status == Lab.Status.RUNNING


def test_a_delete_ends_a_build(world: World) -> None:
    shard, _neighbour = beside(world)
    large = world.open(workload=UNIFORM, **LARGEST["a group of 512 members"])  # type: ignore[arg-type]
    while large.pk not in shard.drivers:
        shard.turn()
    Lab.objects.filter(pk=large.pk).update(visitor_hash=OWNER_HASH)
    keeping.lab_delete(lab_id=large.pk, visitor=OWNER)
    started_s = time.process_time()
    while large.pk in shard.drivers:
        assert large.pk not in shard.frame_due_s, "it was not built to its end"
        shard.turn()
    assert time.process_time() < started_s + 2


REFUSED = {
    "lanes.0.partitions": {
        "lanes": [
            {"model": "kafka", "id": f"k{number}", "partitions": 512, "brokers": 9, "replication_factor": 9}
            for number in range(8)
        ],
        "consumers": 512,
    },
    "lanes.1.brokers": {
        "lanes": [{"model": "rabbitmq"}, {"model": "tubemq", "partitions": 1_000, "brokers": 100}],
        "consumers": 512,
    },
    "lanes.0.points": {"lanes": [{"model": "pulsar", "points": 1_000}], "consumers": 512},
    "lanes.2.partitions": {
        "lanes": [
            {"model": "rabbitmq"},
            {"model": "kafka"},
            {"model": "pulsar", "algorithm": "failover", "partitions": 1_000},
        ]
    },
    "consumers": {
        "lanes": [{"model": "kafka", "id": f"k{number}", "partitions": 1} for number in range(8)],
        "consumers": 512,
    },
    "workload.keys": {"workload": {"kind": "uniform", "keys": 1_000_000}},
}


@pytest.mark.parametrize("field", REFUSED)
def test_a_lab_that_costs_too_much_is_refused_at_the_field_that_has_most_to_do_with_it(field: str) -> None:
    answer = Client().post("/api/labs/", {"workload": UNIFORM, **REFUSED[field]}, "application/json")
    assert answer.status_code == 400
    ((named, (text,)),) = answer.json()["fields"].items()
    assert named == field
    assert text.startswith("makes the lab too large")
    assert not Lab.objects.exists()


CLUSTER: dict[str, Any] = {
    "consumers": 500,
    "lanes": [{"model": "kafka", "partitions": 100, "more_topics": [{"name": "b", "partitions": 10}]}],
}
TOO_MUCH: dict[str, tuple[str, dict[str, Any]]] = {
    "cluster_add_partitions": ("args.count", {"args": {"topic": "records", "count": 400}}),
    "cluster_create_topic": ("args.partitions", {"args": {"topic": "c", "partitions": 300}}),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_a_command_that_makes_a_cluster_too_large_is_refused_at_its_field(world: World, kind: str) -> None:
    shard = world.shard
    lab = world.open(workload=UNIFORM, **CLUSTER)
    while lab.pk not in shard.frame_due_s:
        shard.turn()
    world.run(0.2)
    field, order = TOO_MUCH[kind]
    with pytest.raises(Refused) as refused:
        world.order(lab, kind, **order)
    assert refused.value.status == 400
    assert refused.value.fields[field][0].startswith("makes the lab too large")


def test_consumers_count_against_a_lab_when_they_join_and_no_longer_when_they_have_left(world: World) -> None:
    lab = world.open(workload=UNIFORM, consumers=390, lanes=[{"model": "kafka", "partitions": 220}])
    world.run(0.3)
    with pytest.raises(Refused) as refused:
        world.order(lab, "join", args={"count": 100})
    assert refused.value.fields["args.count"][0].startswith("makes the lab too large")
    accepted = [
        world.order(lab, "join", args={"count": 30})["command_id"] for _ in range(3)
    ]  # together they are too many: the worker says so
    world.run(0.3)
    assert [selectors.command_get(lab_id=lab.pk, command_id=each)["state"] for each in accepted] == [
        "applied",
        "refused",
        "refused",
    ]
    before = Lab.objects.get(pk=lab.pk).parts
    world.order(lab, "leave", consumer="c1")
    world.run(6)
    assert Lab.objects.get(pk=lab.pk).parts < before


def test_another_algorithm_counts(world: World) -> None:
    lab = world.open(
        workload=UNIFORM, lanes=[{"model": "pulsar", "algorithm": "shared", "partitions": 1_000}]
    )
    world.run(0.3)
    with pytest.raises(Refused) as refused:  # what it would cost is among the facts
        world.order(lab, "set_algorithm", lane="pulsar", args={"algorithm": "failover"})
    assert refused.value.fields["args.algorithm"][0].startswith("makes the lab too large")


def test_an_address_has_a_limit_over_all_its_labs_forks_and_joins(world: World, settings: Any) -> None:
    settings.LABS_PARTS_ADDRESS_MAX = 4_500
    settings.LABS_PARTS_MAX = 100_000
    request = {"workload": UNIFORM, "lanes": [{"model": "kafka"}], "consumers": 30}
    lab = services.lab_open(request=request, address="here", visitor=OWNER).lab
    assert 1_000 < lab.parts < 2_000
    for refuse in (
        lambda: [services.lab_open(request=request, address="here") for _ in range(2)],
        lambda: services.lab_fork(lab_id=lab.pk, address="here"),
    ):
        with pytest.raises(Refused) as refused:
            refuse()
        assert refused.value.status == 429
        assert "parts of labs" in refused.value.fields["lab"][0]
    services.lab_open(request=request, address="there")
    world.run(0.3)
    assert Lab.objects.get(pk=lab.pk).parts == lab.parts
    with pytest.raises(Refused) as refused:
        world.order(lab, "join", args={"count": 40})
    assert (refused.value.status, list(refused.value.fields)) == (429, ["args.count"])
    kept = services.Lab.objects.filter(address_hash="here").exclude(pk=lab.pk).get()
    Lab.objects.filter(pk=kept.pk).update(visitor_hash=OWNER_HASH)
    keeping.lab_delete(lab_id=kept.pk, visitor=OWNER)
    world.order(lab, "join", args={"count": 30})
    with pytest.raises(Refused) as refused:
        keeping.lab_restore(lab_id=kept.pk, visitor=OWNER)
    assert refused.value.status == 429


def test_a_lab_in_which_too_many_records_wait_stops_with_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "RECORDS_WAITING_MAX", 30_000)
    neighbour = world.open(workload=UNIFORM, lanes=[{"model": "rabbitmq"}])
    lab = world.open(
        workload={**UNIFORM, "rate": 5_000}, consumers=0, lanes=[{"model": "rabbitmq"}, {"model": "tubemq"}]
    )
    world.order(lab, "speed", args={"speed": 20})
    world.run(2)
    lab.refresh_from_db()
    assert lab.status == Lab.Status.FAILED
    assert (
        "records wait in its lanes" in lab.failed_reason and f"{RECORDS_WAITING_MAX:,}" in lab.failed_reason
    )
    assert Lab.objects.get(pk=neighbour.pk).status == Lab.Status.RUNNING


def test_ordinary_labs_and_a_classroom_of_them_are_far_within_the_limits(settings: Any) -> None:
    demo = services.lab_open(request={"workload": UNIFORM}).lab
    assert demo.parts < HIGH / 50
    assert 250 * demo.parts < settings.LABS_PARTS_ADDRESS_MAX <= settings.LABS_PARTS_MAX
    assert services.lab_open(request={"workload": UNIFORM, "consumers": 512}).lab.parts <= HIGH
    lanes = [
        {"model": "rabbitmq"},
        {"model": "pulsar"},
        {"model": "kafka", "partitions": 64, "brokers": 9, "replication_factor": 3},
        {"model": "tubemq", "partitions": 64, "brokers": 8},
    ]
    crowd = services.lab_open(request={"workload": UNIFORM, "consumers": 512, "lanes": lanes}).lab
    assert 0.9 * HIGH < crowd.parts <= HIGH
