"""One writer per lab, write by write: who may take a lease, whose write counts, what becomes true together
and what is read back."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from broker_core.lab import journal
from broker_core.lab.checkpoint import pack
from broker_core.lab.journal import Mark, Stored, alone
from dashboard import leases
from dashboard.labs import writes
from dashboard.labs.writes import Commit, Decision, LeaseLost
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredView

pytestmark = pytest.mark.django_db
ACCEPTED, APPLIED, REFUSED = StoredCommand.State


class Clock:
    now_ms = 1_000_000


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The reader's wall clock, moved by the test."""
    clock = Clock()
    monkeypatch.setattr(leases, "wall_ms", lambda: clock.now_ms)
    monkeypatch.setattr(writes, "wall_ms", lambda: clock.now_ms)
    return clock


def lab_row(name: str = "lab", **columns: Any) -> Lab:
    return Lab.objects.create(**{"id": name, "scenario": {}, "owner_hash": "", "shard": 0} | columns)


def order(
    lab: Lab, position: int, state: str = ACCEPTED, at_us: int | None = None, command_id: str = ""
) -> StoredCommand:
    command_id = command_id or f"c{position}"
    return StoredCommand.objects.create(
        lab=lab,
        command_id=command_id,
        position=position,
        state=state,
        at_us=at_us,
        body={"command_id": command_id},
    )


def columns(name: str = "lab") -> tuple[str, int, int, str]:
    row = Lab.objects.get(pk=name)
    return row.lease_owner, row.lease_until_ms, row.epoch, row.status


# -- the lease -----------------------------------------------------------------------------------------------


def test_a_lab_has_one_holder_until_its_lease_has_run_out(clock: Clock, settings: Any) -> None:
    settings.LEASE_S = 2.0
    lab_row()
    taken = writes.lease_take("lab", "ann", 0)
    assert taken is not None and columns() == ("ann", 1_002_000, 1, "running")
    clock.now_ms += 1_999
    assert writes.lease_take("lab", "bob", 0) is None and columns()[0] == "ann"
    clock.now_ms += 1
    assert writes.lease_take("lab", "bob", 0) is not None and columns() == ("bob", 1_004_000, 2, "running")


def test_a_holder_that_takes_its_lab_again_gets_a_new_epoch() -> None:
    lab_row()
    assert [taken.epoch for _time in range(2) if (taken := writes.lease_take("lab", "ann", 0))] == [1, 2]


@pytest.mark.parametrize(
    "changes",
    [{"status": "failed"}, {"shard": 1}, {"deleted_at": datetime(2026, 1, 1, tzinfo=UTC)}, {"id": "other"}],
)
def test_a_lab_that_is_stopped_deleted_or_anothers_is_not_taken(changes: dict[str, Any]) -> None:
    row = lab_row(**{"id": "lab"} | changes)
    assert writes.lease_take("lab", "ann", 0) is None
    assert Lab.everything.get(pk=row.pk).epoch == 0


def test_a_resting_lab_that_is_taken_runs() -> None:
    lab_row(status=Lab.Status.IDLE)
    writes.lease_take("lab", "ann", 0)
    assert columns()[3] == "running"


def test_renewing_tells_what_was_lost_and_keeps_the_rest(clock: Clock, settings: Any) -> None:
    settings.LEASE_S = 2.0
    for name in ("mine", "again", "bobs", "deleted"):
        lab_row(name)
        writes.lease_take(name, "ann", 0)
    writes.lease_take("again", "ann", 0)
    Lab.objects.filter(pk="bobs").update(lease_owner="bob", epoch=2)
    Lab.objects.filter(pk="deleted").update(deleted_at=datetime(2026, 1, 1, tzinfo=UTC))
    clock.now_ms += 500
    assert writes.lease_renew({"mine": 1, "again": 1, "bobs": 1, "deleted": 1, "never": 1}, "ann") == {
        "again",
        "bobs",
        "deleted",
        "never",
    }
    assert columns("mine")[1] == 1_002_500 and columns("bobs")[1] == 1_002_000


def test_a_lab_that_is_let_go_is_free_at_once_but_not_by_a_former_holder() -> None:
    lab_row()
    writes.lease_take("lab", "ann", 0)
    writes.lease_release("lab", 0)
    assert writes.lease_take("lab", "bob", 0) is None
    writes.lease_release("lab", 1)
    assert writes.lease_take("lab", "bob", 0) is not None


