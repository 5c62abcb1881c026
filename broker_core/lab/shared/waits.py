"""What a timed run sees of a lane: which records are in flight where, what arrives in vain, which partition
is paused and for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from broker_core.analysis.order import Flight
from broker_core.analysis.pause import Stop
from broker_core.lab.workload.live_keys import NO_KEY


class FlightWatch:
    """A `Watch` of a lane. flights, stops: those that are over. waited: records that arrived while nobody
    could take them: their partition was paused, their key's consumer was dead or missing, or (a queue) no
    consumer was alive. done_us: of each record when a program was done with it first, None until then; done_by: which.

    code_of: the key code of a record, where the lane's own is not the one that counts: a producer sends it without
    its key. A record is in flight from when it reaches a program's client until the program is done with it, or gone.
    A flight's consumer is the node of the program, so two lives of one program are two.
    """

    def __init__(self, code_of: Callable[[int], int] | None = None) -> None:
        self._code_of = code_of
        self.flights: list[Flight] = []
        self.stops: list[Stop] = []
        self.waited = 0
        self.done_us: list[int | None] = []
        self.done_by: list[str] = []
        self._codes: list[int] = []
        self._in_flight: dict[str, dict[int, int]] = {}  # program -> record -> since when
        self._stopped: Mapping[str, int] = {}

    def arrived(self, message: int, code: int, would_wait: bool) -> None:
        self._codes.append(code if self._code_of is None else self._code_of(message))
        self.done_us.append(None)
        self.done_by.append("")
        self.waited += would_wait

    def received(self, program: str, message: int, now_us: int) -> None:
        if self._codes[message] != NO_KEY:
            self._in_flight.setdefault(program, {})[message] = now_us

    def handled(self, program: str, message: int, now_us: int) -> None:
        if self.done_us[message] is None:
            self.done_us[message], self.done_by[message] = now_us, program
        flying = self._in_flight.get(program)
        since_us = None if flying is None else flying.pop(message, None)
        if since_us is not None:
            self.flights.append(Flight(self._codes[message], program, since_us, now_us))

    def dropped(self, program: str, message: int, now_us: int) -> None:
        self.handled(program, message, now_us)

    def let_go(self, program: str, now_us: int) -> None:
        for message, since_us in self._in_flight.pop(program, {}).items():
            self.flights.append(Flight(self._codes[message], program, since_us, now_us))

    def stopped(self, units: Mapping[str, int], now_us: int) -> None:
        self.stops += [
            Stop(unit, since_us, now_us)
            for unit, since_us in self._stopped.items()
            if units.get(unit) != since_us
        ]
        self._stopped = dict(units)

    def finish(self, now_us: int) -> None:
        """The run is over: what is still in flight or paused counts up to now."""
        for program in list(self._in_flight):
            self.let_go(program, now_us)
        self.stopped({}, now_us)
