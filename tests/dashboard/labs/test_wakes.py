"""Whom a service wakes: shards whose task is gone, labs that somebody comes to see, and nobody before the
database has it."""

from collections.abc import Sequence
from typing import Any

import pytest
import redis
from django.db import transaction
from kombu.exceptions import OperationalError

from dashboard.labs import services, shards, sharing, tasks
from dashboard.labs.forks import same_kind
from dashboard.labs.transport import Beat
from dashboard.models import Lab, StoredCommand, shard_of
from mqsite.host import shard_queue

pytestmark = pytest.mark.django_db
HERE, THERE = "here", "there"


def queue(number: int) -> str:
    return shard_queue(number, HERE)


class Redis:
    """What the transport would say. ages_s: of the shards' signs of life; waiting: tasks in each queue; lost:
    every call fails."""

    def __init__(self) -> None:
        self.ages_s: list[float | None] = [0.5, 0.5]
        self.waiting: dict[str, int] = {}
        self.enqueued_lately: set[int] = set()
        self.lost = False
        self.drivers = [HERE, HERE]
        self.others: set[str] = set()
        self.woken: list[tuple[int, str]] = []

    def _ask(self) -> None:
        if self.lost:
            raise redis.ConnectionError

    def beats(self, shards: Sequence[int]) -> list[Beat | None]:
        self._ask()
        known = dict(enumerate(zip(self.ages_s, self.drivers, strict=True)))
        found = [known.get(shard, (None, "")) for shard in shards]
        return [None if age is None else Beat(age, host) for age, host in found]

    def host_beat(self) -> None:
        self._ask()

    def hosts(self, within_s: float) -> set[str]:
        return self.others

    def may_enqueue(self, shard: int) -> bool:
        self._ask()
        return shard not in self.enqueued_lately

    def queue_length(self, queue: str) -> int:
        self._ask()
        return self.waiting.get(queue, 0)

    def wake(self, shard: int, entry: str) -> bool:
        self.woken.append((shard, entry))
        return not self.lost


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Redis:
    settings.LAB_SHARDS, settings.LEASE_S = 2, 2.0
    fake = Redis()
    settings.HOST_ID = HERE
    sharing._free_since_s.clear()
    for module in (services, shards, sharing):
        monkeypatch.setattr(module, "transport", lambda: fake)
    return fake


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], str]]:
    """The shards' tasks that were enqueued, with their queues."""
    given: list[tuple[list[int], str]] = []

    def send_task(name: str, args: list[int], queue: str, retry: bool) -> None:
        assert name == tasks.drive_shard.name and not retry
        given.append((args, queue))

    monkeypatch.setattr(shards.current_app, "send_task", send_task)
    return given


def lab_row(name: str, **columns: Any) -> Lab:
    return Lab.objects.create(**{"id": name, "scenario": {}, "owner_hash": "", "shard": 0} | columns)


# -- shards --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ages_s", "gone"), [([0.1, 0.1], []), ([None, 0.1], [0]), ([2.0, 2.01], [1]), ([None, None], [0, 1])]
)
def test_a_shard_without_a_sign_of_life_for_a_lease_gets_a_new_task(
    server: Redis, sent: Any, ages_s: Any, gone: list[int]
) -> None:
    server.ages_s = ages_s
    assert shards.shards_ensure() == gone
    assert sent == [([number], queue(number)) for number in gone]


def test_a_task_that_waits_already_is_not_sent_again(server: Redis, sent: Any) -> None:
    server.ages_s, server.waiting = [None, None], {queue(0): 1}
    assert shards.shards_ensure() == [0, 1], "it is on its way"
    assert sent == [([1], queue(1))]


def test_a_worker_that_is_starting_is_given_a_moment(server: Redis, sent: Any) -> None:
    server.ages_s, server.enqueued_lately = [None, None], {0}
    assert shards.shards_ensure() == [1]


def test_without_redis_nothing_is_enqueued_and_nothing_fails(server: Redis, sent: Any) -> None:
    server.lost = True
    assert shards.shards_ensure() == [] and shards.shard_enqueue(0) is False and sent == []


