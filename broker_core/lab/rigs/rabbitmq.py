"""The RabbitMQ lane: one classic queue and its consumers, each on a channel of its own with manual acks.

Broker: `rabbitmq/queue.py`. The client works on what it was sent in order and acknowledges each record by itself. No key has an owner; a
record goes to whoever's turn it is. A leaving consumer's channel closes and what it held goes back to its place, marked redelivered. A
crash is silent: the server checks for traffic once per heartbeat interval (60 s by default) and drops the connection at the second check
in a row that saw none, 120 to 180 s after the crash (source: rabbit_heartbeat, from the upstream source's documentation, not recorded in
the vectors).
"""

from collections import Counter, deque
from collections.abc import Sequence

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, capped
from broker_core.lab.bill import Bill
from broker_core.lab.consumer import GONE, Consumer
from broker_core.lab.rig import BUCKETS_KEPT_S, Rig, RigSetup
from broker_core.rabbitmq.queue import Delivery, WorkQueue

HEARTBEAT_MISSED = 10
HEARTBEAT_US = 60 * SECOND_US
PREFETCH = {"prefetch_5": 5, "prefetch_1": 1, "prefetch_unlimited": 0}
PREFETCH_MAX = 65_535
"""basic.qos carries the count in 16 bits."""
HEAD_SHOWN = 12
IN_FLIGHT_SHOWN = 24
LISTED_MAX = 8
"""Consumers that a turning point names; then "and n more"."""