def test_only_the_holder_stops_a_lab_and_its_last_view_says_so() -> None:
    lab_row()
    writes.lease_take("lab", "ann", 0)
    writes.lab_fail("lab", 0, "not mine", (9, 9, "{}"))
    assert columns()[3] == "running" and not StoredView.objects.exists()
    for text in ('{"first":1}', '{"second":2}'):
        writes.lab_fail("lab", 1, "KeyError: 'c1'", (7, 5_000, text))
    row = Lab.objects.get(pk="lab")
    assert (row.status, row.failed_reason, row.lease_until_ms) == ("failed", "KeyError: 'c1'", 0)
    view = StoredView.objects.get(pk="lab")
    assert (view.epoch, view.seq, view.at_us, view.text) == (1, 7, 5_000, '{"second":2}')


def test_a_lab_that_never_had_a_view_is_stopped_without_one() -> None:
    lab_row()
    writes.lab_fail("lab", 0, "why", None)
    assert columns()[3] == "failed" and not StoredView.objects.exists()


def test_the_database_answers_while_it_does() -> None:
    assert writes.database_answers() and writes.database_answers()


# -- what becomes true together ------------------------------------------------------------------------------


def commit(lab_id: str = "lab", epoch: int = 0, seq: int = 3, **rest: Any) -> Commit:
    return Commit(
        lab_id,
        epoch,
        seq,
        at_us=500,
        clock_floor_us=900,
        seq_floor=1_003,
        view_text='{"n":1}',
        facts_text='{"f":1}',
        **rest,
    )


def event(seq: int, **rest: Any) -> dict[str, Any]:
    return {"seq": seq, "at_us": seq * 10, "kind": "told", **rest}


def test_decisions_turning_points_view_and_floors_are_written_at_once() -> None:
    lab = lab_row()
    taken, refused = order(lab, 1), order(lab, 2)
    decisions = [Decision(taken, 400), Decision(refused, 450, {"consumer": ["there is no such consumer"]})]
    assert (
        writes.commit_all(
            [commit(decisions=decisions, events=[event(1), event(2)], extra={"status": "idle"})]
        )
        == {}
    )
    row = Lab.objects.get(pk="lab")
    assert (row.clock_floor_us, row.seq_floor, row.status) == (900, 1_003, "idle")
    decided = lab.commands.order_by("position").values_list("state", "at_us", "fields")
    assert list(decided) == [(APPLIED, 400, {}), (REFUSED, 450, {"consumer": ["there is no such consumer"]})]
    assert list(lab.events.order_by("seq").values_list("seq", "at_us", "event")) == [
        (1, 10, event(1)),
        (2, 20, event(2)),
    ]
    assert writes.view_stored("lab") == (1_003, {"n": 1}) and writes.event_seq_last("lab") == 2


def test_a_view_is_replaced_by_the_next_one() -> None:
    lab_row()
    for seq in (3, 4):
        writes.commit_all([commit(seq=seq)])
    assert list(StoredView.objects.values_list("lab_id", "seq")) == [("lab", 4)]


def test_a_command_is_decided_once_and_a_turning_point_told_once() -> None:
    lab = lab_row()
    command = order(lab, 1)
    writes.commit_all([commit(decisions=[Decision(command, 400)], events=[event(1)])])
    writes.commit_all(
        [commit(decisions=[Decision(command, 999, {"x": ["no"]})], events=[event(1, kind="other"), event(2)])]
    )
    command.refresh_from_db()
    assert (command.state, command.at_us, command.fields) == (APPLIED, 400, {})
    assert [row.event["kind"] for row in lab.events.order_by("seq")] == ["told", "told"]


def test_who_lost_the_lease_writes_nothing_and_the_others_all() -> None:
    first, second = lab_row("first", epoch=2), lab_row("second")
    command = order(first, 1)
    late = commit("first", 1, decisions=[Decision(command, 400)], events=[event(1)])
    failed = writes.commit_all([late, commit("second", events=[event(1)]), commit("gone")])
    assert {name: type(error) for name, error in failed.items()} == {"first": LeaseLost, "gone": LeaseLost}
    command.refresh_from_db()
    assert command.state == ACCEPTED and not first.events.exists() and second.events.count() == 1
    assert list(StoredView.objects.values_list("lab_id", flat=True)) == ["second"]
    assert Lab.objects.get(pk="first").seq_floor == 0


