"""The passport of a record: where it went in each lane, and when.

    a lab just before the record is sent ─► stamp ─► its journal goes on ─► passport_view: received, dropped, done, with times and consumers

The lab is a copy that nobody needs any more. Watching changes nothing, so a passport shows what did happen.
"""

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.shared.in_flight import Unwatched
from broker_core.lab.shared.lane import Lane
from broker_core.lab.trial import home
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.live_keys import NO_KEY

FOLLOWED_US = 300 * SECOND_US
"""For so long a record is followed: five minutes hold each time-out of a scenario's defaults twice."""
SEARCH = 4_096


class Stamps(Unwatched):
    """What a lane's programs did with one message: steps, as {kind: received | dropped | done, at_us, consumer}."""

    def __init__(self, lane: Lane, message: int) -> None:
        self.lane, self.message = lane, message
        self.steps: list[Json] = []

    def received(self, program: str, message: int, now_us: int) -> None:
        self._stamp("received", program, message, now_us)

    def handled(self, program: str, message: int, now_us: int) -> None:
        self._stamp("done", program, message, now_us)

    def dropped(self, program: str, message: int, now_us: int) -> None:
        self._stamp("dropped", program, message, now_us)

    def _stamp(self, kind: str, program: str, message: int, now_us: int) -> None:
        if message != self.message:
            return
        consumer = self.lane.traffic.by_node.get(program)
        name = None if consumer is None else consumer.name
        self.steps.append({"kind": kind, "at_us": now_us, "consumer": name})


def newest_with_key(workload: Workload, key: str, before: int) -> int:
    """The newest of the first `before` records that has the key. Raises CommandError at "key" where none has."""
    code = workload.code_of(key)
    stop = before if code is not None else 0
    while stop > 0:
        start = max(0, stop - SEARCH)
        codes = workload.key_codes(start, stop)
        if code in codes:
            return stop - 1 - codes[::-1].index(code)
        stop = start
    raise CommandError("key", "no record has had the key {key} yet", key=key)


def stamp(lab: Lab, record: int) -> dict[str, Stamps]:
    """Whatever the lab's programs do with the record from now on is stamped. By lane; a lane whose rule is switched
    is another lane, which stamps no more."""
    stamps = {lane.id: Stamps(lane, record) for lane in lab.lanes.values()}
    for lane in lab.lanes.values():
        lane.traffic.watch = stamps[lane.id]
    return stamps


def homes(lab: Lab, record: int) -> dict[str, Json | None]:
    """By lane, where messages with the record's key go now: `trial.home`."""
    code = lab.workload.key_code(record)
    return {lane.id: home(lane, None if code == NO_KEY else code) for lane in lab.lanes.values()}


def passport_view(lab: Lab, record: int, at_home: dict[str, Json | None], stamps: dict[str, Stamps]) -> Json:
    """{record, key, sent_us, until_us, row, lanes: {id: {model, home, steps}}}. lab: as far as the record was
    followed. at_home: `homes` when it was sent."""
    code = lab.workload.key_code(record)
    return {
        "record": record,
        "key": None if code == NO_KEY else lab.workload.key(code),
        "sent_us": lab.workload.arrival_us(record),
        "until_us": lab.now_us,
        "row": lab.workload.row(record),
        "lanes": {
            lane_id: {
                "model": lab.lanes[lane_id].model,
                "home": at_home[lane_id],
                "steps": known.steps,
                "is_switched": lab.lanes[lane_id] is not known.lane,
            }
            for lane_id, known in stamps.items()
        },
    }
