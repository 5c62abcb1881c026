"""How fast RabbitMQ's exchanges find their queues, and how fast AMQP's frames are read and written, the latter beside
pamqp's in the same run.

Prints a table when run as a script; `make bench` calls `run()`. pamqp is read frame by frame, as its users do; it does
not write what it read byte for byte (docs/decisions/amqp-codec.md), so only the speed is compared.
"""

import gzip
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from broker_core.rabbitmq.exchanges.topic import Topic
from broker_core.rabbitmq.methods import BasicDeliver, BasicPublish
from broker_core.rabbitmq.properties import NO_PROPERTIES, Content, Properties
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode

try:
    from pamqp import frame as pamqp_frame
except ImportError:  # an environment from before it was listed: our own figures do not need it
    pamqp_frame = None

Figure = tuple[str, float, str, str, str]

BINDINGS, KEYS, MATCHES = 10_000, 5_000, 100_000
WORDS_OF_A_LONG_KEY = 128
MESSAGES = 5_000
REPEATS = 7

FRAMES = Path(__file__).parents[1] / "vectors" / "rabbitmq" / "frames.json.gz"


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    return [*_topics(), _long_key(), *_codec()]


def _topics() -> list[Figure]:
    chance = random.Random(7)
    words = [f"w{number}" for number in range(200)]
    exchange = Topic()
    for number in range(BINDINGS):
        pattern = [
            "*" if (drawn := chance.random()) < 0.15 else "#" if drawn < 0.2 else chance.choice(words)
            for _ in range(chance.randint(3, 5))
        ]
        exchange.bind(("queue", f"q{number % 500}"), ".".join(pattern), {})
    keys = [".".join(chance.choice(words) for _ in range(chance.randint(3, 5))) for _ in range(KEYS)]
    began = time.perf_counter()
    found = sum(len(exchange.route((key,), NO_PROPERTIES)) for key in keys)
    first = time.perf_counter() - began
    again = _seconds(lambda: [exchange.route((keys[turn % KEYS],), NO_PROPERTIES) for turn in range(MATCHES)])
    return [
        (
            f"{BINDINGS:,} topic bindings, {KEYS:,} keys: matches a second",
            round(MATCHES / again),
            "a second",
            "at least 100,000",
            f"{found / KEYS:.1f} queues a key",
        ),
        (
            "the same, keys that were not there before",
            round(KEYS / first),
            "a second",
            "",
            "searched once, until a binding changes: 52 places 10 us, 26 queues joined and sorted 7 us",
        ),
    ]


def _long_key() -> Figure:
    exchange = Topic()
    for number, pattern in enumerate(("#.#.#.#", "#.a.#.a.#.a.#.c")):
        exchange.bind(("queue", f"q{number}"), pattern, {})
    keys = [
        f"{number}." + ".".join("ab"[at % 2] for at in range(1, WORDS_OF_A_LONG_KEY))
        for number in range(REPEATS)
    ]
    times = []
    for key in keys:
        began = time.perf_counter()
        exchange.route((key,), NO_PROPERTIES)
        times.append(time.perf_counter() - began)
    return (
        f"a key of {WORDS_OF_A_LONG_KEY} words against #.#.#.#",
        round(min(times) * 1e3, 3),
        "ms",
        "at most 5",
        f"the slowest of {REPEATS}: {max(times) * 1e3:.2f} ms",
    )


def _codec() -> list[Figure]:
    properties = Properties(
        content_type="text/plain", headers={"n": 1, "key": "N342NW"}, delivery_mode=2, message_id="m-1"
    )
    content = Content(properties, b"x" * 200)
    methods = [BasicPublish(1, "orders", "orders.eu.created", message=content) for _ in range(MESSAGES)]
    delivered = [
        BasicDeliver(1, "c1", 7, False, "orders", "orders.eu.created", content) for _ in range(MESSAGES)
    ]
    published, stream = b"".join(map(encode, methods)), b"".join(map(encode, delivered))
    reading, other_reading, writing, other_writing = [], [], [], []
    frames = _read_by_pamqp(stream)
    for _ in range(REPEATS):
        reading.append(_seconds(lambda: list(Receiver(0).receive(published)), 1))
        other_reading.append(_seconds(lambda: _read_by_pamqp(published), 1))
        writing.append(_seconds(lambda: [encode(method) for method in delivered], 1))
        other_writing.append(_seconds(lambda: [pamqp_frame.marshal(each, 1) for each in frames], 1))
    return [
        _beside("AMQP: messages read a second (method, header, body)", min(reading), min(other_reading)),
        _beside("AMQP: messages written a second", min(writing), min(other_writing)),
        *_exactness(),
    ]


def _beside(what: str, ours: float, others: float) -> Figure:
    note = f"pamqp {MESSAGES / others:,.0f} in the same run" if pamqp_frame else "pamqp is not installed"
    return what, round(MESSAGES / ours), "a second", "", note


def _exactness() -> list[Figure]:
    if not pamqp_frame:
        return []
    recorded = [bytes.fromhex(row["hex"]) for row in _recorded() if row["kind"] != "protocol-header"]
    same = sum(map(_is_the_same_by_pamqp, recorded))
    what = "recorded frames that pamqp writes as it read them"
    return [(what, same, "frames", "", f"of {len(recorded)}; ours writes all")]


def _recorded() -> list[dict[str, str]]:
    sessions = json.loads(gzip.decompress(FRAMES.read_bytes()))["sessions"]
    return [row for session in sessions for row in session["frames"]]


def _read_by_pamqp(data: bytes) -> list[object]:
    frames: list[object] = []
    at = 0
    while pamqp_frame and at < len(data):
        end = at + 8 + int.from_bytes(data[at + 3 : at + 7], "big")
        frames.append(pamqp_frame.unmarshal(data[at:end])[2])
        at = end
    return frames


def _is_the_same_by_pamqp(raw: bytes) -> bool:
    try:
        _, channel, read = pamqp_frame.unmarshal(raw)
        return bool(pamqp_frame.marshal(read, channel) == raw)
    except ValueError:
        return False  # it refuses what servers and clients really send: insist, an empty reserved text


def _seconds(work: Callable[[], object], repeats: int = 0) -> float:
    times = []
    for _ in range(repeats or REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what:<70} {value:>12,} {unit:<10} {bar:<18} {note}")
