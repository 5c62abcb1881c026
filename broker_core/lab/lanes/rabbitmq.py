"""The RabbitMQ lane: one broker with a classic queue, one publisher, and a worker for each consumer, on its own connection and channel.

Keys have no owner; a message goes to the consumer whose turn it is. Who has its turn, who is at its prefetch, what a closed channel gives
back and when a silent connection is given up is the broker's (`broker_core/rabbitmq/`). The lab's own: to "leave" for a program that is
silent, a person closes its connection at the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.observers.bill import Bill
from broker_core.lab.observers.codes import code_of
from broker_core.lab.observers.in_flight import BUCKETS_KEPT_S, Watch
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker, BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.client.publisher import Declare, Publisher, PublisherState
from broker_core.rabbitmq.client.worker import TAG, Subscribe, Worker, WorkerState
from broker_core.rabbitmq.connection import SILENT_CHECKS_MAX
from broker_core.rabbitmq.methods import BasicPublish
from broker_core.rabbitmq.queue import WorkQueue
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import Slot
from broker_core.sim.world import Design

PREFETCH = {"prefetch_5": 5, "prefetch_1": 1, "prefetch_unlimited": 0}
PREFETCH_MAX = 65_535
"""basic.qos carries the count in 16 bits."""
HEAD_SHOWN = 12
IN_FLIGHT_SHOWN = 24
BROKER, PUBLISHER = "broker", "publisher"


def algorithms() -> list[Json]:
    """By the name that the lane has for them; a custom prefetch count is an option."""
    return [{"id": name, "document": False} for name in PREFETCH]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, RabbitMqRules(setup.algorithm, setup.options), watch)


class RabbitMqRules:
    name = "rabbitmq"
    keys_have_owners = False
    notes: None = None

    def __init__(self, algorithm: str, options: Json) -> None:
        self.prefetch: int = options.get("prefetch", PREFETCH[algorithm])
        self.queue_name: str = options["topic"]

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        return Design(
            {
                "broker": (BrokerState, Broker), "publisher": (PublisherState, Publisher),
                "worker": (WorkerState, lambda state: Worker(state, lane.traffic)),
            },
            m.Method | Subscribe | Declare | Order, lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def begin(self, lane: Lane) -> None:
        lane.world.start(BROKER, "broker", BrokerState())
        lane.world.start(PUBLISHER, "publisher", PublisherState(self.queue_name))
        lane.world.order(PUBLISHER, Declare(BROKER))

    def head_start_us(self, lane: Lane) -> int:
        return lane.answer_us

    def forget_caches(self) -> None:
        """It keeps none."""

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""

    def restored(self, lane: Lane) -> None:
        """A checkpoint holds all that there is."""

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        return not self.incarnations(lane)

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, BasicPublish]]]:
        slot = lane.world.slots[PUBLISHER]
        return slot, cast(Publisher, slot.node).publish

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        state = WorkerState(consumer.name, self.queue_name, self.prefetch, Program(consumer.service_us))
        lane.world.start(consumer.incarnation, "worker", state)
        lane.world.order(consumer.incarnation, Subscribe(BROKER), cause)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.world.forget(consumer.incarnation)
            lane.say("left_gone", consumer=consumer.name)
            return
        self.say_left(lane, consumer.name, self.held(lane, consumer))
        if consumer.state == CRASHED:
            lane.crash_positions.pop(consumer.incarnation)
            lane.world.reset(self.connection_of(lane, consumer.incarnation), cause)
            lane.world.forget(consumer.incarnation)
        else:
            lane.world.order(consumer.incarnation, Leave(), cause)
            lane.world.exit(consumer.incarnation, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        consumer.deadline_us = self.given_up_us(lane, consumer)
        unacked = self.held(lane, consumer)
        lane.emit("rabbitmq.consumer.crashed", cause, "rabbitmq.heartbeat.two_silent_checks",
                  {"heartbeat_us": m.HEARTBEAT_US, "unacked": unacked}, {"consumer": consumer.name, "deadline_us": consumer.deadline_us})  # fmt: skip
        lane.say("rabbitmq.crash_pending", consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def given_up_us(self, lane: Lane, consumer: Consumer) -> int:
        """When the broker will drop the connection of a program that falls silent now; what it has sent still arrives."""
        link = lane.world.slots[consumer.incarnation].links[self.connection_of(lane, consumer.incarnation)]
        known = self.broker(lane).connections.get(link.connection)
        if known is None:  # its first words are still on their way
            return consumer.joined_us + lane.delay_us + (SILENT_CHECKS_MAX + 1) * m.HEARTBEAT_US
        look_us = known.since_us + ((lane.now_us - known.since_us) // m.HEARTBEAT_US + 1) * m.HEARTBEAT_US
        if not link.queue:
            return look_us + (known.looks_left() - 1) * m.HEARTBEAT_US
        return look_us + (SILENT_CHECKS_MAX + (link.last_us >= look_us)) * m.HEARTBEAT_US

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.start(lane, consumer, cause)

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind == "rabbitmq.connection.missed_heartbeats":
            lane.notice_crash(self.incarnation_of(lane, event.data["connection"]), event.data["consumer"])
        if not event.data.get("skipped"):
            return event
        # The broker cannot know what the person at the page does: which of those that it passes over are dead.
        dead = self.dead(lane)
        return event.with_facts(data={
            "skipped": [over | {"dead": True} if over["connection"] in dead else over for over in event.data["skipped"]],
        })  # fmt: skip

    def told(self, lane: Lane, event: TurningPoint) -> None:
        if event.kind == "rabbitmq.channel.closed":
            self.say_closed(lane, event)

    def say_closed(self, lane: Lane, event: TurningPoint) -> None:
        connection, name, unacked = event.data["connection"], event.data["consumer"], event.inputs["unacked"]
        if event.inputs["reason"] == "rabbitmq.connection.missed_heartbeats":
            is_ghost = lane.is_ghost(self.incarnation_of(lane, connection), name)
            lane.say(code_of("rabbitmq.given_up", ghost=is_ghost, last=not self.served(lane)), consumer=name, unacked=unacked)
        else:
            self.say_left(lane, name, unacked)

    def say_left(self, lane: Lane, name: str, unacked: int) -> None:
        """Somebody has left, or the broker is about to learn it, and gives back what was unacked."""
        lane.say(code_of("rabbitmq.left", last=not self.living(lane)), consumer=name, redelivered=unacked)

    def sentence_now(self, lane: Lane) -> Json:
        return lane.sentence

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if bill.kind in ("join", "rejoin"):
            code = code_of("rabbitmq.joined", first=len(self.living(lane)) == bill.count, many=bill.count > 1)
            lane.say(code, consumer=bill.consumer, count=bill.count)

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def broker(self, lane: Lane) -> BrokerState:
        state: BrokerState = lane.world.slots[BROKER].node.state
        return state

    def queue(self, lane: Lane) -> WorkQueue:
        return self.broker(lane).queues.get(self.queue_name) or WorkQueue()

    def connection_of(self, lane: Lane, incarnation: str) -> int:
        slot = lane.world.slots.get(incarnation)
        return 0 if slot is None else slot.node.state.connection

    def incarnation_of(self, lane: Lane, connection: int) -> str:
        """The node that has this connection, also when the broker has closed its end."""
        workers = [slot for slot in lane.world.slots.values() if slot.kind == "worker"]
        return next(slot.name for slot in workers if slot.node.state.connection == connection)

    def channels(self, lane: Lane) -> dict[str, Channel]:
        """Consumers of the queue at the broker: name -> channel. A ghost and its program's new life have the same name: the newer one."""
        return {
            known.name: channel
            for known in self.broker(lane).connections.values() for channel in known.channels.values() if channel.consumers
        }  # fmt: skip

    def served(self, lane: Lane) -> list[int]:
        """Connections that consume."""
        return [
            number for number, known in self.broker(lane).connections.items() if any(channel.consumers for channel in known.channels.values())
        ]  # fmt: skip

    def dead(self, lane: Lane) -> set[int]:
        """Connections of silent programs that the broker has not noticed."""
        return {self.connection_of(lane, incarnation) for incarnation in lane.crash_positions}

    def living(self, lane: Lane) -> list[int]:
        """Connections that consume for a program that is alive, also when the broker does not know yet that another has left."""
        served = set(self.served(lane))
        return [connection for incarnation in self.incarnations(lane) if (connection := self.connection_of(lane, incarnation)) in served]

    def weights(self, lane: Lane) -> dict[str, int]:
        second = lane.now_us // SECOND_US
        return {name: consumer.acked_between(second - BUCKETS_KEPT_S, second + 1) for name, consumer in lane.consumers.items()}

    def key_owners(self, lane: Lane) -> None:
        return None

    def units(self, lane: Lane) -> None:
        return None

    def space(self, lane: Lane) -> None:
        return None

    def is_settled(self, lane: Lane) -> bool:
        wanted = {self.connection_of(lane, incarnation) for incarnation in (*self.incarnations(lane), *lane.crash_positions)}
        return wanted == set(self.served(lane))

    def incarnations(self, lane: Lane) -> list[str]:
        """Nodes of the programs that are alive."""
        return [consumer.incarnation for consumer in lane.consumers.values() if consumer.state not in (CRASHED, GONE)]

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        return int(not self.living(lane)), 1

    def stuck(self, lane: Lane) -> tuple[int, int]:
        dead = self.dead(lane)
        held = {number: known.unacked_count() for number, known in self.broker(lane).connections.items()}
        return sum(count for number, count in held.items() if number in dead), sum(held.values())

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        return self.held(lane, consumer)

    def way_in(self, lane: Lane) -> str:
        return "turn"

    def redelivered(self, lane: Lane) -> int:
        return self.broker(lane).redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.incarnation))
        return 0 if known is None else known.unacked_count()

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.incarnation))
        return known is not None and any(channel.consumers for channel in known.channels.values())

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return {}

    def lag(self, lane: Lane) -> int:
        # What the publisher has sent and the broker has not seen yet is part of it.
        return lane.next_record - lane.first_record - self.queue(lane).acked

    def unacked(self, lane: Lane) -> int:
        return sum(known.unacked_count() for known in self.broker(lane).connections.values())

    def route(self, lane: Lane, index: int, code: int) -> Json:
        """Where the record is: in whose hands, at which place of the queue, or done."""
        queue = self.queue(lane)
        for name, channel in self.channels(lane).items():
            if queue.holds(channel.consumer_key(TAG), index):
                return {"hash": None, "unit": None, "consumer": name, "place": None, "waits": False}
        ready = queue.ready
        return {"hash": None, "unit": None, "consumer": None, "place": ready if ready else None, "waits": ready > 0}

    def picture(self, lane: Lane) -> Json:
        queue, channels = self.queue(lane), self.channels(lane)
        names = {channel.consumer_key(TAG): name for name, channel in channels.items()}
        return {
            "kind": "queue", "name": self.queue_name, "ready": queue.ready,
            "head": [{"record": position, "redelivered": redelivered} for position, redelivered in queue.head(HEAD_SHOWN)],
            "prefetch": self.prefetch, "ring": [names[key] for key in queue.ring if key in names],
            "in_flight": {
                name: [{"record": p, "redelivered": r} for p, r in queue.unacked(channel.consumer_key(TAG), IN_FLIGHT_SHOWN)]
                for name, channel in channels.items()
            },
            "unacked": self.unacked(lane),
        }  # fmt: skip

    def check(self, lane: Lane) -> None:
        queue = self.queue(lane)
        if queue.ready + self.unacked(lane) + queue.acked != queue.published:
            raise InvariantError(f"{queue.ready} ready, {self.unacked(lane)} unacked and {queue.acked} done are not {queue.published} published")
        for name, channel in self.channels(lane).items():
            count = queue.unacked_count(channel.consumer_key(TAG))
            if count != len(channel.unacked):
                raise InvariantError(f"{name}: the queue has {count} messages with it, its channel {len(channel.unacked)}")
            if self.prefetch and count > self.prefetch:
                raise InvariantError(f"{name} holds {count} messages with a prefetch of {self.prefetch}")