def test_a_broker_that_takes_no_task_is_tried_again_later(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: Any, **_rest: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(shards.current_app, "send_task", fails)
    server.ages_s = [None, 0.1]
    assert shards.shards_ensure() == [] and shards.shard_enqueue(1) is False


def test_two_hosts_share_the_shards_and_one_alone_takes_all(server: Redis, sent: Any) -> None:
    server.ages_s, server.others = [None, None], {THERE}
    assert shards.shards_ensure() == [0], "its share; the other host has room for the rest"
    server.others = set()
    assert shards.shards_ensure() == [0, 1]


def test_a_host_with_its_share_leaves_a_free_shard_to_the_other_for_a_while_only(
    server: Redis, sent: Any, monkeypatch: Any
) -> None:
    server.ages_s, server.others = [0.1, None], {THERE}
    assert shards.shards_ensure() == []
    began_s = sharing._free_since_s[1]
    monkeypatch.setattr(sharing.time, "monotonic", lambda: began_s + sharing.LATE_S + 0.1)
    assert shards.shards_ensure() == [1]


def test_the_shards_of_a_host_that_died_go_to_the_one_that_is_left(server: Redis, sent: Any) -> None:
    server.drivers, server.others = [THERE, HERE], {THERE}
    assert shards.shards_ensure() == []
    server.ages_s, server.others = [2.1, 0.3], set()
    assert shards.shards_ensure() == [0] and sent == [([0], queue(0))]


@pytest.mark.parametrize(
    ("drivers", "others", "given_up"),
    [
        ([HERE, HERE], set(), None),
        ([HERE, HERE], {THERE}, 1),
        ([HERE, THERE], {THERE}, None),
        ([THERE, THERE], {THERE}, None),
    ],
)
def test_a_host_with_more_than_its_share_gives_up_its_last_shard(
    server: Redis, drivers: Any, others: Any, given_up: int | None
) -> None:
    server.drivers, server.others = drivers, others
    assert [number for number in (0, 1) if sharing.is_one_too_many(number)] == (
        [] if given_up is None else [given_up]
    )


def test_the_shard_of_open_labs_is_taken_by_whoever_finds_it_free_whatever_its_share(
    server: Redis, sent: Any, settings: Any
) -> None:
    server.ages_s, server.others = [0.1, 0.1], {THERE}
    settings.CLIENTS_ON = True
    assert shards.shards_ensure() == [settings.WIRE_SHARD]
    assert sent == [([settings.WIRE_SHARD], "wire.0.here")]
    assert not sharing.is_one_too_many(settings.WIRE_SHARD)
    settings.CLIENTS_ON = False
    assert shards.shards_ensure() == []


def test_a_task_that_waits_here_does_not_keep_other_hosts_from_the_shard(
    server: Redis, sent: Any, monkeypatch: Any
) -> None:
    server.ages_s, server.waiting = [None, None], {queue(0): 1, queue(1): 1}
    monkeypatch.setattr(server, "may_enqueue", lambda number: pytest.fail("it took the turn of the hosts"))
    assert shards.shards_ensure() == [0, 1]


def test_labs_of_shards_that_are_no_more_get_new_ones_also_without_redis(server: Redis, sent: Any) -> None:
    for name, shard in (("a", 0), ("b", 2), ("c", 7)):
        lab_row(name, shard=shard)
    server.lost = True
    shards.shards_ensure()
    now = dict(Lab.objects.values_list("pk", "shard"))
    assert now == {"a": 0, "b": shard_of("b"), "c": shard_of("c")} and max(now.values()) < 2


def test_labs_are_spread_over_their_shards_in_the_same_way_in_every_process(settings: Any) -> None:
    settings.LAB_SHARDS = 4
    assert [shard_of(name) for name in ("a", "b", "123456789")] == [
        0xE8B7BE43 % 4,
        0x71BEEFF9 % 4,
        0xCBF43926 % 4,
    ], "crc32"
    counts = [sum(shard_of(f"lab-{number}") == shard for number in range(400)) for shard in range(4)]
    assert min(counts) > 60


# -- who looks -----------------------------------------------------------------------------------------------


def test_who_comes_wakes_a_resting_lab_and_never_one_that_stopped(
    server: Redis, django_capture_on_commit_callbacks: Any
) -> None:
    for name, status, shard in (
        ("rests", "idle", 1),
        ("runs", "running", 0),
        ("failed", "failed", 0),
        ("other", "idle", 0),
    ):
        lab_row(name, status=status, shard=shard)
    with django_capture_on_commit_callbacks(execute=True):
        services.lab_watched(lab_ids=["rests", "runs", "failed", "never"], wake=True)
    assert dict(Lab.objects.values_list("pk", "status")) == {
        "rests": "running",
        "runs": "running",
        "failed": "failed",
        "other": "idle",
    }
    assert sorted(server.woken) == [(0, "runs"), (1, "rests")]
    assert {lab.pk for lab in Lab.objects.filter(last_watched_at__isnull=False)} == {
        "rests",
        "runs",
        "failed",
    }


def test_who_only_stays_wakes_nobody(server: Redis, django_capture_on_commit_callbacks: Any) -> None:
    lab_row("rests", status="idle")
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        services.lab_watched(lab_ids=["rests"])
    lab = Lab.objects.get()
    assert (lab.status, callbacks, server.woken) == ("idle", [], []) and lab.last_watched_at is not None


# -- after the commit ----------------------------------------------------------------------------------------


def test_nobody_is_woken_for_what_was_rolled_back(
    server: Redis, django_capture_on_commit_callbacks: Any
) -> None:
    class Lost(Exception):
        pass

    with pytest.raises(Lost), django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        services.lab_open(request={})
        raise Lost
    assert server.woken == [] and not Lab.objects.exists() and not StoredCommand.objects.exists()


def test_an_order_wakes_its_labs_shard_once_it_is_stored_and_a_repeated_one_nobody(
    server: Redis, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        opened = services.lab_open(request={})
    lab = opened.lab
    assert server.woken == [(lab.shard, lab.pk)]
    for _time in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            services.lab_submit(
                lab_id=lab.pk, request={"command_id": "x", "kind": "join"}, bearer=opened.owner_token
            )
    assert server.woken == [(lab.shard, lab.pk)] * 2


# -- another workload ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        ({"key": "route"}, {"kind": "flights", "key": "carrier", "rate": 20}),
        ({"kind": "flights", "rate": 5}, {"kind": "flights", "key": "carrier", "rate": 20}),
        ({"kind": "uniform", "keys": 5}, {"rate": 20}),
    ],
)
def test_a_change_of_the_workload_keeps_what_still_fits(new: dict[str, Any], kept: dict[str, Any]) -> None:
    assert same_kind({"kind": "flights", "key": "carrier", "rate": 20}, new) == kept
    assert same_kind({"kind": "flights"}, {"kind": "uniform"}) == {}
