"""The lab's own rigs with an observer: what is in flight where, and what arrives in vain.

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
from broker_core.lab.rigs.pulsar import PulsarRig


class WatchedRig(Rig):
    """flights: those that are over. stops: none, for want of partitions. waited: records that arrived while their key's consumer was dead or
    missing."""

    def __init__(self, setup: RigSetup) -> None:
        self.flights: list[Flight] = []
        self.stops: list[Stop] = []
        self.waited = 0
        self._in_flight: dict[str, dict[int, tuple[int, int]]] = {}  # session -> record -> (key code, since when)
        super().__init__(setup)

    def finish(self, now_us: int) -> None:
        """The run is over: what is still in flight counts up to now."""
        for name in list(self._in_flight):
            self.let_go(name)

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


WATCHED: Mapping[str, type[WatchedRig]] = MappingProxyType({"pulsar": WatchedPulsar})
"""Model -> its rig, watched; the models that have moved onto worlds are watched by `timed_flights.py`."""
