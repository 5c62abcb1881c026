"""Whatever goes wrong in one lab stops that lab alone: with its reason on its page, its journal kept, and no
neighbour the wiser."""

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DataError, IntegrityError, OperationalError, connection
from django.test import Client
from django.utils import timezone
from redis.exceptions import ResponseError

from broker_core.errors import InvariantError, ReplayError
from broker_core.lab import journal as journals
from broker_core.lab import view as views
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import chunks, selectors, stopping, writes
from dashboard.labs import driver as drivers
from dashboard.labs.shard import ASIDE_S
from dashboard.labs.transport import Frame, Transport
from dashboard.leases import wall_ms
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredEvent, StoredView, Study
from dashboard.studies import live, watch
from tests.dashboard.patching import follow
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


class Two:
    """A lab that something is about to go wrong in, and its neighbour in the same shard."""

    def __init__(self, world: World) -> None:
        self.world, self.broken, self.sound = world, world.open(), world.open()
        world.run(0.5)
        self.driver, self.neighbour = world.shard.drivers[self.broken.pk], world.shard.drivers[self.sound.pk]

    def assert_neighbour_goes_on(self) -> None:
        """A command is carried out in the very next turn, and the beat of frames is unchanged: nothing was
        opened again."""
        receipt = self.world.order(self.sound, "join")
        before = len(self.world.messages(self.sound))
        self.world.shard.turn()
        assert (
            selectors.command_get(lab_id=self.sound.pk, command_id=receipt["command_id"])["state"]
            == "applied"
        )
        self.world.run(1)
        assert self.world.shard.drivers[self.sound.pk] is self.neighbour and self.neighbour.epoch == 1
        assert len(self.world.messages(self.sound)) - before >= 8

    def assert_stopped(self, reason: str) -> None:
        """Stopped for good, the reason on its page and in its feed; every command it had accepted is still
        there."""
        self.broken.refresh_from_db(fields=["status", "failed_reason"])
        assert self.broken.status == Lab.Status.FAILED and reason in self.broken.failed_reason
        assert self.broken.pk not in self.world.shard.drivers
        assert reason in follow(self.world.messages(self.broken))["feed"]["failed"]
        stored = selectors.lab_snapshot(lab_id=self.broken.pk)
        assert stored is not None and reason in stored["view"]["feed"]["failed"], (
            "who comes later is told, too"
        )


@pytest.fixture
def two(world: World) -> Two:
    return Two(world)


def raising(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, is_meant: Callable[..., bool], error: Exception
) -> None:
    """Let `owner.name` raise when it is called for the broken lab."""
    real = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_meant(*args):
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


