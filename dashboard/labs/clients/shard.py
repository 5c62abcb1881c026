"""The shard of labs that are open to real clients: it drives them as any shard does, and before each turn's orders takes what came
through their doors.

    take ─► orders that wait, each with its place ─► carried out, stored ─► answers leave

An answer leaves when the turn is over: all that it follows from is in the database, the orders in the journal and, of what time
alone brings, the floor. A process that takes the lab after this one comes to the same.
"""

import itertools
import logging

from django.conf import settings

from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.commands.rabbitmq_clients import ACTS_MAX, CLOSE, SocketActs, open_reading
from broker_core.lab.rabbitmq.open_reading import OpenReading
from dashboard.labs import writes
from dashboard.labs.clients.door import Bounds, open_door
from dashboard.labs.clients.state import FULL, LONG, NO_PORT
from dashboard.labs.driver import LabDriver
from dashboard.labs.shard import Shard

log = logging.getLogger(__name__)
DOORS_EVERY_S = 0.2  # between two looks at the doors themselves
ORDERS_AT_ONCE = 4  # of one lab's clients, in one turn


class OpenShard(Shard):
    """Drives the open labs of this process."""

    _orders = itertools.count(1)
    _doors_s = -1e9

    def turn(self) -> None:
        super().turn()
        for lab_id, driver in list(self.drivers.items()):
            if driver.clients.door is not None and lab_id not in self.under_way:
                self._answer(driver)

    def _commands(self) -> None:
        for lab_id, driver in list(self.drivers.items()):
            if lab_id in self.frame_due_s and lab_id not in self.under_way:
                with self._of_lab(lab_id, driver.epoch):
                    self._hear(driver)
        super()._commands()

    def _hear(self, driver: LabDriver) -> None:
        """What came through the lab's door waits as orders from here on."""
        if driver.clients.door is None or not driver.core.playing:
            return
        taken = [acts for _ in range(ORDERS_AT_ONCE) if (acts := driver.clients.door.take())]
        self._order(driver, taken)

    def _order(self, driver: LabDriver, orders: list[list[Json]]) -> None:
        if orders:
            bodies = [
                check_command(
                    {
                        "command_id": f"wire:{driver.lab_id}:{driver.epoch}:{next(self._orders)}",
                        "kind": SocketActs.kind,
                        "args": {"acts": acts},
                    }
                )
                for acts in orders
            ]
            writes.orders_accept(driver.lab_id, driver.epoch, bodies)
            self.ordered[driver.lab_id] = None

    def _answer(self, driver: LabDriver) -> None:
        reads, door = _reading(driver), driver.clients.door
        if door is not None:
            door.leave(reads.server.taken(), reads.server.blocked() if reads.server.is_up else set())

    def _look(self, now_s: float) -> None:
        for lab_id, driver in self.drivers.items():
            if driver.clients.door is not None and driver.clients.door.sockets and lab_id in self.frame_due_s:
                self._see(lab_id, driver.panels.watched, now_s)  # a lab whose clients are there does not rest
        super()._look(now_s)
        if now_s - self._doors_s < DOORS_EVERY_S:
            return
        self._doors_s = now_s
        for lab_id, driver in list(self.drivers.items()):
            if lab_id in self.frame_due_s and lab_id not in self.under_way:
                with self._of_lab(lab_id, driver.epoch):
                    self._keep_door(driver)

    def _keep_door(self, driver: LabDriver) -> None:
        """A lab that is open listens."""
        state = driver.clients
        is_long = driver.core.position >= settings.CLIENTS_ORDERS_MAX
        if not state.is_open or is_long:
            self._shut(driver)
            state.why_not = LONG if is_long else ""
        elif state.door is None:
            self._open_door(driver)
        if driver.lab_id not in self.ordered and (state.door is None or not state.door.came):
            # Whoever was there with an earlier holder of the lab, or before its door was shut.
            there = {} if state.door is None else state.door.sockets
            gone = [each for each in _reading(driver).living_sockets() if each not in there]
            closes: list[Json] = [{"do": CLOSE, "socket": each} for each in gone]
            self._order(driver, [closes[at : at + ACTS_MAX] for at in range(0, len(closes), ACTS_MAX)])

    def _open_door(self, driver: LabDriver) -> None:
        state, lab_id = driver.clients, driver.lab_id
        listening = [each for each in self.drivers.values() if each.clients.door is not None]
        if len(listening) >= settings.CLIENTS_LABS_MAX:
            state.why_not = FULL
            return
        reads = _reading(driver)
        bounds = Bounds(settings.CLIENTS_CONNECTIONS_MAX, settings.CLIENTS_BYTES_MAX)
        ports = [*([state.port] if state.port else []), *(settings.CLIENTS_PORTS or [0])]
        try:
            state.door = open_door(
                settings.CLIENTS_HOST,
                ports,
                bounds,
                reads.notes.last_socket,
                lambda: self.transport.wake(self.number, lab_id),
            )
        except (OSError, TimeoutError) as error:
            if state.why_not != NO_PORT:
                log.warning("lab %s: cannot listen for clients: %s", lab_id, error)
            state.why_not = NO_PORT
            return
        state.why_not, reads.server.is_heard = "", True

    def _shut(self, driver: LabDriver) -> None:
        door, driver.clients.door = driver.clients.door, None
        if door is not None:
            _reading(driver).server.is_heard = False
            door.close()

    def _forget(self, lab_id: str) -> None:
        driver = self.drivers.get(lab_id)
        if driver is not None and driver.clients.door is not None:
            driver.clients.door.close()
            driver.clients.door = None
        super()._forget(lab_id)


def _reading(driver: LabDriver) -> OpenReading:
    (lane,) = driver.core.lanes.values()  # a lane that clients come to is alone in its lab
    reads = open_reading(lane)
    assert reads is not None
    return reads
