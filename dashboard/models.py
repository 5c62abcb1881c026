"""Rows: a lab with its lease, its commands (the journal), what happened (turning points), checkpoints and the
last view; uploads and studies.

The journal (scenario, seed, commands with their place and time) is the truth; events, checkpoints and views
can be derived from it again.
"""

import secrets
import zlib

from django.conf import settings
from django.db import models
from django.utils import timezone

from dashboard.leases import wall_ms
from dashboard.stored import StoredJson, is_list, is_scenario

DEMO_SLUG = "demo"
LESSON_SLUG = "lesson:"
"""Before the name of a lesson: the lab in which readers elsewhere look at it."""
LESSON_SLUG = "lesson:"
"""Before the name of a lesson: the lab in which readers elsewhere look at it."""
NAME_MAX = 64


def lab_id_new() -> str:
    """A short id that nobody guesses and that needs no quoting in an address: 12 characters, 72 bits."""
    return secrets.token_urlsafe(9)


def shard_of(lab_id: str) -> int:
    """The shard that drives a lab. crc32, not hash(): every process must give the same answer."""
    return zlib.crc32(lab_id.encode()) % int(settings.LAB_SHARDS)


class LabsThere(models.Manager["Lab"]):
    """All labs but the deleted ones: for readers, writers and shards alike these are gone at once."""

    def get_queryset(self) -> "models.QuerySet[Lab]":
        return super().get_queryset().filter(deleted_at__isnull=True)


class Lab(models.Model):
    """One lab. The holder of the lease writes; every write names the epoch it was given and fails under a
    newer one."""

    class Status(models.TextChoices):
        RUNNING = (
            "running"  # a shard drives it (it may be paused by a person: that is the lab's own `playing`)
        )
        IDLE = (
            "idle"  # nobody watched for a while: no shard drives it until somebody does, or sends a command
        )
        FAILED = "failed"  # the core broke one of its own rules; the journal is kept

    id = models.CharField(primary_key=True, max_length=16, default=lab_id_new)
    slug = models.CharField(max_length=64, unique=True, null=True)  # of a lab that is the site's own
    name = models.CharField(
        max_length=NAME_MAX, blank=True, default=""
    )  # as its owner calls it now; the scenario keeps its first name
    scenario = StoredJson(shape=is_scenario)  # as scenario_to_json gives it, seed included
    owner_hash = models.CharField(max_length=64)  # SHA-256 of the owner's token
    visitor_hash = models.CharField(
        max_length=64, blank=True, db_index=True
    )  # SHA-256 of the visitor's cookie
    address_hash = models.CharField(
        max_length=32, blank=True, default="", db_index=True
    )  # who made it, for quotas: dashboard/address.py
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")
    left_at_us = models.BigIntegerField(
        null=True
    )  # of a branch: the moment of the parent at which it was copied, and its last order by then
    left_position = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_watched_at = models.DateTimeField(null=True, db_index=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.RUNNING)
    failed_reason = models.TextField(blank=True)

    shard = models.PositiveIntegerField()  # while it is open to real clients, settings.WIRE_SHARD
    clients_port = models.PositiveIntegerField(
        null=True
    )  # where it last listened for real clients, 0 before it has; None: it is closed to them
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until_ms = models.BigIntegerField(default=0)  # wall clock, milliseconds since 1970
    epoch = models.BigIntegerField(default=0)  # grows with every new holder
    clock_floor_us = models.BigIntegerField(
        default=0
    )  # virtual time that a browser may have seen: re-derived before anything else
    seq_floor = models.BigIntegerField(default=0)  # frame number that a browser may have seen
    position = models.BigIntegerField(default=0)  # place of the last command in the journal
    rules_version = models.PositiveIntegerField(
        default=0
    )  # broker_core/lab/rules.py when it was made; 0: before versions were kept
    script = StoredJson(
        default=list, shape=is_list
    )  # [{at_us, body}] in order: what the lab orders itself when it is time; stays whole
    parts = models.PositiveBigIntegerField(
        default=0
    )  # what it costs (broker_core/lab/size.py), as of its last frame
    goal = models.ForeignKey(
        "Goal", null=True, on_delete=models.SET_NULL, related_name="labs"
    )  # what it is to come to: looked at with each frame; and what of that had been counted at the stored view:
    goal_counted = StoredJson(default=dict)
    deleted_at = models.DateTimeField(null=True, db_index=True)  # until the undo is over; then the row goes

    objects = LabsThere()
    everything: "models.Manager[Lab]" = models.Manager()

    class Meta:
        indexes = [models.Index(fields=["shard", "status"], name="lab_shard_status")]

    def save(self, *args: object, **kwargs: object) -> None:
        if self._state.adding and self.shard is None:
            self.shard = shard_of(self.id)
        super().save(*args, **kwargs)  # type: ignore[arg-type]


