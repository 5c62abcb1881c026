"""The lab's own rigs with an observer: what is in flight where, what arrives in vain, which partition is paused and for how long.

Only headless runs are watched; a lab on a page runs the rigs as they are. Each class below adds to its rig only looking: every method
does what the rig's does and notes down what it saw.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.analysis.order import Flight
from broker_core.analysis.pause import Stop
from broker_core.events import Cause
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.rig import Rig, RigSetup
from broker_core.lab.rigs import tubemq_group
from broker_core.lab.rigs.pulsar import PulsarRig
from broker_core.lab.rigs.tubemq import TubeMqRig
from broker_core.tubemq.assignment import Call


class WatchedRig(Rig):
    """What is common to them. flights, stops: those that are over. waited: records that arrived while nobody could take them: their
    partition was paused, their key's consumer was dead or missing, or (a queue) no consumer was alive."""

    def __init__(self, setup: RigSetup) -> None:
        self.flights: list[Flight] = []
        self.stops: list[Stop] = []
        self.waited = 0
        self._in_flight: dict[str, dict[int, tuple[int, int]]] = {}  # session -> record -> (key code, since when)
        self._stopped: dict[str, int] = {}  # partition -> since when
        super().__init__(setup)

    def finish(self, now_us: int) -> None:
        """The run is over: what is still in flight or paused counts up to now."""
        for name in list(self._in_flight):
            self.let_go(name)
        for unit in list(self._stopped):
            self.note_stop(unit, None)

    # -- in flight ----------------------------------------------------------------------------------------------------------------------

    def sent(self, session: str, record: int, code: int) -> None:
        """A record with a key is on its way to a consumer that is alive."""
        consumer = self.consumers.get(_name_of(session))
        if code != NO_KEY and consumer is not None and consumer.session == session and consumer.state not in (CRASHED, GONE):
            self._in_flight.setdefault(session, {})[record] = (code, self.now_us)

    def acked(self, session: str, record: int) -> None:
        """It has been acknowledged."""
        self._close(session, self._in_flight.get(session, {}).pop(record, None))

    def let_go(self, session: str) -> None:
        """Whatever this session had is in flight no longer."""
        for flight in self._in_flight.pop(session, {}).values():
            self._close(session, flight)

    def _close(self, session: str, flight: tuple[int, int] | None) -> None:
        if flight is not None:
            self.flights.append(Flight(flight[0], _name_of(session), flight[1], self.now_us))

    def drop_hand(self, consumer: Consumer) -> None:
        self.let_go(consumer.session)
        super().drop_hand(consumer)

    def on_done(self, consumer: Consumer, record: int) -> None:
        self.acked(consumer.session, record)
        super().on_done(consumer, record)  # type: ignore[safe-super]  # the rig comes after this class

    def do_leave(self, consumer: Consumer, cause: Cause) -> None:
        self.let_go(consumer.session)
        super().do_leave(consumer, cause)  # type: ignore[safe-super]  # the rig comes after this class

    # -- paused -------------------------------------------------------------------------------------------------------------------------

    def note_stop(self, unit: str, stopped_us: int | None) -> None:
        """Since when this partition has been paused; None: it is read."""
        since = self._stopped.get(unit)
        if since is None and stopped_us is not None:
            self._stopped[unit] = stopped_us
        elif since is not None and stopped_us is None:
            del self._stopped[unit]
            self.stops.append(Stop(unit, since, self.now_us))


def _name_of(session: str) -> str:
    """A session is called after its consumer: `c4`, then `c4~2` (Rig.new_session)."""
    return session.partition("~")[0]


class WatchedPulsar(WatchedRig, PulsarRig):
    def __init__(self, setup: RigSetup) -> None:
        self.codes: list[int] = []
        super().__init__(setup)

    def on_arrival(self, index: int, code: int) -> None:
        self.codes.append(code)
        super().on_arrival(index, code)
        consumer = self.consumers.get(self.owner_of(code) or "")
        self.waited += consumer is None or consumer.state == CRASHED

    def hand_over(self, deliveries: Sequence[tuple[str, int, bool]]) -> None:
        for session, position, _ in deliveries:
            self.sent(session, position, self.codes[position])
        super().hand_over(deliveries)


class WatchedTubeMq(WatchedRig, TubeMqRig):
    def __init__(self, setup: RigSetup) -> None:
        super().__init__(setup)
        self.codes: dict[str, list[int]] = {key: [] for key in self.partition_keys}  # partition -> key code of each record

    def on_arrival(self, index: int, code: int) -> None:
        key = self.partition_keys[self.keyless_next] if code == NO_KEY else self.partition_of(code)
        self.codes[key].append(code)
        super().on_arrival(index, code)
        partition = self.partitions[key]
        self.waited += partition.owner is None or partition.stopped_us is not None

    def start(self, consumer: Consumer, record: int) -> None:
        self.sent(consumer.session, record, self.codes[self.clients[consumer.name].hand][record])
        super().start(consumer, record)

    def release(self, key: str) -> None:
        super().release(key)
        self.note_stop(key, self.partitions[key].stopped_us)

    def do_crash(self, consumer: Consumer, cause: Cause) -> None:
        keys = list(self.clients[consumer.name].registered)
        super().do_crash(consumer, cause)
        for key in keys:
            self.note_stop(key, self.partitions[key].stopped_us)

    def connect(self, client: tubemq_group.Client, call: Call) -> int:
        code = super().connect(client, call)
        self.note_stop(call.key, self.partitions[call.key].stopped_us)
        return code


WATCHED: Mapping[str, type[WatchedRig]] = MappingProxyType(
    {"pulsar": WatchedPulsar, "tubemq": WatchedTubeMq}
)
"""Model -> its rig, watched; the models that have moved onto worlds are watched by `timed_flights.py`."""
