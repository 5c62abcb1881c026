"""One writer per lab, applied once, and nothing undone that a browser saw: whatever happens to the worker."""

import re
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from broker_core.errors import InvariantError
from broker_core.lab.journal import Journal
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import selectors, services, shards, tasks
from dashboard.labs.driver import LabDriver
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredEvent, StoredView
from tests.dashboard.patching import follow
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def view_of(lab: Lab) -> Any:
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    assert snapshot is not None
    return snapshot["view"]


def without_feed(view: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in view.items() if key != "feed"}


def test_new_lab_plays_and_its_frames_lead_to_the_workers_view(world: World) -> None:
    lab = world.open()
    world.run(3)
    driver = world.shard.drivers[lab.pk]
    assert 2_500_000 < driver.core.now_us <= 3_100_000
    messages = world.messages(lab)
    assert 20 <= len(messages) <= 32, "at most ten frames a second"
    assert follow(messages) == msgspec.json.decode(msgspec.json.encode(driver.view))


def test_command_goes_out_at_once_with_its_turning_points(world: World) -> None:
    lab = world.open()
    world.run(1)
    receipt = world.order(lab, "join")
    sent = len(world.transport.frames)
    world.shard.turn()
    (message,) = world.messages(lab)[sent:]
    assert {event["cause"]["command"] for event in message["events"] if event["cause"]} == {
        receipt["position"]
    }
    assert selectors.command_get(lab_id=lab.pk, command_id=receipt["command_id"])["state"] == "applied"
    assert "c4" in view_of(lab)["consumers"]
    assert StoredEvent.objects.filter(lab=lab).count() > 0


def test_paused_lab_shows_what_an_order_did_although_requests_take_time(world: World) -> None:
    lab = world.open(lanes=[{"model": "rabbitmq", "network_delay_us": 2_000}])
    world.run(1)
    world.order(lab, "pause_lab")
    world.run(0.5)
    before = view_of(lab)
    world.order(lab, "join")
    world.run(0.5)
    after = view_of(lab)
    assert (
        after["lanes"]["rabbitmq"]["consumers"]["c4"]["state"] == "live"
        and after["lanes"]["rabbitmq"]["bill"]["settled"]
    )
    assert 0 < after["at_us"] - before["at_us"] < 5_000
    world.run(1)
    assert view_of(lab)["at_us"] == after["at_us"]


def test_order_of_arrival_is_the_order_of_effect(world: World) -> None:
    lab = world.open()
    world.run(0.5)
    for kind, consumer in [("join", "zed"), ("pause", "zed"), ("resume", "zed"), ("crash", "zed")]:
        world.order(lab, kind, consumer=consumer)
    world.run(0.2)
    rows = StoredCommand.objects.filter(lab=lab).order_by("position")
    assert [row.state for row in rows] == ["applied"] * 5
    assert [row.position for row in rows] == [1, 2, 3, 4, 5]


def test_refusal_by_the_lab_is_stored_told_and_changes_nothing(world: World) -> None:
    lab = world.open()
    world.run(0.5)
    world.order(lab, "join", consumer="zed")
    second = world.order(lab, "join", consumer="zed")  # certain only once the first is carried out
    world.run(0.2)
    answer = selectors.command_get(lab_id=lab.pk, command_id=second["command_id"])
    assert answer["state"] == "refused" and list(answer["fields"]) == ["consumer"]
    refusals = [
        event
        for message in world.messages(lab)
        for event in message.get("events", ())
        if event["kind"] == "lab.command_refused"
    ]
    assert [event["data"]["command_id"] for event in refusals] == [second["command_id"]]
    words = refusals[0]["data"]["words"]
    assert words["en"] == refusals[0]["data"]["fields"]["consumer"][0] and "zed" in words["zh-hans"]
    assert re.search("[\u4e00-\u9fff]", words["zh-hans"]), "each reader has the reason in their own language"
    assert list(view_of(lab)["lanes"]["tubemq"]["order"]).count("zed") == 1


def test_view_after_a_restart_is_the_view_without_one(world: World) -> None:
    lab = world.open()
    world.run(2)
    world.order(lab, "join", args={"count": 2})
    world.run(2)
    world.order(lab, "crash", consumer="c2")
    world.run(0.7)
    seen = world.shard.drivers[lab.pk]
    seen_us, seen_seq = seen.core.now_us, seen.seq
    Lab.objects.filter(pk=lab.pk).update(lease_until_ms=0)  # the worker is gone, its lease has run out
    other = world.shard_new()
    world.run(0.1, other)
    driver = other.drivers[lab.pk]
    assert driver.core.now_us >= seen_us and driver.seq > seen_seq, "nothing that a browser saw is undone"
    journal = selectors.journal(lab=lab)
    again = Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(driver.core.now_us)
    assert without_feed(driver.view) == again.view()
    seqs = list(StoredEvent.objects.filter(lab=lab).order_by("seq").values_list("seq", flat=True))
    assert seqs == sorted(set(seqs))


