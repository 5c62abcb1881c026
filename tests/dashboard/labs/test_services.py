"""What a service promises: validated, stored, the same answer to the same command, and nothing half done."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.access import token_hash
from dashboard.errors import Refused
from dashboard.labs import selectors, services
from dashboard.models import Lab, StoredCommand
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def submit(
    opened: services.OpenedLab, command_id: str = "x1", kind: str = "join", **rest: Any
) -> dict[str, Any]:
    request = {"command_id": command_id, "kind": kind, **rest}
    return services.lab_submit(lab_id=opened.lab.pk, request=request, bearer=opened.owner_token)


def test_opening_stores_a_complete_scenario_and_only_a_hash_of_the_token() -> None:
    opened = services.lab_open(request={"scenario": "mine", "seed": 11})
    assert opened.lab.scenario["name"] == "mine" and opened.lab.scenario["seed"] == 11
    assert {lane["model"] for lane in opened.lab.scenario["lanes"]} == {
        "pulsar",
        "kafka",
        "tubemq",
        "rabbitmq",
    }
    assert opened.lab.owner_hash == token_hash(opened.owner_token)


def test_same_command_gets_the_same_answer_and_one_row() -> None:
    opened = services.lab_open(request={})
    first = submit(opened)
    assert first == {"lab": opened.lab.pk, "command_id": "x1", "position": 2, "state": "accepted"}
    StoredCommand.objects.filter(command_id="x1").update(state="applied", at_us=5)
    assert submit(opened) == first
    assert opened.lab.commands.count() == 2


def test_command_id_of_another_command_is_refused() -> None:
    opened = services.lab_open(request={})
    submit(opened)
    with pytest.raises(Refused) as refused:
        submit(opened, args={"count": 2})
    assert refused.value.status == 409 and list(refused.value.fields) == ["command_id"]


def test_places_follow_the_order_of_arrival_without_gaps() -> None:
    opened = services.lab_open(request={})
    assert [submit(opened, f"x{number}")["position"] for number in range(5)] == [2, 3, 4, 5, 6]


def test_somebody_elses_lab_takes_no_command() -> None:
    opened = services.lab_open(request={}, visitor="v" * 20)
    for rights in ({}, {"bearer": "wrong"}, {"visitor": "w" * 20}, {"bearer": "wrong", "visitor": "v" * 20}):
        with pytest.raises(Refused) as refused:
            services.lab_submit(lab_id=opened.lab.pk, request={"command_id": "x", "kind": "join"}, **rights)
        assert refused.value.status == 403
    services.lab_submit(lab_id=opened.lab.pk, request={"command_id": "x", "kind": "join"}, visitor="v" * 20)


def test_what_the_last_view_rules_out_is_refused_at_once(world: World) -> None:
    lab = world.open()
    world.run(0.2)
    for command, field in [
        ({"kind": "crash", "consumer": "nobody"}, "consumer"),
        ({"kind": "join", "consumer": "c1"}, "consumer"),
        ({"kind": "join", "args": {"count": 510}}, "args.count"),
        ({"kind": "join", "lane": "nowhere"}, "lane"),
        ({"kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "prefetch_5"}}, "args.algorithm"),
        (
            {"kind": "set_algorithm", "lane": "rabbitmq", "args": {"algorithm": "prefetch_5"}},
            "args.algorithm",
        ),
    ]:
        with pytest.raises(Refused) as refused:
            world.order(lab, **command)
        assert refused.value.status == 400 and list(refused.value.fields) == [field]
    assert lab.commands.count() == 1


def test_too_many_waiting_commands_are_sent_away(settings: Any) -> None:
    settings.COMMANDS_PENDING_MAX = 3
    opened = services.lab_open(request={})
    submit(opened, "x1")
    submit(opened, "x2")
    with pytest.raises(Refused) as refused:
        submit(opened, "x3")
    assert refused.value.status == 429


def test_visitor_comes_back_to_the_same_copy_of_the_demo(world: World) -> None:
    services.demo_lab_ensure()
    world.run(0.2)
    mine, yours = services.lab_for_visitor(visitor="a" * 20), services.lab_for_visitor(visitor="b" * 20)
    assert services.lab_for_visitor(visitor="a" * 20).pk == mine.pk != yours.pk
    snapshot = selectors.lab_snapshot(lab_id=mine.pk)
    assert snapshot is not None and snapshot["view"]["at_us"] >= 60_000_000, "the first frame is rich"
    assert mine.status == Lab.Status.IDLE, "a copy that nobody watches costs nothing"


def test_the_demos_own_join_never_comes_after_a_visitors_order(world: World) -> None:
    services.demo_lab_ensure()
    world.run(0.2)
    mine, other = (services.lab_for_visitor(visitor=letter * 20) for letter in "ab")
    join = {"kind": "join", "args": {"count": 1}}
    services.lab_submit(lab_id=mine.pk, request={"command_id": "mine", **join}, visitor="a" * 20)
    with pytest.raises(Refused) as refused:
        services.lab_submit(lab_id=mine.pk, request={"command_id": "demo:join", **join}, visitor="a" * 20)
    assert refused.value.status == 409 and list(refused.value.fields) == ["lab"]
    first = services.lab_submit(
        lab_id=other.pk, request={"command_id": "demo:join", **join}, visitor="b" * 20
    )
    assert (
        services.lab_submit(lab_id=other.pk, request={"command_id": "demo:join", **join}, visitor="b" * 20)
        == first
    )
    assert (mine.commands.count(), other.commands.count()) == (2, 2)


def test_demo_is_made_once_and_rests_when_it_is_ready(world: World) -> None:
    assert services.demo_lab_ensure() == services.demo_lab_ensure()
    world.run(6)
    assert Lab.objects.get(slug="demo").status == Lab.Status.IDLE


def test_visits_long_left_make_room_and_nothing_else_does(settings: Any) -> None:
    demo = services.demo_lab_ensure()
    settings.LABS_MAX = 3
    old, young = (services.lab_fork(lab_id=demo, visitor=letter * 20).lab for letter in "ab")
    with pytest.raises(Refused) as refused:
        services.lab_open(request={})
    assert refused.value.status == 429
    Lab.objects.filter(pk=old.pk).update(
        created_at=timezone.now() - timedelta(days=2), status=Lab.Status.IDLE
    )
    services.lab_open(request={})
    assert not Lab.objects.filter(pk=old.pk).exists() and Lab.objects.filter(pk=young.pk).exists()


def test_fork_takes_a_workload_or_a_seed_and_nothing_else() -> None:
    opened = services.lab_open(request={})
    fork = services.lab_fork(lab_id=opened.lab.pk, request={"workload": {"key": "route"}, "seed": 9}).lab
    assert (
        fork.scenario["workload"] == {**opened.lab.scenario["workload"], "key": "route"}
        and fork.scenario["seed"] == 9
    )
    assert fork.parent_id == opened.lab.pk
    for request in ({"lanes": []}, {"workload": {"key": "nothing"}}, {"workload": 3}, {"seed": -1}):
        with pytest.raises(Refused) as refused:
            services.lab_fork(lab_id=opened.lab.pk, request=request)
        assert refused.value.status == 400


def test_failed_demo_is_made_anew_and_kept_under_its_id() -> None:
    first = services.demo_lab_ensure()
    Lab.objects.filter(pk=first).update(
        status=Lab.Status.FAILED, failed_reason="InvariantError: as found in the field"
    )
    second = services.demo_lab_ensure()
    assert second != first and services.demo_lab_ensure() == second
    assert Lab.objects.get(pk=first).slug is None


@pytest.mark.parametrize("command_id", ["lab:open", "lab:anything", "study:0a1b2c:7"])
def test_ids_of_the_labs_own_commands_are_nobody_elses(command_id: str) -> None:
    opened = services.lab_open(request={})
    with pytest.raises(Refused) as refused:
        submit(opened, command_id)
    assert refused.value.status == 400 and list(refused.value.fields) == ["command_id"]
    assert opened.lab.commands.count() == 1