def test_a_lab_whose_rows_cannot_be_written_takes_back_all_of_its_own() -> None:
    spoilt, sound = lab_row("spoilt"), lab_row("sound")
    failed = writes.commit_all([commit("spoilt", events=[event(1), {"seq": 2}]), commit("sound")])
    assert list(failed) == ["spoilt"] and isinstance(failed["spoilt"], KeyError)
    spoilt.refresh_from_db()
    assert (
        spoilt.seq_floor == 0 and not spoilt.events.exists() and StoredView.objects.get().lab_id == sound.pk
    )


def test_more_labs_take_no_more_statements() -> None:
    counts = []
    for count in (2, 30):
        names = [f"{count}-{number}" for number in range(count)]
        for name in names:
            lab_row(name)
        with CaptureQueriesContext(connection) as captured:
            assert writes.commit_all([commit(name, events=[event(1)]) for name in names]) == {}
        counts.append(len(captured))
        assert StoredView.objects.filter(lab_id__in=names).count() == count
    assert counts[0] == counts[1] <= 12


def test_a_checkpoint_is_kept_once_and_of_its_own_lab() -> None:
    lab_row()
    lab_row("other")
    for state in (b"state", b"another"):
        writes.commit_all([commit(checkpoint=alone(Mark(60, 1), 9, state)), commit("other")])
    kept = Checkpoint.objects.get()
    assert (kept.lab_id, kept.at_us, kept.position, kept.steps) == ("lab", 60, 1, 9)
    assert writes.state_of(kept) == b"state" and kept.size == len(kept.state)


# -- the script ----------------------------------------------------------------------------------------------


def entry(command_id: str, at_us: int) -> dict[str, Any]:
    return {"at_us": at_us, "body": {"command_id": command_id, "kind": "join"}}


SCRIPT = [entry("study:1", 100), entry("study:2", 200), entry("study:3", 300)]


def test_a_scripts_entries_become_commands_with_places_in_order_and_once() -> None:
    lab = lab_row(script=SCRIPT, position=4)
    assert writes.orders_accept("lab", 0, [each["body"] for each in SCRIPT[:2]]) == ["study:1", "study:2"]
    assert writes.orders_accept("lab", 0, [each["body"] for each in SCRIPT[1:]]) == ["study:3"]
    assert list(lab.commands.order_by("position").values_list("position", "command_id", "at_us")) == [
        (5, "study:1", None), (6, "study:2", None), (7, "study:3", None)]  # fmt: skip
    assert Lab.objects.get(pk="lab").position == 7


@pytest.mark.parametrize("epoch", [1, -1])
def test_a_script_is_only_followed_by_the_holder(epoch: int) -> None:
    lab_row(script=SCRIPT)
    with pytest.raises(LeaseLost):
        writes.orders_accept("lab", epoch, [each["body"] for each in SCRIPT])
    assert not StoredCommand.objects.exists()


def test_what_a_script_has_left_is_what_the_journal_has_not() -> None:
    lab = lab_row(script=SCRIPT)
    assert writes.script_left(lab) == (SCRIPT, [])
    order(lab, 1, APPLIED, 100, "study:1")
    order(lab, 2, ACCEPTED, None, "study:2")
    assert writes.script_left(lab) == ([SCRIPT[2]], [SCRIPT[1]])
    order(lab, 3, ACCEPTED, 300, "study:3")  # brought along from another lab, with its time
    assert writes.script_left(lab) == ([], [SCRIPT[1]])
    assert writes.script_left(lab_row("without")) == ([], [])


# -- reading back --------------------------------------------------------------------------------------------


def test_a_replay_takes_what_has_a_time_in_order_but_what_was_refused() -> None:
    lab = lab_row()
    for position, state, at_us in (
        (3, APPLIED, 30),
        (1, APPLIED, 10),
        (2, REFUSED, 20),
        (4, ACCEPTED, 40),
        (5, ACCEPTED, None),
    ):
        order(lab, position, state, at_us)
    assert [row.position for row in writes.commands_after(lab, 0)] == [1, 3, 4]
    assert [writes.entry(row) for row in writes.commands_after(lab, 3)] == [
        {"command_id": "c4", "position": 4, "at_us": 40}
    ]


def test_what_waits_is_read_in_order_a_turn_at_a_time() -> None:
    lab = lab_row()
    for position in range(writes.COMMANDS_AT_ONCE + 5, 0, -1):
        order(lab, position)
    order(lab, 900, ACCEPTED, 5)
    order(lab, 901, APPLIED, 5)
    assert [row.position for row in writes.commands_waiting("lab")] == list(
        range(1, writes.COMMANDS_AT_ONCE + 1)
    )


