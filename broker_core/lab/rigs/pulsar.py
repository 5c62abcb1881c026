"""The Pulsar lane: one Key_Shared subscription and its consumers. Who owns which keys is answered in `pulsar_owners.py`.

Broker: `pulsar/key_shared.py`. Client: a receiver queue of 1,000 records per consumer (Pulsar's default `receiverQueueSize`); the client
grants permits for the whole queue when it connects and again each time the application has taken half of it
(ConsumerImpl.increaseAvailablePermits). Each record is acknowledged by itself.

A crash is silent: the broker pings every 30 s (`keepAliveIntervalSeconds`) and closes the connection at the second tick that finds no
answer, so it notices after 30 to 60 s. Left out until its own issue: the order of a key across a change of owner (waiting, draining).
"""

from collections import deque
from collections.abc import Sequence

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json
from broker_core.lab.bill import Bill
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.lanes.pulsar_moves import given_facts
from broker_core.lab.rigs.pulsar_owners import RINGS, PulsarOwnersRig, Ranges
from broker_core.pulsar.key_shared import Delivery
from broker_core.pulsar.selectors import SELECTORS
from broker_core.pulsar.selectors.sticky_join import plan_join

NOTICED = 10
KEEP_ALIVE_US = 30 * SECOND_US
STICKY = ("sticky", "sticky_document")


def overlap(one: Ranges, other: Ranges, half_open: bool) -> bool:
    """Whether two lists of ranges share a slot."""
    reach = 0 if half_open else 1
    return any(start < end_b + reach and start_b < end + reach for start, end in one for start_b, end_b in other)