@pytest.mark.parametrize("state", [None, b"of another version", b""], ids=["good", "unreadable", "empty"])
def test_restart_from_a_checkpoint_equals_a_replay_from_the_start(world: World, state: bytes | None) -> None:
    lab = world.open(workload={"kind": "uniform", "rate": 2000})
    world.run(1.2)
    world.order(lab, "join")
    world.run(1.2)
    assert Checkpoint.objects.filter(lab=lab).exists()
    world.shard.let_go()
    if state is not None:
        Checkpoint.objects.filter(lab=lab).update(state=state)
    other = world.shard_new()
    world.run(0.1, other)
    driver = other.drivers[lab.pk]
    journal = selectors.journal(lab=lab)
    again = Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(driver.core.now_us)
    assert without_feed(driver.view) == again.view()


def test_of_two_drivers_the_one_that_lost_its_lease_writes_nothing(world: World) -> None:
    lab = world.open()
    world.run(1)
    stale = world.shard.drivers[lab.pk]
    Lab.objects.filter(pk=lab.pk).update(lease_until_ms=0)
    winner = world.shard_new()
    world.run(0.3, winner)
    stored = StoredView.objects.get(pk=lab.pk)
    assert stored.epoch == winner.drivers[lab.pk].epoch > stale.epoch
    world.order(lab, "join")
    sent = len(world.transport.frames)
    world.shard._go_on(stale, world.shard._carry_out(stale))  # the loser still believes in itself
    assert lab.pk not in world.shard.drivers
    assert world.transport.frames[sent:] == [], "what was not committed is not published"
    assert StoredCommand.objects.get(lab=lab, position=2).state == "accepted"
    world.transport.entries.append(lab.pk)
    world.run(0.2, winner)
    assert StoredCommand.objects.get(lab=lab, position=2).state == "applied"
    assert len(view_of(lab)["lanes"]["tubemq"]["order"]) == 4, "applied once"


def test_losing_redis_costs_a_snapshot_and_no_command(world: World) -> None:
    lab = world.open()
    world.run(1)
    world.transport.lost = True
    world.run(0.5)
    receipt = world.order(lab, "join")
    world.run(1.5)
    assert selectors.command_get(lab_id=lab.pk, command_id=receipt["command_id"])["state"] == "applied"
    world.transport.lost = False
    sent = len(world.messages(lab))
    world.run(1.5)
    messages = world.messages(lab)[sent:]
    assert messages[0]["type"] == "snapshot" and "c4" in messages[0]["view"]["consumers"]
    follow(messages)


def test_lab_nobody_watches_pauses_by_itself_and_says_so(world: World, settings: Any) -> None:
    settings.LAB_IDLE_PAUSE_S = 0
    lab = world.open(watched=False)
    world.run(6)
    lab.refresh_from_db()
    assert lab.status == Lab.Status.IDLE and world.shard.drivers == {}
    assert view_of(lab)["feed"]["auto_paused"] is True
    rested_us = view_of(lab)["at_us"]
    services.lab_watched(lab_ids=[lab.pk], wake=True)
    world.transport.watching.add(lab.pk)
    world.run(1.5)
    view = follow([message for message in world.messages(lab) if message["epoch"] == 2])
    assert view["feed"]["auto_paused"] is False
    assert rested_us < view["at_us"] < rested_us + 2_000_000, "no time passed while it rested"


