"""What a page draws, as one plain JSON object: a pure function of the lab's state.

What changes with every record is kept in objects keyed by id and not in lists, so that a frame's patch stays
small (`patch.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, LIVE, Consumer
from broker_core.lab.messages import Messages
from broker_core.lab.panels import PANELS, panels_of
from broker_core.lab.pieces import Pieces
from broker_core.lab.rabbitmq.open_reading import OpenReading
from broker_core.lab.scenario import Scenario
from broker_core.lab.shared.hero import hero_view
from broker_core.lab.shared.history import HISTORY_KEPT_S
from broker_core.lab.shared.idle import idle_view
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.sentence import sentence_view
from broker_core.lab.shared.shares import shares, skew_milli
from broker_core.lab.size import LaneSize
from broker_core.lab.sizing import parts_of_lab, size_of_lane
from broker_core.lab.workload.live_keys import LiveKeys
from broker_core.lab.workload.parse import Workload

RECENT_SHOWN = 64
TIMELINE_SHOWN = 60


class ShownLab(Protocol):
    """What a picture asks of a lab (`Lab`)."""

    record_count: int
    playing: bool
    speed_milli: int
    change_milli: int | None
    stop_us: int | None
    caption: Json
    seen: dict[str, int]
    timeline: dict[int, Json]
    scenario: Scenario
    workload: Workload
    messages: Messages
    keys: LiveKeys
    lanes: dict[str, Lane]
    shown: Shown

    @property
    def now_us(self) -> int: ...

    @property
    def pace_milli(self) -> int: ...

    @property
    def is_changing(self) -> bool: ...

    @property
    def lesson(self) -> LessonShown | None: ...


class LessonShown(Protocol):
    """What a picture asks of a lab's lesson."""

    def view(self, now_us: int) -> Json: ...


@dataclass(slots=True)
class Shown:
    """What was worked out for earlier views and cannot change: rows of records, skew of past seconds. Each
    view gets its own copy."""

    records: dict[str, Json] = field(default_factory=dict)
    records_until: int = 0
    seconds: dict[str, Json] = field(default_factory=dict)
    seconds_until: int = 0

    def recent_records(self, lab: ShownLab) -> dict[str, Json]:
        """The last records, by index, the oldest first."""
        workload, last = lab.workload, lab.record_count
        first = max(0, last - RECENT_SHOWN, self.records_until)
        for index, code in enumerate(workload.key_codes(first, last), first):
            self.records[str(index)] = {
                "key": workload.key(code) if code >= 0 else None,
                "row": workload.row(index),
            }
        self.records_until = last
        _keep_newest(self.records, RECENT_SHOWN)
        return self.records.copy()

    def history(self, lab: ShownLab) -> dict[str, Json]:
        """Skew of each lane at the end of each virtual second."""
        second = lab.now_us // SECOND_US
        for at in range(max(1, second - HISTORY_KEPT_S + 1, self.seconds_until + 1), second + 1):
            self.seconds[str(at)] = {
                lane_id: _thousandths(lane.history.get(at)) for lane_id, lane in lab.lanes.items()
            }
        self.seconds_until = second
        _keep_newest(self.seconds, HISTORY_KEPT_S)
        return self.seconds.copy()


def _keep_newest(entries: dict[str, Json], count: int) -> None:
    for key in list(entries)[: max(0, len(entries) - count)]:
        del entries[key]


def newest_of(timeline: dict[int, Json]) -> dict[str, Json]:
    """The last marks of a timeline, the oldest first."""
    positions = list(islice(reversed(timeline), TIMELINE_SHOWN))
    return {str(position): timeline[position] for position in reversed(positions)}


