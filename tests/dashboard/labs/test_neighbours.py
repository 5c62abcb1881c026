"""Whatever goes wrong in one lab stops that lab alone: with its reason on its page, its journal kept, and no
neighbour the wiser."""

import json
from typing import Any

import pytest
from django.db import DataError, IntegrityError, OperationalError, connection
from django.test import Client
from redis.exceptions import ResponseError

from broker_core.errors import InvariantError, ReplayError
from broker_core.lab import journal as journals
from broker_core.lab.lab import Lab as CoreLab
from dashboard.labs import chunks, stopping, writes
from dashboard.labs import driver as drivers
from dashboard.labs.shard import ASIDE_S
from dashboard.labs.transport import Frame, Transport
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredEvent, StoredView
from tests.dashboard.labs.neighbours import Two, raising
from tests.dashboard.patching import follow
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


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
    body = {
        "command_id": "study:abc:1",
        "kind": "join",
        "lane": "all",
        "consumer": "c9",
        "args": {"count": 1},
    }
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
        Lab.objects.filter(pk=two.broken.pk).update(scenario={"lanes": 7})
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
    Lab.objects.filter(pk=lab.pk).update(scenario={**lab.scenario, "lanes": 7})
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