def test_a_shard_that_another_host_drives_is_left_to_it_and_not_enqueued(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that was paused wakes up and finds that its shard has moved: it writes nothing more, and
    takes no lease from the other."""
    lab = world.open()
    world.run(1)
    enqueued: list[int] = []
    monkeypatch.setattr(shards, "shard_enqueue", enqueued.append)
    monkeypatch.setitem(tasks._shards, 0, world.shard)
    world.transport.elsewhere = True
    world.clock.now_s += 1
    tasks.drive_shard(0)
    assert world.shard.is_elsewhere and not world.shard.drivers and enqueued == []
    lab.refresh_from_db()
    assert lab.epoch == 1


def test_a_shard_of_which_this_host_has_too_many_is_given_up_with_its_leases(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = world.open()
    world.run(1)
    enqueued: list[int] = []
    given_up: list[int] = []
    monkeypatch.setattr(shards, "shard_enqueue", enqueued.append)
    monkeypatch.setattr(tasks, "transport", lambda: SimpleNamespace(give_up=given_up.append))
    monkeypatch.setattr(tasks.sharing, "is_one_too_many", lambda _number: True)
    monkeypatch.setitem(tasks._shards, 0, world.shard)
    monkeypatch.setattr(world.shard, "run", lambda _seconds: None)
    tasks.drive_shard(0)
    assert given_up == [0] and enqueued == []
    lab.refresh_from_db()
    assert lab.lease_until_ms == 0, "the other host takes it at once"


def test_after_a_crash_watched_labs_and_short_pasts_are_loaded_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One step of each turn goes to the lab that would wait longest; the rest of it brings one after the
    other to life, not all at the end."""
    floors_us = {"long": 20_000_000, "unwatched": 15_000_000, "short": 6_000_000, "medium": 12_000_000}
    ids = {world.open(watched=name != "unwatched").pk: name for name in floors_us}
    for pk, name in ids.items():
        Lab.objects.filter(pk=pk).update(clock_floor_us=floors_us[name])
    world.transport.watching.update(pk for pk, name in ids.items() if name != "unwatched")
    live: list[str] = []
    steps: list[str] = []

    def load(driver: LabDriver, clock: Any, budget_s: float) -> bool:
        """Half a virtual second takes the whole budget."""
        steps.append(ids[driver.lab_id])
        world.clock.now_s += budget_s
        driver._slice_us = 500_000
        while driver.replay is None:
            next(driver._loading)  # its lab is built first
        before_us = driver.core.now_us
        while not driver.loaded and driver.core.now_us == before_us:
            next(driver._loading)
        if driver.loaded:
            live.append(ids[driver.lab_id])
        return driver.loaded

    monkeypatch.setattr(LabDriver, "load", load)
    shard = world.shard_new()
    shard._eager_until_s = world.clock.now_s + 100
    for _turn in range(60):
        shard.turn()
        if len(live) == 4:
            break
        world.clock.now_s += 0.05
    assert live == ["short", "medium", "long", "unwatched"] and "unwatched" in steps[:6]


def test_labs_that_were_dropped_are_collected_after_the_task_and_nothing_is_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their worlds hang together in cycles; a full collection in the middle of a turn would hold the
    neighbours."""
    collections: list[int] = []
    monkeypatch.setattr(tasks.gc, "collect", lambda: collections.append(len(world.shard.drivers)))
    monkeypatch.setitem(tasks._shards, 0, world.shard)
    monkeypatch.setattr(world.shard, "run", lambda _seconds: world.run(0.5))
    monkeypatch.setattr(shards, "shard_enqueue", lambda _number: True)
    lab = world.open()
    tasks.drive_shard(0)
    assert not collections
    Lab.objects.filter(pk=lab.pk).delete()
    world.run(3)
    tasks.drive_shard(0)
    tasks.drive_shard(0)
    assert collections == [0]


def test_lab_that_breaks_its_own_rule_stops_alone_and_keeps_its_journal(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = world.open(), world.open()
    world.run(0.5)
    real, core = CoreLab.advancing, world.shard.drivers[broken.pk].core

    def advancing(self: CoreLab, at_us: int) -> Any:
        if self is core:
            raise InvariantError("one record is owned twice")
        return real(self, at_us)

    monkeypatch.setattr(CoreLab, "advancing", advancing)
    world.run(1.5)
    broken.refresh_from_db()
    assert broken.status == Lab.Status.FAILED and "owned twice" in broken.failed_reason
    assert broken.commands.count() == 1
    assert "owned twice" in follow(world.messages(broken))["feed"]["failed"]
    assert sound.pk in world.shard.drivers


def test_lab_that_cannot_keep_up_slows_down_and_says_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = world.open()
    world.run(0.5)
    real = CoreLab.advancing

    def slow(self: CoreLab, at_us: int) -> Any:
        world.clock.now_s += 2 * (at_us - self.now_us) / 1e6  # the core takes two seconds for one
        return (yield from real(self, at_us))

    monkeypatch.setattr(CoreLab, "advancing", slow)
    world.run(3)
    driver = world.shard.drivers[lab.pk]
    assert driver.behind_ms >= 500
    assert driver.view["feed"]["behind_ms"] >= 500


def test_change_longer_than_the_view_is_sent_as_the_view(world: World) -> None:
    lab = world.open()
    world.run(1.2)
    world.order(lab, "join", args={"count": 400})
    sent = len(world.messages(lab))
    world.shard.turn()
    (message,) = world.messages(lab)[sent:]
    assert message["type"] == "snapshot" and len(message["view"]["consumers"]) == 403
    world.run(0.3)
    assert set(follow(world.messages(lab)[sent:])["consumers"]) == set(view_of(lab)["consumers"])


def test_fork_under_another_workload_replays_the_same_commands_at_their_times(world: World) -> None:
    lab = world.open()
    world.run(1)
    world.order(lab, "join")
    world.run(1)
    parent_us = view_of(lab)["at_us"]
    fork = services.lab_fork(lab_id=lab.pk, request={"workload": {"key": "carrier"}}).lab
    world.transport.watching.add(fork.pk)
    world.run(0.5)
    assert view_of(fork)["workload"]["key"] == "carrier"
    stamps = list(lab.commands.order_by("position").values_list("position", "at_us"))
    assert list(fork.commands.order_by("position").values_list("position", "at_us")) == stamps
    assert view_of(fork)["at_us"] >= parent_us
    assert set(view_of(fork)["consumers"]) == {"c1", "c2", "c3", "c4"}


def test_fork_begins_where_the_lab_is_and_goes_its_own_way(world: World) -> None:
    lab = world.open()
    world.run(1.5)
    world.order(lab, "join")
    world.run(0.2)
    fork = services.lab_fork(lab_id=lab.pk).lab
    assert without_feed(view_of(fork)) == without_feed(view_of(lab))
    services.lab_watched(lab_ids=[fork.pk], wake=True)
    world.order(fork, "join")
    world.run(0.5)
    assert "c5" in view_of(fork)["consumers"]
    assert "c5" not in view_of(lab)["consumers"]