class PulsarRig(PulsarOwnersRig):
    @classmethod
    def algorithms(cls) -> list[Json]:
        return [{"id": name, "document": name.endswith("_document")} for name in SELECTORS]

    # -- traffic ------------------------------------------------------------------------------------------------------------------------

    def on_arrival(self, index: int, code: int) -> None:
        self.code_counts[code] = self.code_counts.get(code, 0) + 1
        if self.owner_weights is not None:
            owner = self.owner_of(code)
            if owner is not None:
                self.owner_weights[owner] += 1
        hash32 = self.hashes.get(code)
        if hash32 is None:
            hash32 = self.hash_of(code)
        deliveries = self.subscription.publish(index, hash32)
        if deliveries:
            self.hand_over(deliveries)

    def hand_over(self, deliveries: Sequence[Delivery]) -> None:
        """Put what the broker sent into the receiver queues and wake those who idle."""
        queues = self.queues
        for session, position, redelivered in deliveries:
            queues[session].append(position)
            if redelivered:
                self.redelivered += 1
        for session in dict.fromkeys(delivery[0] for delivery in deliveries) if len(deliveries) > 1 else (deliveries[0][0],):
            consumer = self.consumers.get(self.name_of[session])
            if consumer is not None and consumer.session == session and consumer.hand < 0:
                self.take(consumer)

    def take(self, consumer: Consumer) -> None:
        queue = self.queues.get(consumer.session)
        if not queue or consumer.hand >= 0 or not consumer.is_working:
            return
        self.start(consumer, queue.popleft())
        session = consumer.session
        taken = self.taken[session] + 1
        if taken * 2 >= self.queue_size:
            self.taken[session] = 0
            self.hand_over_if_any(self.subscription.flow(session, taken))
        else:
            self.taken[session] = taken

    def hand_over_if_any(self, deliveries: Sequence[Delivery]) -> None:
        if deliveries:
            self.hand_over(deliveries)

    def on_done(self, consumer: Consumer, record: int) -> None:
        self.done += 1
        self.subscription.ack(consumer.session, record)
        self.take(consumer)

    # -- membership ---------------------------------------------------------------------------------------------------------------------

    def do_join(self, joiners: Sequence[Consumer], cause: Cause) -> None:
        source: str | None = None
        for consumer in joiners:
            source = self.connect(consumer, cause)
        last = joiners[-1]
        if source is not None:
            start, end = self.ranges[last.session][0]
            self.say("pulsar.sticky_join", consumer=last.name, **{"from": source}, start=start, end=end)

    def connect(self, consumer: Consumer, cause: Cause) -> str | None:
        """Subscribe, then grant permits. Returns the consumer that made room, for sticky ranges."""
        session = consumer.session
        was = self.owners_to_explain()
        self.queues[session] = deque()
        self.taken[session] = 0
        self.name_of[session] = consumer.name
        source: str | None = None
        if self.algorithm in STICKY:
            source, given = self.make_room(consumer, cause)
            self.ranges[session] = given
            deliveries = self.subscription.connect(session, consumer.name, given)
        else:
            deliveries = self.subscription.connect(session, consumer.name)
        self.owners_changed()
        self.emit(
            "pulsar.consumer.connected", cause, f"pulsar.selector.{self.algorithm}", {"consumer": consumer.name, "from": source},
            {"consumer": consumer.name, "consumers": len(self.queues), "permits": self.queue_size, **self.taken_by(consumer.name, was)},
        )  # fmt: skip
        self.hand_over_if_any(deliveries)
        self.hand_over_if_any(self.subscription.flow(session, self.queue_size))
        return source

    def make_room(self, consumer: Consumer, cause: Cause) -> tuple[str | None, Ranges]:
        """Sticky ranges: which consumer reconnected with less, and what the newcomer asks for.

        A program that comes back asks for what it had, if that is still free. The owner of the widest ranges shares with a newcomer; a dead
        one cannot, and on a conflict with it the broker finds that its connection is gone (docs/pulsar/facts.md).
        """
        half_open = self.algorithm == "sticky_document"
        alive = {s: ranges for s, ranges in self.ranges.items() if s not in self.crash_positions}
        given = self.remembered.pop(consumer.name, None)
        source: str | None = None
        if given is None or any(overlap(given, ranges, half_open) for ranges in alive.values()):
            session, kept, given = plan_join(alive, consumer.session, half_open)
            if session is not None:
                source = self.name_of[session]
                self.reconnect(self.consumers[source], kept, cause)
        for session in [s for s in self.crash_positions if s in self.ranges and overlap(given, self.ranges[s], half_open)]:
            name = self.name_of[session]
            self.crash_positions.pop(session)
            self.disconnect(session, cause)
            self.remembered.pop(name, None)
            ghost = self.consumers.get(name)
            if ghost is not None and ghost.session == session:
                ghost.state, ghost.deadline_us, ghost.deadline_from_us = GONE, None, None
        return source, given

    def reconnect(self, consumer: Consumer, ranges: Ranges, cause: Cause) -> None:
        """A consumer comes back with other ranges: its unacknowledged records are given out again."""
        session = consumer.session
        self.drop_hand(consumer)
        self.queues[session].clear()
        released = self.subscription.disconnect(session)
        self.owners_changed()
        self.hand_over_if_any(released)
        self.ranges[session] = ranges
        self.taken[session] = 0
        deliveries = self.subscription.connect(session, consumer.name, ranges)
        self.owners_changed()
        self.emit("pulsar.consumer.reconnected", cause, "pulsar.selector.sticky.halve_widest", {"consumer": consumer.name},
                  {"ranges": [list(r) for r in ranges]})  # fmt: skip
        self.hand_over_if_any(deliveries)
        if consumer.state != CRASHED:
            self.hand_over_if_any(self.subscription.flow(session, self.queue_size))

    def do_leave(self, consumer: Consumer, cause: Cause) -> None:
        self.drop_hand(consumer)
        unacked = 0
        if consumer.state != GONE:
            self.crash_positions.pop(consumer.session, None)
            unacked = self.disconnect(consumer.session, cause)
        del self.consumers[consumer.name]
        self.remembered.pop(consumer.name, None)
        self.settle()
        keys_moved = self.bill.keys_moved if self.bill else 0
        if consumer.state == GONE:
            self.say("left_gone", consumer=consumer.name)
        elif not self.name_of:
            self.say("pulsar.leave_last", consumer=consumer.name, unacked=unacked, keys_total=self.keys.count_at(self.next_record))
        elif self.algorithm in STICKY:
            self.say("pulsar.gap", consumer=consumer.name)
        else:
            self.say("pulsar.leave", consumer=consumer.name, redelivered=unacked, keys_moved=keys_moved)

    def disconnect(self, session: str, cause: Cause) -> int:
        """The broker closes this session: out of the selector; what it had not acknowledged goes to the others. Returns how many."""
        was = self.owners_to_explain()
        name = self.name_of.pop(session)
        del self.queues[session]
        del self.taken[session]
        ranges = self.ranges.pop(session, None)
        if ranges is not None:
            self.remembered[name] = ranges
        mine = set(self.subscription.unacked(session))
        unacked = len(mine)
        deliveries = self.subscription.disconnect(session)
        self.owners_changed()
        given = {} if was is None else given_facts([now for _, old, now in self.moved_since(was[1]) if old == name], len(was[1]))
        self.emit("pulsar.consumer.disconnected", cause, f"pulsar.selector.{self.algorithm}", {"consumer": name, "unacked": unacked},
                  {"redelivered": sum(position in mine for _, position, _ in deliveries), "waiting": self.subscription.waiting,
                   **given})  # fmt: skip
        self.hand_over_if_any(deliveries)
        return unacked

    def do_crash(self, consumer: Consumer, cause: Cause) -> None:
        self.queues[consumer.session].clear()
        self.picture_cache = None
        ticks = (self.now_us - consumer.joined_us) // KEEP_ALIVE_US
        consumer.deadline_us = consumer.joined_us + (ticks + 2) * KEEP_ALIVE_US
        self.timer(consumer.deadline_us, NOTICED, consumer.session)
        unacked = self.held(consumer)
        self.emit("pulsar.consumer.crashed", cause, "pulsar.keep_alive.two_ticks", {"keep_alive_us": KEEP_ALIVE_US, "unacked": unacked},
                  {"consumer": consumer.name, "deadline_us": consumer.deadline_us})  # fmt: skip
        self.say("pulsar.crash_pending", consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def do_rejoin(self, consumer: Consumer, cause: Cause) -> None:
        if consumer.session in self.ranges:
            self.remembered[consumer.name] = self.ranges[consumer.session]
        consumer.session = self.new_session(consumer.name)
        consumer.joined_us = self.now_us
        self.connect(consumer, cause)

    def on_timer(self, kind: int, name: str, token: int) -> None:
        """The keep-alive of session `name` has found nobody twice."""
        if name not in self.name_of:
            return
        owner = self.name_of[name]
        unacked = self.disconnect(name, self.notice_crash(name, owner))
        self.settle()
        code = self.noticed_code(name, owner)
        if code == "pulsar.crash_noticed" and not self.name_of:
            code += "_last"
        elif code == "pulsar.crash_noticed" and self.algorithm in STICKY:
            code += "_gap"
        self.say(code, consumer=owner, unacked=unacked)

    def is_settled(self) -> bool:
        return True

    def on_settled(self, bill: Bill) -> None:
        if bill.kind not in ("join", "rejoin"):
            return
        if len(self.name_of) == bill.count:
            code = "pulsar.join_first"
        elif bill.kind == "rejoin":
            code = "pulsar.rejoin"
        elif self.algorithm in STICKY and bill.count == 1:
            return  # do_join has said who made room
        else:
            code = "pulsar.join"
        self.say(f"{code}_many" if bill.count > 1 else code, consumer=bill.consumer, count=bill.count, keys_moved=bill.keys_moved,
                 keys_total=bill.keys_total)  # fmt: skip

    def check_invariants(self) -> None:
        for session, name in self.name_of.items():
            held, waiting = self.subscription.unacked_count(session), len(self.queues[session])
            if waiting > held:
                raise InvariantError(f"{name} has {waiting} records waiting, the broker knows of {held}")

    def way_in(self) -> str:
        return "ring" if self.algorithm in RINGS else "halves"

    # -- looking ------------------------------------------------------------------------------------------------------------------------

    def held(self, consumer: Consumer) -> int:
        return self.subscription.unacked_count(consumer.session) if consumer.session in self.name_of else 0

    def state_word(self, consumer: Consumer) -> str:
        return self.ordinary_state(consumer)

    def waiting_for(self, consumer: Consumer) -> int:
        return self.held(consumer) + self.subscription.waiting_for(consumer.session)

    def lag(self) -> int:
        return self.next_record - self.first_record - self.done

    def route(self, index: int, code: int) -> Json:
        selector = self.subscription.selector
        owner = self.owner_of(code)
        consumer = None if owner is None else self.consumers.get(owner)
        waits = consumer is None or consumer.state == CRASHED
        return {"hash": selector.slot(self.hash_of(code)), "unit": None, "consumer": owner, "place": None, "waits": waits}

    def picture(self) -> Json:
        subscription = self.subscription
        if self.picture_cache is None:
            self.picture_cache = self.space_picture()
        return {
            **self.picture_cache,
            "waiting": subscription.waiting,
            "permits": {name: subscription.permits(c.session) for name, c in self.consumers.items() if c.session in self.name_of},
            "mark_delete": subscription.mark_delete,
            "connected": len(self.name_of),
        }