class StoredCommand(models.Model):
    """One entry of a journal. Its place is given when it is accepted, its time when it takes effect; both
    once."""

    class State(models.TextChoices):
        ACCEPTED = "accepted"  # waits for the worker
        APPLIED = "applied"
        REFUSED = "refused"  # the lab could not do it, and is unchanged; `fields` says why

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="commands")
    command_id = models.CharField(max_length=64)
    position = models.BigIntegerField()
    at_us = models.BigIntegerField(
        null=True
    )  # stamped; a fork under another workload brings its parent's stamps
    body = StoredJson()  # as check_command gives it
    state = models.CharField(max_length=8, choices=State.choices, default=State.ACCEPTED)
    fields = StoredJson(default=dict)  # {field: [text]} of a refusal

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lab", "command_id"], name="command_once"),
            models.UniqueConstraint(fields=["lab", "position"], name="command_place"),
        ]
        indexes = [models.Index(fields=["lab"], condition=models.Q(state="accepted"), name="command_waiting")]


class StoredEvent(models.Model):
    """One turning point, as the core tells it."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="events")
    seq = models.BigIntegerField()
    at_us = models.BigIntegerField()
    event = StoredJson()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "seq"], name="event_once")]


class Checkpoint(models.Model):
    """The lab's state after all commands up to `position`, at `at_us`: where a replay may start. steps: what the lab
    had cost by then. size: of state, in bytes. base_at_us, base_position: of the checkpoint that state is packed
    against, unless it stands alone."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="checkpoints")
    at_us = models.BigIntegerField()
    position = models.BigIntegerField()
    steps = models.BigIntegerField()
    size = models.BigIntegerField()
    base_at_us = models.BigIntegerField(null=True)
    base_position = models.BigIntegerField(null=True)
    state = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "at_us", "position"], name="checkpoint_once")]


class StoredView(models.Model):
    """The last view at a frame boundary: what a newcomer sees, then the frames after `seq`. Apart from Lab,
    because it is big."""

    lab = models.OneToOneField(Lab, primary_key=True, on_delete=models.CASCADE, related_name="view")
    epoch = models.BigIntegerField()
    seq = models.BigIntegerField()
    at_us = models.BigIntegerField()
    text = models.TextField()  # JSON
    facts = models.TextField(default="")  # what a command's check may know: broker_core/lab/facts.py


class Pulse(models.Model):
    """One row that the health page writes, to know whether the database takes a write."""

    at_ms = models.BigIntegerField()  # wall clock, milliseconds since 1970

    @classmethod
    def beat(cls) -> None:
        """A small write. Never the same twice: SQLite does not write what is there already. Raises
        DatabaseError."""
        cls.objects.update_or_create(pk=1, defaults={"at_ms": wall_ms()})


# -- rooms: a teacher and who follows -------------------------------------------------------------------------


class Room(models.Model):
    """What a presenter shows to a room, whole: which lab, page and moment, or which deck. Every write makes `version` grow, so
    that a message is shown once and an older one not at all."""

    code = models.CharField(primary_key=True, max_length=6)  # dashboard/rooms/codes.py
    lab = models.ForeignKey(
        Lab, null=True, on_delete=models.CASCADE, related_name="rooms"
    )  # None: it has shown a deck alone
    presenter_hash = models.CharField(max_length=64, db_index=True)  # SHA-256 of the visitor's cookie
    remote_hash = models.CharField(max_length=64, blank=True, default="")  # of the second device's secret
    handover_hash = models.CharField(max_length=64, blank=True, default="")  # of the next presenter's, once
    address_hash = models.CharField(max_length=32, db_index=True)  # who opened it, for quotas
    version = models.BigIntegerField(default=1)
    shown = StoredJson()  # dashboard/rooms/shown.py
    locked = models.BooleanField(default=False)
    recalls = models.BigIntegerField(default=0)  # how often all were called back
    handovers = models.BigIntegerField(default=0)  # how often another took over
    presses = models.BigIntegerField(default=0)  # of the remote; the last of them:
    press = models.CharField(max_length=8, blank=True, default="")
    question = models.BigIntegerField(default=0)  # how many were asked; of the last one:
    stage = models.CharField(max_length=8, blank=True, default="")  # "" once it is put away
    bars_shown = models.BooleanField(default=False)  # what the room has answered so far
    asked = StoredJson(default=dict)  # dashboard/rooms/questions.py
    tasks = models.BigIntegerField(default=0)  # how many were set; the last of them, {} once it is over:
    task = StoredJson(default=dict)  # dashboard/rooms/tasks.py
    created_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(db_index=True)