def spoil(update: str, *values: str) -> None:
    """Write what is no JSON, past the check that SQLite has for it."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"UPDATE {update}", ["{not JSON", *values])
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


CORE = ["advancing", "viewing", "checkpointing"]
ERRORS = [
    InvariantError("one record is owned twice"),
    ReplayError(3, "join"),
    MemoryError("no more of it"),
    RecursionError("too deep"),
    KeyError("c9"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", CORE)
def test_an_error_of_the_core(two: Two, monkeypatch: pytest.MonkeyPatch, step: str, error: Exception) -> None:
    core = two.driver.core
    monkeypatch.setattr(journals, "CHECKPOINT_STEPS", 1)
    raising(monkeypatch, CoreLab, step, lambda self, *_rest: self is core, error)
    two.assert_neighbour_goes_on()
    two.assert_stopped(type(error).__name__)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_in_carrying_out_a_command(
    two: Two, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    core = two.driver.core
    raising(monkeypatch, CoreLab, "submitting", lambda self, *_rest: self is core, error)
    two.world.order(two.broken, "join")
    two.assert_neighbour_goes_on()
    two.assert_stopped(type(error).__name__)
    assert two.broken.commands.count() == 2


@pytest.mark.parametrize("name", ["diff", "encode"])
def test_a_change_that_cannot_be_told(two: Two, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    poisoned = object()
    real = CoreLab.viewing

    def viewing(core: CoreLab, panels: Any) -> Any:
        view = yield from real(core, panels)
        return {**view, "poison": poisoned} if core is two.driver.core else view

    monkeypatch.setattr(CoreLab, "viewing", viewing)
    if name == "diff":
        raising(
            monkeypatch,
            drivers,
            "diff",
            lambda _old, new: new.get("poison") is poisoned,
            ValueError("no patch"),
        )
    two.assert_neighbour_goes_on()
    two.assert_stopped("ValueError: no patch" if name == "diff" else "TypeError")


def test_a_visitor_who_took_the_scripts_next_id(two: Two) -> None:
    """As it was seen: the row of the id is there, written before the API refused such ids."""
    body = {"command_id": "study:abc:1", "kind": "join", "rig": "all", "consumer": "c9", "args": {"count": 1}}
    StoredCommand.objects.create(
        lab=two.broken, command_id="study:abc:1", position=2, body=body, state="refused"
    )
    Lab.objects.filter(pk=two.broken.pk).update(position=2)
    two.driver.script.append({"at_us": 1, "body": body})
    two.assert_neighbour_goes_on()
    assert two.world.shard.drivers[two.broken.pk] is two.driver


def test_an_entry_of_a_script_that_is_none(two: Two) -> None:
    two.driver.script.append({"at_us": 1, "body": 7})
    two.assert_neighbour_goes_on()
    two.assert_stopped("TypeError")


REFUSALS = [
    IntegrityError("a row of its own is in its way"),
    DataError("string or blob too big"),
    OverflowError("int too large"),
    ValueError("a NUL character"),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_rows_that_the_database_does_not_take(
    two: Two, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    raising(
        monkeypatch,
        writes,
        "_write",
        lambda commits: two.broken.pk in [commit.lab_id for commit in commits],
        error,
    )
    two.assert_neighbour_goes_on()
    two.assert_stopped(str(error))


def test_a_number_that_no_column_holds(two: Two) -> None:
    """Not a pretended error: SQLite's own."""
    two.driver.seq = 2**63
    two.assert_neighbour_goes_on()
    two.broken.refresh_from_db()
    assert two.broken.status == Lab.Status.FAILED and two.broken.failed_reason.startswith(
        ("OverflowError", "DataError")
    )