def lab_view(lab: ShownLab, panels: Collection[str] = PANELS) -> Pieces[Json]:
    """The view of a whole lab, lane by lane, with these of its panels; its parts are described in
    docs/interface.md."""
    lanes: Json = {}
    sizes: list[LaneSize] = []
    for lane_id, lane in lab.lanes.items():
        sizes.append(size_of_lane(lane))
        lanes[lane_id] = {**lane_view(lab, lane, panels), "size": sizes[-1].to_json()}
        yield None
    last = lab.record_count
    return {
        **lab_numbers(lab),
        "playing": lab.playing,
        "stop_us": lab.stop_us,
        "speed": lab.pace_milli / 1000,
        "own_speed": lab.speed_milli / 1000,
        "at_changes": None if lab.change_milli is None else lab.change_milli / 1000,
        "changing": lab.is_changing,
        "seed": lab.scenario.seed,
        "scenario": lab.scenario.name,
        "consumer_rate": lab.scenario.consumer_rate,
        "workload": lab.workload.view(last),
        "recent": lab.shown.recent_records(lab),
        "consumers": {name: {"color": color, "order": color - 1} for name, color in lab.seen.items()},
        "caption": lab.caption,
        "timeline": newest_of(lab.timeline),
        "history": lab.shown.history(lab),
        "lane_order": list(lab.lanes),
        "lanes": lanes,
        "parts": parts_of_lab(sizes, lab.workload.key_count or 0),
        **({} if lab.lesson is None else {"lesson": lab.lesson.view(lab.now_us)}),
    }


def lab_numbers(lab: ShownLab) -> Json:
    """The lab's own numbers, of no lane."""
    present = {
        name
        for lane in lab.lanes.values()
        for name, consumer in lane.consumers.items()
        if consumer.state not in (CRASHED, GONE)
    }
    last = lab.record_count
    return {
        "at_us": lab.now_us,
        "record_count": last,
        "key_count": lab.keys.count_at(last),
        "consumer_count": len(present),
    }


def lane_view(lab: ShownLab, lane: Lane, panels: Collection[str] = PANELS) -> Json:
    """One lane, with these of its panels, without its size."""
    ledger, last_bill = lane.ledger, lane.ledger.bill
    share_of = shares(lane)
    before = last_bill.shares_before if last_bill else {}
    last = lab.record_count - 1
    route: Json | None = None
    if last >= 0:
        code = lab.messages.key_code(last)
        route = {
            "record": last,
            "key": lab.messages.key(code) if code >= 0 else None,
            "keyless": code < 0,
            **lane.reads.route(last, code),
        }
    picture = lane.reads.picture()
    units = lane.reads.units()
    is_open = isinstance(lane.reads, OpenReading)
    real = lane.reads.clients() if isinstance(lane.reads, OpenReading) else {}
    bill = ledger.bill_view()
    if "space" in picture:
        picture["needle"] = route["hash"] if route else None
    return {
        "model": lane.model,
        "algorithm": lane.algorithm,
        "algorithms": lane.rules.algorithms(),
        "order": [*lane.consumers, *real],
        "consumers": {
            **{
                name: _consumer_view(lane, consumer, share_of[name], before.get(name))
                for name, consumer in lane.consumers.items()
            },
            **real,
        },
        "skew": _thousandths(skew_milli(lane)),
        "lag": lane.reads.lag(),
        "bill": bill,
        "hero": hero_view(lane),
        "tally": ledger.tally.to_view(
            lane.now_us,
            last_bill,
            lane.reads.redelivered(),
            lane.keys_have_owners,
            None if units is None else len(units),
            lane.reads.lost(),
        ),
        "why": lane.why[:],  # a copy: views are compared with later ones
        "sentence": sentence_view(lane, bill),
        "idle": idle_view(lane),
        "route": route,
        "picture": picture,
        **({"is_open": True} if is_open else {}),
        **panels_of(lane, panels),
    }


def _consumer_view(lane: Lane, consumer: Consumer, share: int, before: int | None) -> Json:
    return {
        "name": consumer.name,
        "color": consumer.color,
        "state": lane.state_word(consumer),
        "share": share / 1_000_000,
        "share_before": None if before is None else before / 1_000_000,
        "rate": consumer.rate_tenths(lane.now_us // SECOND_US) / 10,
        "capacity": SECOND_US // consumer.service_us,
        "slow": consumer.state == LIVE and consumer.service_us > consumer.normal_us,
        "in_flight": int(lane.hand(consumer) >= 0),
        "unacked": lane.reads.held(consumer),
        "deadline_us": consumer.deadline_us,
        "deadline_from_us": consumer.deadline_from_us,
    }


def _thousandths(value: int | None) -> float | None:
    return None if value is None else value / 1000
