"""A lane's past under another rule: what a lane goes through that takes an older one's place.

    the lab's history ─► Replay of a LanePast ─► the lane at the lab's present

Who joined and what was ordered comes at its own time. Of the records only the last SWITCH_RECORDS_MAX run
through the lane, so that the answer comes at once however long the lab has run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Protocol

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.base import ALL, ConsumerCommand, LaneCommand
from broker_core.lab.commands.membership import Join
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Pieces
from broker_core.lab.replay import Replay
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.workload.base import Workload

SWITCH_RECORDS_MAX = 20_000
SWITCH_STRETCH_US = SECOND_US // 10
"""The most that passes between two stops."""


class LabOfPast(OrderedLab, Protocol):
    """What a lane's past asks of its lab (`Lab`)."""

    record_count: int
    history: list[Json]
    workload: Workload
    limits: Limits

    @property
    def now_us(self) -> int: ...


class LanePast:
    """A new lane of a lab, on its way from the lab's beginning to its present. position: of the last command;
    those who are there from the start are command 0. without: kinds of commands that are left out."""

    def __init__(self, lab: LabOfPast, lane: Lane, *, without: Collection[str] = ()) -> None:
        self.lab, self.lane, self.without = lab, lane, without
        self.position = -1
        lane.first_record = lane.next_record = max(0, lab.record_count - SWITCH_RECORDS_MAX)

    @property
    def now_us(self) -> int:
        return self.lane.now_us

    def commands(self) -> Iterator[Json]:
        """What the lab's history has for this lane, as `submitting` takes it."""
        for entry in self.lab.history:
            command, position = entry["command"], entry["position"]
            if (
                command["lane"] in (ALL, self.lane.id) and command["kind"] not in self.without
            ):  # those who are there from the start join before time 0
                yield {
                    **command,
                    "position": position,
                    "at_us": entry["at_us"] if position else self.lane.now_us,
                    "names": entry["names"],
                }

    def live_through(self) -> Pieces[None]:
        """Up to the lab's present."""
        commands = list(self.commands())
        replay = Replay(self, commands, self.lab.now_us, {command["position"] for command in commands})
        yield from replay.finishing(partial(replay.step, SWITCH_STRETCH_US))

    def advancing(self, at_us: int) -> Pieces[list[Json]]:
        lab, lane = self.lab, self.lane
        first = lane.next_record
        stop = min(lab.record_count, max(first, lab.workload.count_until(at_us)))
        times = lab.workload.arrival_times(first, stop)
        yield from lane.advancing(at_us, first, times, lab.workload.key_codes(first, stop))
        return []

    def submitting(self, command: Json) -> Pieces[list[Json]]:
        """Raises CommandError for an order that makes no sense under the other rule: a broker that has not
        stopped yet, a consumer that came with another lane's order."""
        names, self.position = command["names"], command["position"]
        ordered = command_from_json(
            {key: value for key, value in command.items() if key not in ("position", "at_us", "names")},
            self.lab.limits,
        )
        if isinstance(ordered, ConsumerCommand) and ordered.consumer not in self.lane.consumers:
            raise CommandError(
                "consumer",
                "there is no consumer {consumer} in {lane}",
                consumer=ordered.consumer,
                lane=self.lane.id,
            )
        if isinstance(ordered, ConsumerCommand | LaneCommand):
            ordered.carry_out_in(self.lane, self.position)
        elif isinstance(ordered, Join):
            yield from self.lab.join_lanes([self.lane], names, self.position, ordered.set_to())
        return []
