"""The RabbitMQ lane: one broker with a classic queue, one publisher, and a worker for each consumer, on its own connection and channel.

Keys have no owner; a message goes to the consumer whose turn it is. Who has its turn, who is at its prefetch, what a closed channel gives
back and when a silent connection is given up is the broker's (`broker_core/rabbitmq/`). The lab's own: to "leave" for a program that is
silent, a person closes its connection at the broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.bill import Bill
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.traffic import BUCKETS_KEPT_S, Watch
from broker_core.lab.rig import RigSetup
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker, BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.client.publisher import Declare, Publisher, PublisherState
from broker_core.rabbitmq.client.worker import TAG, Subscribe, Worker, WorkerState
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


def make_lane(setup: RigSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, RabbitMqRules(setup.algorithm, setup.options), watch)


class RabbitMqRules:
    name = "rabbitmq"
    keys_have_owners = False

    def __init__(self, algorithm: str, options: Json) -> None:
        self.prefetch: int = options.get("prefetch", PREFETCH[algorithm])
        self.queue_name: str = options["topic"]
        self.publisher: tuple[Publisher, Slot] | None = None

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

    def forget_caches(self) -> None:
        self.publisher = None

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        return not self.sessions(lane)

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def arrive(self, lane: Lane, index: int, code: int) -> None:
        if self.publisher is None:
            slot = lane.world.slots[PUBLISHER]
            self.publisher = (cast(Publisher, slot.node), slot)
        self.publisher[0].publish(index, self.publisher[1])

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        state = WorkerState(consumer.name, self.queue_name, self.prefetch, Program(consumer.service_us))
        lane.world.start(consumer.session, "worker", state)
        lane.world.order(consumer.session, Subscribe(BROKER), cause)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.world.forget(consumer.session)
            lane.say("left_gone", consumer=consumer.name)
        elif consumer.state == CRASHED:
            lane.crash_positions.pop(consumer.session)
            lane.world.reset(self.connection_of(lane, consumer.session), cause)
            lane.world.forget(consumer.session)
        else:
            lane.world.order(consumer.session, Leave(), cause)
            lane.world.exit(consumer.session, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        connection = self.connection_of(lane, consumer.session)
        known = self.broker(lane).connections.get(connection)
        if known is not None:  # else its first words are still on their way
            looks = (lane.now_us - known.since_us) // m.HEARTBEAT_US + known.looks_left()
            consumer.deadline_us = known.since_us + looks * m.HEARTBEAT_US
        unacked = self.held(lane, consumer)
        lane.emit("rabbitmq.consumer.crashed", cause, "rabbitmq.heartbeat.two_silent_checks",
                  {"heartbeat_us": m.HEARTBEAT_US, "unacked": unacked}, {"consumer": consumer.name, "deadline_us": consumer.deadline_us})  # fmt: skip
        lane.say("rabbitmq.crash_pending", consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.start(lane, consumer, cause)

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def told(self, lane: Lane, event: TurningPoint) -> None:
        match event.kind:
            case "rabbitmq.connection.missed_heartbeats":
                held = event.data["unacked"], event.data["unacked_in_all"]
                lane.notice_crash(self.session_of(lane, event.data["connection"]), event.data["consumer"], held)
            case "rabbitmq.channel.closed":
                self.say_closed(lane, event)

    def say_closed(self, lane: Lane, event: TurningPoint) -> None:
        name, unacked = event.data["consumer"], event.inputs["unacked"]
        last = "" if self.served(lane) else "_last"
        if event.inputs["reason"] == "rabbitmq.connection.missed_heartbeats":
            session = self.session_of(lane, event.data["connection"])
            lane.say(lane.noticed_code(session, name) + last, consumer=name, unacked=unacked)
        else:
            lane.say(f"rabbitmq.leave{last}", consumer=name, redelivered=unacked)

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if bill.kind in ("join", "rejoin"):
            code = "rabbitmq.join_first" if len(self.served(lane)) == bill.count else "rabbitmq.join"
            lane.say(f"{code}_many" if bill.count > 1 else code, consumer=bill.consumer, count=bill.count)

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def broker(self, lane: Lane) -> BrokerState:
        state: BrokerState = lane.world.slots[BROKER].node.state
        return state

    def queue(self, lane: Lane) -> WorkQueue:
        return self.broker(lane).queues.get(self.queue_name) or WorkQueue()

    def connection_of(self, lane: Lane, session: str) -> int:
        slot = lane.world.slots.get(session)
        return 0 if slot is None else slot.node.state.connection

    def session_of(self, lane: Lane, connection: int) -> str:
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
        wanted = {self.connection_of(lane, session) for session in (*self.sessions(lane), *lane.crash_positions)}
        return wanted == set(self.served(lane))

    def sessions(self, lane: Lane) -> list[str]:
        """Nodes of the programs that are alive."""
        return [consumer.session for consumer in lane.consumers.values() if consumer.state not in (CRASHED, GONE)]

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        dead = {self.connection_of(lane, session) for session in lane.crash_positions}
        return int(all(connection in dead for connection in self.served(lane))), 1

    def stuck(self, lane: Lane) -> tuple[int, int]:
        dead = {self.connection_of(lane, session) for session in lane.crash_positions}
        held = {number: known.unacked_count() for number, known in self.broker(lane).connections.items()}
        return sum(count for number, count in held.items() if number in dead), sum(held.values())

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        return self.held(lane, consumer)

    def way_in(self, lane: Lane) -> str:
        return "turn"

    def redelivered(self, lane: Lane) -> int:
        return self.broker(lane).redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.session))
        return 0 if known is None else known.unacked_count()

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.session))
        return known is not None and any(channel.consumers for channel in known.channels.values())

    def stopped_since_us(self, lane: Lane) -> None:
        return None

    def lag(self, lane: Lane) -> int:
        return self.queue(lane).ready + sum(known.unacked_count() for known in self.broker(lane).connections.values())

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
            "unacked": sum(known.unacked_count() for known in self.broker(lane).connections.values()),
        }  # fmt: skip

    def check(self, lane: Lane) -> None:
        queue = self.queue(lane)
        for name, channel in self.channels(lane).items():
            count = queue.unacked_count(channel.consumer_key(TAG))
            if count != len(channel.unacked):
                raise InvariantError(f"{name}: the queue has {count} messages with it, its channel {len(channel.unacked)}")
            if self.prefetch and count > self.prefetch:
                raise InvariantError(f"{name} holds {count} messages with a prefetch of {self.prefetch}")