def test_a_shard_finds_what_it_may_drive_and_what_was_ordered_of_it(clock: Clock) -> None:
    held = {"lease_owner": "bob", "lease_until_ms": clock.now_ms + 1}
    for name, row in {
        "free": {},
        "mine": {**held, "lease_owner": "ann"},
        "bobs": held,
        "run_out": {**held, "lease_until_ms": clock.now_ms},
        "idle": {"status": "idle"},
        "failed": {"status": "failed"},
        "elsewhere": {"shard": 1},
    }.items():
        lab = lab_row(name, **row)
        order(lab, 1)
        order(lab, 2)
    lab_row("unasked")
    order(Lab.objects.get(pk="unasked"), 1, APPLIED, 5)
    assert sorted(writes.labs_running(0, "ann")) == ["free", "mine", "run_out", "unasked"]
    assert sorted(writes.labs_with_commands(0, "ann")) == ["free", "idle", "mine", "run_out"]


def test_a_replay_starts_from_the_last_checkpoint_before_its_moment() -> None:
    lab = lab_row()
    for at_us, position in ((0, 0), (500, 2), (500, 3), (900, 4)):
        writes.checkpoint_store("lab", alone(Mark(at_us, position), 0, b""))
    found = {
        until: (row.at_us, row.position)
        for until in (0, 499, 500, 899, 10_000)
        if (row := writes.checkpoint_before(lab, until))
    }
    assert found == {0: (0, 0), 499: (0, 0), 500: (500, 3), 899: (500, 3), 10_000: (900, 4)}
    assert writes.checkpoint_before(lab_row("other"), 10_000) is None


def test_a_stored_checkpoint_is_read_with_the_one_that_it_is_packed_against() -> None:
    lab = lab_row()
    old, new = b"state " * 100, b"state " * 100 + b"later"
    base = alone(Mark(0, 0), 5, old)
    packed = pack(new, old)
    writes.checkpoint_store("lab", base)
    writes.checkpoint_store("lab", journal.Checkpoint(Stored(Mark(9, 0), 8, len(packed), Mark(0, 0)), packed))
    assert [writes.state_of(writes.checkpoint_before(lab, at_us)) for at_us in (0, 9)] == [old, new]
    lab.checkpoints.filter(at_us=0).update(state=b"damaged")
    assert [writes.state_of(writes.checkpoint_before(lab, at_us)) for at_us in (0, 9)] == [b"", b""]
    lab.checkpoints.filter(at_us=0).delete()
    assert writes.state_of(writes.checkpoint_before(lab, 9)) == b"", "without its base nothing can be read"


def test_checkpoints_of_a_lab_stay_within_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "CHECKPOINTS_BYTES_MAX", 1_000)
    lab_row()
    for number in range(40):
        state = hashlib.sha512(str(number).encode()).digest()
        checkpoint = alone(Mark(number, 0), number * 10, state)
        assert writes.commit_all([commit(checkpoint=checkpoint)]) == {}
        assert Checkpoint.objects.aggregate(size=Sum("size"))["size"] <= 1_000
    kept = list(Checkpoint.objects.order_by("at_us").values_list("at_us", flat=True))
    assert kept[-1] == 39 and len(kept) >= 8


def test_what_was_never_seen_cannot_be_read_back() -> None:
    lab = lab_row()
    assert writes.event_seq_last("lab") == 0
    with pytest.raises(LookupError):
        writes.view_stored("lab")
    StoredView.objects.create(lab=lab, epoch=0, seq=0, at_us=0, text="{")
    with pytest.raises(ValueError):
        writes.view_stored("lab")


def test_a_lab_was_seen_when_it_was_last_watched_or_else_made() -> None:
    def at(second: int) -> datetime:
        return datetime.fromtimestamp(second, UTC)

    lab_row("new", created_at=at(100))
    lab_row("watched", created_at=at(100), last_watched_at=at(250))
    lab_row("copied", created_at=at(300), last_watched_at=at(200))
    lab_row("deleted", created_at=at(100), deleted_at=at(150))
    assert writes.labs_seen_at(["new", "watched", "copied", "deleted", "nobody"]) == {
        "new": 100,
        "watched": 250,
        "copied": 300,
    }
