"""Small labs for tests: one lane, few records, a few milliseconds of work. And a lane on paper, for observers
that only ask questions."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.facts import LabFacts, facts_from_text, facts_text
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ledger import Ledger

SECOND = 1_000_000


def lab_of(
    model: str,
    *,
    consumers: int = 2,
    keys: int = 20,
    rate: int = 10,
    consumer_rate: int = 10,
    seconds: float = 0,
    **lane: Any,
) -> Lab:
    """A lab with this one lane after so many seconds."""
    workload = {"kind": "uniform", "keys": keys, "rate": rate}
    made = {
        "lanes": [{"model": model, **lane}],
        "consumers": consumers,
        "consumer_rate": consumer_rate,
        "workload": workload,
    }
    lab = Lab(scenario_from_json(made))
    lab.advance_to(int(seconds * SECOND))
    return lab


def lane_of(lab: Lab) -> Lane:
    (lane,) = lab.lanes.values()
    return lane


def order(lab: Lab, kind: str, consumer: str | None = None, seconds: float = 0, **args: Any) -> list[Json]:
    """Order it, let so many seconds pass, and give what was reported."""
    told = lab.submit({"command_id": f"o{lab.position}", "kind": kind, "consumer": consumer, "args": args})
    return told + lab.advance_to(lab.now_us + int(seconds * SECOND))


def stored(lab: Lab) -> LabFacts:
    """What a web process knows of the lab."""
    facts = facts_from_text(facts_text(lab.facts()), lab.limits)
    assert facts is not None
    return facts


def refusal(act: Callable[[], object]) -> tuple[str, str]:
    """Field and reason with which this is refused."""
    try:
        act()
    except CommandError as error:
        return error.field, str(error)
    raise AssertionError("it was not refused")


def kinds(told: list[Json]) -> list[str]:
    return [event["kind"] for event in told]


def consumer(
    name: str, state: str = "live", service_us: int = 100_000, normal_us: int = 100_000, incarnation: str = ""
) -> Consumer:
    return Consumer(name, 1, service_us, normal_us, incarnation or name, 0, state)


class PaperReading:
    """What is read of a `PaperLane`: the answers that the test has written down."""

    def __init__(self, lane: "PaperLane") -> None:
        self.lane = lane

    def stopped(self) -> Mapping[str, int]:
        return self.lane.stopped

    def __getattr__(self, name: str) -> Any:
        if name not in self.lane.answers:
            raise AttributeError(name)
        return lambda *_: self.lane.answers[name]


class PaperLane:
    """What observers ask of a lane, each answer written down by the test; its ledger is a real one, and what
    it says is kept."""

    def __init__(self, *consumers: Consumer, **answers: Any) -> None:
        self.consumers = {each.name: each for each in consumers}
        self.answers: dict[str, Any] = {
            "weights": {},
            "key_owners": None,
            "units": None,
            "space": None,
            "is_settled": True,
            "dark_units": (0, 10),
            "stuck": (0, 0),
            "lag": 0,
            "way_in": "ring",
            "waiting_for": 0,
            "held": 0,
            "redelivered": 0,
            **answers,
        }
        self.now_us = 0
        self.next_record = 0
        self.keys_have_owners = True
        self.crash_positions: dict[str, int] = {}
        self.history: dict[int, int | None] = {}
        self.why: list[Json] = []
        self.options: Json = {}
        self.stopped: Mapping[str, int] = {}
        self.keys = SimpleNamespace(count_at=lambda records: records)
        self.world = SimpleNamespace(told_count=0, made=0)
        self.reads = PaperReading(self)
        self.closed: list[Any] = []
        self.narrator = SimpleNamespace(
            on_settled=lambda lane, bill: lane.closed.append(bill), sentence_now=lambda lane: lane.sentence
        )
        self.uncounted = 0  # records out of order that are handled, and not in the tally yet
        self.sentence: Json = {"code": "idle", "params": {}}
        self.said: list[tuple[str, Json]] = []
        self.emitted: list[tuple[str, Json]] = []
        self.at_rest: Json = {"code": "none", "params": {}}
        self.ledger = Ledger(self)  # type: ignore[arg-type]  # it asks no more than what is written here

    def set(self, **answers: Any) -> "PaperLane":
        self.answers |= answers
        return self

    def count_handled(self) -> None:
        self.ledger.tally.order.count += self.uncounted
        self.uncounted = 0

    def say(self, code: str, /, **params: Any) -> None:
        self.sentence = {"code": code, "params": params}
        self.said.append((code, params))

    def emit(self, kind: str, cause: Any, rule: str | None, inputs: Json, data: Json) -> None:
        self.emitted.append((kind, data))

    def state_word(self, one: Consumer) -> str:
        return "slow" if one.state == "live" and one.service_us > one.normal_us else one.state


def paper(*consumers: Consumer, **answers: Any) -> Any:
    """A `PaperLane`, for functions that ask for a lane."""
    return PaperLane(*consumers, **answers)