class RoomSeat(models.Model):
    """One browser that has joined a room."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="seats")
    visitor_hash = models.CharField(max_length=64)
    name = models.CharField(max_length=32, blank=True, default="")
    is_looking = models.BooleanField(default=False)  # around, in a copy of its own
    seen_at = models.DateTimeField(default=timezone.now)
    answered = models.BigIntegerField(default=0)  # the question that was answered last; and with what:
    answer = StoredJson(default=dict)  # dashboard/rooms/answers.py
    changes = models.IntegerField(default=0)  # how often that answer was given

    class Meta:
        constraints = [models.UniqueConstraint(fields=["room", "visitor_hash"], name="seat_once")]


class Goal(models.Model):
    """What a seat's copies of a lab are to come to: its go at a task of the room. The lab's driver says when one of
    them does, once."""

    seat = models.ForeignKey(RoomSeat, on_delete=models.CASCADE, related_name="goals")
    task = models.BigIntegerField()  # which of the room's
    asked = StoredJson()  # broker_core/lab/lesson/goal.py
    held_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["seat", "task"], name="goal_once")]


class WrongCode(models.Model):
    """A code that no room has, tried from this address: so many an hour."""

    address_hash = models.CharField(max_length=32)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["address_hash", "at"], name="wrong_codes")]


# -- studies: the data pipeline's rows -----------------------------------------------------------------------


class Upload(models.Model):
    """A file of somebody's own messages, stored in the run folder's `uploads/<id>/`. It goes when its time is
    over."""

    id = models.CharField(primary_key=True, max_length=16, default=lab_id_new)
    owner_hash = models.CharField(
        max_length=64, db_index=True
    )  # SHA-256 of the visitor's cookie or the program's token
    address_hash = models.CharField(
        max_length=32, blank=True, default="", db_index=True
    )  # who made it, for quotas: dashboard/address.py
    name = models.CharField(max_length=255)  # as the person calls it; never a path of this machine
    stored_name = models.CharField(max_length=64)  # in its folder; its ending says how to read it
    kind = models.CharField(max_length=16)  # csv, jsonl, parquet or kafka_log
    bytes = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now, db_index=True)


class Study(models.Model):
    """One question to the data pipeline. Its result is the folder `studies/<id>/` in the run folder, whole or
    absent.

    A batch study goes queued -> running -> done, failed or cancelled, once: what ran when its worker died is
    failed, never run again. A live study runs until it is cancelled or nobody looks. Its worker holds the
    lease and writes under its epoch, as with a lab.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.CharField(primary_key=True, max_length=16, default=lab_id_new)
    name = models.CharField(max_length=128)
    live = models.BooleanField(default=False)
    request = StoredJson()  # checked and filled in; names an upload, a folder or a lab, never a path
    owner_hash = models.CharField(max_length=64, db_index=True)
    address_hash = models.CharField(
        max_length=32, blank=True, default="", db_index=True
    )  # who made it, for quotas: dashboard/address.py
    state = models.CharField(max_length=9, choices=State.choices, default=State.QUEUED)
    progress = StoredJson(default=dict)
    error = StoredJson(null=True)  # {template, values}: put into words for the reader
    created_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    watched_at = models.DateTimeField(null=True)  # a live study that nobody looks at rests
    cancel_requested = models.BooleanField(default=False)

    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until_ms = models.BigIntegerField(default=0)
    epoch = models.BigIntegerField(default=0)
    slot = models.PositiveSmallIntegerField(
        null=True, unique=True
    )  # 1 for the batch study that runs: there is one at a time

    class Meta:
        indexes = [models.Index(fields=["state", "queued_at"], name="study_turns")]


class StudyWindow(models.Model):
    """One window of a live study, as it was last told; only the newest are kept."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="windows")
    start_us = models.BigIntegerField()
    lane = models.CharField(max_length=64)
    version = models.BigIntegerField()  # grows with every change, so that a reader asks for what is new
    row = StoredJson()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "start_us", "lane"], name="window_once")]
        indexes = [models.Index(fields=["study", "version"], name="window_news")]