class RabbitMqRig(Rig):
    model = "rabbitmq"
    records_are_indexes = True
    keys_have_owners = False
    STATE = (*Rig.STATE, "queue", "buffers", "name_of")
    queue: WorkQueue
    buffers: dict[str, deque[int]]
    name_of: dict[str, str]

    def __init__(self, setup: RigSetup) -> None:
        super().__init__(setup)
        self.prefetch: int = self.options.get("prefetch", PREFETCH[self.algorithm])
        self.queue = WorkQueue()
        self.buffers = {}
        self.name_of = {}

    @classmethod
    def algorithms(cls) -> list[Json]:
        return [{"id": name, "document": False} for name in PREFETCH]

    # -- traffic ------------------------------------------------------------------------------------------------------------------------

    def on_arrival(self, index: int, code: int) -> None:
        deliveries = self.queue.publish(index)
        if deliveries:
            self.hand_over(deliveries)

    def hand_over(self, deliveries: Sequence[Delivery]) -> None:
        for session, position, redelivered in deliveries:
            buffer = self.buffers[session]
            buffer.append(position)
            if redelivered:
                self.redelivered += 1
            consumer = self.consumers.get(self.name_of[session])
            if consumer is not None and consumer.hand < 0 and consumer.session == session and consumer.is_working:
                self.start(consumer, buffer.popleft())

    def take(self, consumer: Consumer) -> None:
        buffer = self.buffers.get(consumer.session)
        if buffer and consumer.hand < 0 and consumer.is_working:
            self.start(consumer, buffer.popleft())

    def on_done(self, consumer: Consumer, record: int) -> None:
        deliveries = self.queue.ack(consumer.session, record)
        if deliveries:
            self.hand_over(deliveries)
        self.take(consumer)

    # -- membership ---------------------------------------------------------------------------------------------------------------------

    def do_join(self, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.subscribe(consumer, cause)

    def subscribe(self, consumer: Consumer, cause: Cause) -> None:
        session = consumer.session
        self.name_of[session] = consumer.name
        self.buffers[session] = deque()
        turns = [*self.queue.turn_order, session]
        deliveries = self.queue.consume(session, self.prefetch)
        self.emit("rabbitmq.consumer.subscribed", cause, "rabbitmq.queue.joins_at_the_end_of_the_ring", {"prefetch": self.prefetch},
                  {"consumer": consumer.name, "consumers": len(self.name_of), "delivered": len(deliveries),
                   **self.turn_facts(turns, deliveries)})  # fmt: skip
        self.hand_over(deliveries)

    def turn_facts(self, turns: Sequence[str], deliveries: Sequence[Delivery]) -> Json:
        """Whose turn it was, who got what, and who was passed over because its prefetch is full. turns: sessions, the next one first."""
        received = Counter(session for session, _, _ in deliveries)
        return {
            **capped("turns", [self.name_of[session] for session in turns], LISTED_MAX),
            **capped("received", [{"consumer": self.name_of[session], "records": count} for session, count in received.items()], LISTED_MAX),
            **capped("skipped", [{"consumer": self.name_of[session], "unacked": self.queue.unacked_count(session)}
                                 | ({"dead": True} if session in self.crash_positions else {}) for session in self.queue.passed_over], LISTED_MAX),
        }  # fmt: skip

    def do_leave(self, consumer: Consumer, cause: Cause) -> None:
        self.drop_hand(consumer)
        del self.consumers[consumer.name]
        requeued = 0
        if consumer.state != GONE:
            self.crash_positions.pop(consumer.session, None)
            requeued = self.close_channel(consumer.session, cause)
        if consumer.state == GONE:
            self.say("left_gone", consumer=consumer.name)
        else:
            self.say("rabbitmq.leave" if self.living() else "rabbitmq.leave_last", consumer=consumer.name, redelivered=requeued)

    def close_channel(self, session: str, cause: Cause) -> int:
        """The channel is gone: its records go back to their places and on to whoever's turn it is. Returns how many."""
        name = self.name_of.pop(session)
        del self.buffers[session]
        requeued = self.queue.unacked_count(session)
        turns = [other for other in self.queue.turn_order if other != session]
        deliveries = self.queue.cancel_and_close(session)
        self.emit("rabbitmq.channel.closed", cause, "rabbitmq.queue.requeue_in_original_order", {"unacked": requeued},
                  {"consumer": name, "delivered": len(deliveries), "ready": self.queue.ready,
                   **self.turn_facts(turns, deliveries)})  # fmt: skip
        self.hand_over(deliveries)
        return requeued

    def do_crash(self, consumer: Consumer, cause: Cause) -> None:
        self.buffers[consumer.session].clear()
        checks = (self.now_us - consumer.joined_us) // HEARTBEAT_US
        consumer.deadline_us = consumer.joined_us + (checks + 3) * HEARTBEAT_US
        self.timer(consumer.deadline_us, HEARTBEAT_MISSED, consumer.session)
        unacked = self.held(consumer)
        self.emit("rabbitmq.consumer.crashed", cause, "rabbitmq.heartbeat.two_silent_checks", {"heartbeat_us": HEARTBEAT_US, "unacked": unacked},
                  {"consumer": consumer.name, "deadline_us": consumer.deadline_us})  # fmt: skip
        self.say("rabbitmq.crash_pending", consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def on_timer(self, kind: int, name: str, token: int) -> None:
        """The server drops the connection of session `name`."""
        if name not in self.name_of:
            return
        owner = self.name_of[name]
        cause = self.notice_crash(name, owner)
        requeued = self.close_channel(name, cause)
        code = self.noticed_code(name, owner)
        if code == "rabbitmq.crash_noticed" and not self.name_of:
            code += "_last"
        self.say(code, consumer=owner, unacked=requeued)
        self.settle()

    def do_rejoin(self, consumer: Consumer, cause: Cause) -> None:
        consumer.session = self.new_session(consumer.name)
        consumer.joined_us = self.now_us
        self.subscribe(consumer, cause)

    def on_settled(self, bill: Bill) -> None:
        if bill.kind in ("join", "rejoin"):
            code = "rabbitmq.join_first" if self.living() == bill.count else "rabbitmq.join"
            self.say(f"{code}_many" if bill.count > 1 else code, consumer=bill.consumer, count=bill.count)

    def living(self) -> int:
        """Consumers of the queue behind which a program lives; the queue itself counts dead connections, too, until it drops them."""
        return sum(session not in self.crash_positions for session in self.name_of)

    # -- who owns what ------------------------------------------------------------------------------------------------------------------

    def weights(self) -> dict[str, int]:
        second = self.now_us // SECOND_US
        return {name: c.acked_between(second - BUCKETS_KEPT_S, second + 1) for name, c in self.consumers.items()}

    def key_owners(self) -> None:
        return None

    def units(self) -> None:
        return None

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        return True

    def dark_units(self) -> tuple[int, int]:
        return int(not self.living()), 1

    def stuck(self) -> tuple[int, int]:
        held = {session: self.queue.unacked_count(session) for session in self.name_of}
        return sum(count for session, count in held.items() if session in self.crash_positions), sum(held.values())

    def is_all_served(self) -> bool:
        return not self.crash_positions

    def waiting_for(self, consumer: Consumer) -> int:
        return self.held(consumer)

    def way_in(self) -> str:
        return "turn"

    def check_invariants(self) -> None:
        for session, name in self.name_of.items():
            if self.prefetch and self.queue.unacked_count(session) > self.prefetch:
                raise InvariantError(f"{name} holds {self.queue.unacked_count(session)} records with a prefetch of {self.prefetch}")

    # -- looking ------------------------------------------------------------------------------------------------------------------------

    def held(self, consumer: Consumer) -> int:
        return self.queue.unacked_count(consumer.session) if consumer.session in self.name_of else 0

    def state_word(self, consumer: Consumer) -> str:
        return self.ordinary_state(consumer)

    def lag(self) -> int:
        return self.queue.ready + sum(self.queue.unacked_count(session) for session in self.name_of)

    def route(self, index: int, code: int) -> Json:
        """Where the record is: in whose hands, at which place of the queue, or done."""
        for session, name in self.name_of.items():
            if self.queue.holds(session, index):
                return {"hash": None, "unit": None, "consumer": name, "place": None, "waits": False}
        ready = self.queue.ready
        return {"hash": None, "unit": None, "consumer": None, "place": ready if ready else None, "waits": ready > 0}

    def picture(self) -> Json:
        queue = self.queue
        in_flight = {
            self.name_of[session]: [{"record": p, "redelivered": r} for p, r in queue.unacked(session, IN_FLIGHT_SHOWN)]
            for session in self.name_of
        }
        return {
            "kind": "queue", "name": self.options["topic"], "ready": queue.ready,
            "head": [{"record": position, "redelivered": redelivered} for position, redelivered in queue.head(HEAD_SHOWN)],
            "prefetch": self.prefetch, "ring": [self.name_of[session] for session in queue.ring], "in_flight": in_flight,
            "unacked": sum(queue.unacked_count(session) for session in self.name_of),
        }  # fmt: skip