def test_a_lab_the_database_cannot_serve_just_now_is_set_aside_and_comes_back(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such an error may be over in a moment: nothing that a lab should die of, or its neighbours feel."""
    with monkeypatch.context() as patched:
        raising(
            patched,
            writes,
            "_write",
            lambda commits: two.broken.pk in [commit.lab_id for commit in commits],
            OperationalError("too many terms"),
        )
        two.assert_neighbour_goes_on()
        assert two.broken.pk not in two.world.shard.drivers
    two.world.run(ASIDE_S + 1.5)
    assert two.broken.pk in two.world.shard.frame_due_s
    assert follow(two.world.messages(two.broken))["feed"]["failed"] is None


def test_a_database_that_is_gone_stops_nobody(
    two: Two, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SHARD_POLL_S = 0.01

    def full(*_args: Any) -> Any:
        raise OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(writes, "commit_all", full)
        patched.setattr(writes, "database_answers", lambda: False)
        two.world.run(0.3)
    two.world.run(2)
    assert {lab.status for lab in Lab.objects.all()} == {Lab.Status.RUNNING}
    assert set(two.world.shard.drivers) == {two.broken.pk, two.sound.pk}


@pytest.mark.parametrize("table", ["scenario", "script", "command", "text"])
def test_rows_that_cannot_be_read(two: Two, table: str) -> None:
    """The journal of a lab that is opened again holds what is no JSON, or no scenario."""
    two.world.order(two.broken, "join")
    two.world.run(0.2)
    two.world.shard._forget(two.broken.pk)
    if table == "scenario":
        Lab.objects.filter(pk=two.broken.pk).update(scenario={"rigs": 7})
    elif table == "script":
        Lab.objects.filter(pk=two.broken.pk).update(script=[{"when": 1}])
    elif table == "command":
        StoredCommand.objects.filter(lab=two.broken).update(body={"kind": "join"})
        Checkpoint.objects.filter(lab=two.broken).delete()
    else:
        spoil("dashboard_lab SET scenario = %s WHERE id = %s", two.broken.pk)
    two.world.shard._look_s = -1e9
    two.assert_neighbour_goes_on()
    status, reason = Lab.objects.filter(pk=two.broken.pk).values_list("status", "failed_reason").get()
    assert status == Lab.Status.FAILED and reason
    assert reason in follow(two.world.messages(two.broken))["feed"]["failed"], (
        "who watches is told, though it was never driven again"
    )


def test_waiting_commands_that_cannot_be_read(two: Two) -> None:
    receipt = two.world.order(two.broken, "join")
    spoil(
        "dashboard_storedcommand SET body = %s WHERE lab_id = %s AND command_id = %s",
        two.broken.pk,
        receipt["command_id"],
    )
    two.assert_neighbour_goes_on()
    two.assert_stopped("body is damaged")


def test_lab_that_never_had_a_view_says_so_on_its_page(world: World) -> None:
    lab = world.open()
    Lab.objects.filter(pk=lab.pk).update(scenario={**lab.scenario, "rigs": 7})
    world.run(0.2)
    reason = Lab.objects.get(pk=lab.pk).failed_reason
    assert reason
    page = Client().get(f"/lab/{lab.pk}/")
    assert page.status_code == 200 and "This lab has stopped" in page.content.decode()
    assert reason.partition(":")[0] in page.content.decode()
    chinese = Client(headers={"accept-language": "zh-hans"}).get(f"/lab/{lab.pk}/").content.decode()
    assert "这个实验室已停止" in chinese and "This lab has stopped</h1>" not in chinese
    answer = Client().get(f"/api/labs/{lab.pk}/snapshot/")
    assert (
        answer.status_code == 409
        and reason.partition(":")[0] in json.loads(answer.content)["fields"]["lab"][0]
    )


def test_a_lab_deleted_in_the_middle_of_a_turn(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    real, core = CoreLab.viewing, two.driver.core

    def viewing(self: CoreLab, panels: Any) -> Any:
        if self is core:
            Lab.objects.filter(pk=two.broken.pk).delete()
        return real(self, panels)

    monkeypatch.setattr(CoreLab, "viewing", viewing)
    two.driver.stored_wall_s = -1e9
    two.assert_neighbour_goes_on()
    assert two.broken.pk not in two.world.shard.drivers
    for table in (StoredView, StoredEvent, StoredCommand):
        assert not table.objects.filter(lab_id=two.broken.pk).exists()


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), ValueError("Arrow has its own errors")],
    ids=["disk", "arrow"],
)
def test_chunks_that_cannot_be_written_cost_no_lab(
    two: Two, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(chunks, "wanted_mark", lambda folder: 1)
    monkeypatch.setattr(chunks, "chunk_write", lambda *_args: (_ for _ in ()).throw(error))
    two.assert_neighbour_goes_on()
    assert two.world.shard.drivers[two.broken.pk] is two.driver


def test_redis_that_refuses_one_labs_frame(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, two.world.transport, "publish", lambda _frames: False, ValueError())
    real = two.world.transport.publish

    def publish(frames: Any) -> set[str]:
        real([frame for frame in frames if frame.lab_id != two.broken.pk])
        return {two.broken.pk}

    monkeypatch.setattr(two.world.transport, "publish", publish)
    two.assert_neighbour_goes_on()
    assert two.driver.needs_full, "its next frame is whole"
    assert not two.neighbour.needs_full


@pytest.mark.parametrize("floor_us", [2**62, -5], ids=["never reached", "before the beginning"])
def test_a_clock_floor_that_cannot_be(two: Two, floor_us: int) -> None:
    two.world.shard._forget(two.broken.pk)
    Lab.objects.filter(pk=two.broken.pk).update(clock_floor_us=floor_us)
    two.world.shard._look_s = -1e9
    ticking = two.world.clock

    def clock() -> float:  # work takes time, or the lab would load for ever in one turn
        ticking.now_s += 0.0005
        return ticking.now_s

    two.world.shard.clock = clock
    two.assert_neighbour_goes_on()


def test_reason_is_text_whatever_the_error_says() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert stopping.reason_of(Silent()) == "Silent"
    assert stopping.reason_of(ValueError("a\0b\ud800")) == "ValueError: a b\\ud800"
    assert len(stopping.reason_of(ValueError("x" * 10_000))) == stopping.REASON_MAX


class Pipe:
    """What redis-py's pipeline answers when one of the streams' keys holds something else."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.keys: list[str] = []

    def __enter__(self) -> "Pipe":
        return self

    def __exit__(self, *_args: object) -> None: ...

    def xadd(self, key: str, fields: Any, **_options: Any) -> None:
        self.keys.append(key)

    def expire(self, key: str, _seconds: int) -> None: ...

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        return self.answers


@pytest.mark.parametrize(
    ("text", "is_down"), [("WRONGTYPE Operation against a key", False), ("OOM command not allowed", True)]
)
def test_refusal_of_one_stream_is_no_outage(
    monkeypatch: pytest.MonkeyPatch, text: str, is_down: bool
) -> None:
    carrier = Transport("redis://127.0.0.1:1/0", 0.1)
    pipe = Pipe([ResponseError(text), True, b"1-0", True])
    monkeypatch.setattr(carrier._patient, "pipeline", lambda transaction: pipe)
    frames = [
        Frame(lab_id, 1, 0, 1, False, text)
        for lab_id, text in [("wrong", "{}"), ("good", "{}"), ("no-text", '"\ud800"')]
    ]
    assert carrier.publish(frames) == {"wrong", "no-text"}
    assert pipe.keys == ["lab:wrong:frames", "lab:good:frames"]
    assert carrier.is_down is is_down


class Costly:
    """A shard's clock that every piece of work of one lab moves on, as a lab of 512 consumers would."""

    def __init__(self, two: Two, monkeypatch: pytest.MonkeyPatch, **costs_s: float) -> None:
        self.two = two
        for name, cost_s in costs_s.items():
            self._charge(monkeypatch, name, cost_s)

    def _charge(self, monkeypatch: pytest.MonkeyPatch, name: str, cost_s: float) -> None:
        real = getattr(CoreLab, name)

        def charge(core: CoreLab) -> None:
            if core is self.two.driver.core:
                self.two.world.clock.now_s += cost_s

        def call(core: CoreLab, *args: Any) -> Any:
            charge(core)
            return real(core, *args)

        def pieces(core: CoreLab, *args: Any) -> Any:
            charge(core)
            return (yield from real(core, *args))

        monkeypatch.setattr(CoreLab, name, pieces if inspect.isgeneratorfunction(real) else call)


def turns_of(two: Two, count: int) -> list[float]:
    """How long each turn takes, by the shard's own clock."""
    lengths = []
    for _turn in range(count):
        before_s = two.world.clock.now_s
        two.world.shard.turn()
        lengths.append(two.world.clock.now_s - before_s)
        two.world.clock.now_s += 0.005
    return lengths


def test_a_large_lab_does_not_hold_its_shard_and_says_behind(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    Costly(two, monkeypatch, advancing=0.015, viewing=0.03)
    two.driver._slice_us = 10_000
    lengths = turns_of(two, 200)
    assert max(lengths) < 0.15, "one step of 30 ms and one frame, then the wakes are looked at"
    took_s = sum(lengths) + 200 * 0.005
    frames = [message for message in two.world.messages(two.sound) if message["seq"] > 5]
    assert len(frames) / took_s > 6, "the neighbour keeps its beat"
    assert two.driver.behind_ms > 0 and two.driver.view["feed"]["behind_ms"] > 0
    assert sum(lengths) < 0.8 * took_s, "it rests as long as it works"


def test_many_orders_of_one_lab_let_a_neighbours_order_in(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    for _order in range(30):
        two.world.order(two.broken, "join")
    Costly(two, monkeypatch, submitting=0.1)
    two.world.shard.turn()
    receipt = two.world.order(two.sound, "join")
    turns_of(two, 2)
    assert selectors.command_get(lab_id=two.sound.pk, command_id=receipt["command_id"])["state"] == "applied"
    waiting = two.broken.commands.filter(state="accepted")
    assert waiting.count() > 25
    turns_of(two, 2_000)
    assert not waiting.exists(), "and all of its own are carried out, in order, a few at a time"
    applied = two.broken.commands.order_by("position").values_list("at_us", flat=True)
    assert list(applied) == sorted(applied)


def costly_lanes(two: Two, monkeypatch: pytest.MonkeyPatch, cost_s: float) -> None:
    """What each lane of the one lab takes for a join."""
    real = CoreLab.join_lanes

    def join_lanes(core: CoreLab, *args: Any) -> Any:
        for _stop in real(core, *args):
            two.world.clock.now_s += cost_s if core is two.driver.core else 0.0
            yield

    monkeypatch.setattr(CoreLab, "join_lanes", join_lanes)


def test_one_long_command_lets_a_neighbours_order_in(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane's part of a command takes 0.3 s, a lane's part of a view 0.1 s; the neighbour waits for one of
    them, not for all."""
    costly_lanes(two, monkeypatch, 0.3)
    real = views.lane_view

    def lane_view(lab: CoreLab, lane: Any, panels: Any) -> Any:
        two.world.clock.now_s += 0.1 if lab is two.driver.core else 0.0
        return real(lab, lane, panels)

    monkeypatch.setattr(views, "lane_view", lane_view)
    long = two.world.order(two.broken, "join")
    waited_s = []

    def state(lab: Lab, receipt: Any) -> str:
        return str(selectors.command_get(lab_id=lab.pk, command_id=receipt["command_id"])["state"])

    while state(two.broken, long) == "accepted":
        began_s = two.world.clock.now_s
        click = two.world.order(two.sound, "join")
        while state(two.sound, click) == "accepted":
            two.world.shard.turn()
            assert two.world.clock.now_s - began_s < 0.45, "one piece, and what is left of its turn"
        waited_s.append(two.world.clock.now_s - began_s)
        two.world.clock.now_s += 0.15
    assert len(waited_s) > 8 and min(waited_s) < 0.1
    while two.broken.pk in two.world.shard.under_way:
        turns_of(two, 1)
    journal = selectors.journal(lab=two.broken)
    again = journals.Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(
        two.driver.core.now_us
    )
    assert again.view() == two.driver.core.view()


def test_a_command_in_pieces_is_not_half_done_when_the_database_is_gone(
    two: Two, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SHARD_POLL_S = 0.01
    costly_lanes(two, monkeypatch, 0.3)
    long = two.world.order(two.broken, "join")
    two.world.shard.turn()
    assert two.broken.pk in two.world.shard.under_way
    two.world.shard._forget_all()
    assert not two.world.shard.under_way
    turns_of(two, 200)
    assert selectors.command_get(lab_id=two.broken.pk, command_id=long["command_id"])["state"] == "applied"
    core = two.world.shard.drivers[two.broken.pk].core
    assert core is not two.driver.core and {len(lane.consumers) for lane in core.lanes.values()} == {4}


def test_pieces_make_the_same_lab(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a turn cuts a lab's time, what comes of it is what a replay of its journal in one go gives."""
    Costly(two, monkeypatch, advancing=0.015)
    for kind in ("join", "join"):
        two.world.order(two.broken, kind)
        turns_of(two, 60)
    journal = selectors.journal(lab=two.broken)
    core = two.driver.core
    again = journals.Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(core.now_us)
    assert again.view() == core.view()


# -- studies: the same of what runs beside one another there -------------------------------------------------


class Query:
    """A stream that goes on."""

    isActive = True

    def stop(self) -> None: ...


def running_study() -> Study:
    request = {"source": {"kind": "lab", "lab": "any"}}
    return Study.objects.create(
        live=True,
        request=request,
        owner_hash="x",
        state=Study.State.RUNNING,
        started_at=timezone.now(),
        lease_owner="me",
        lease_until_ms=wall_ms() + 60_000,
        epoch=1,
    )


def test_a_live_study_that_something_is_wrong_with_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, sound = running_study(), running_study()
    raising(
        monkeypatch,
        live,
        "_want_chunks",
        lambda study: study.pk == broken.pk,
        OSError(28, "No space left on device"),
    )
    studies = live.LiveStudies("me")
    studies.running = {study.pk: live.LiveStudy(study, query=Query()) for study in (broken, sound)}
    assert studies.turn(object())  # type: ignore[arg-type]
    states = {study.pk: study.state for study in Study.objects.all()}
    assert states == {broken.pk: Study.State.FAILED, sound.pk: Study.State.RUNNING} and list(
        studies.running
    ) == [sound.pk]
    assert Study.objects.get(pk=sound.pk).progress == {"stage": "streaming"}


def test_a_study_that_cannot_be_told_leaves_the_other_watchers_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, sound = running_study(), running_study()
    real = watch.selectors.study_message

    def message(*, study: Study) -> Any:
        if study.pk == broken.pk:
            raise KeyError("stage")
        return real(study=study)

    monkeypatch.setattr(watch.selectors, "study_message", message)
    assert list(watch._read({broken.pk: 0, sound.pk: 0}, seen=False)) == [sound.pk]
