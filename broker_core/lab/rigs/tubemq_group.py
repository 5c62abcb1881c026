"""The TubeMQ lane's group: a client-balanced one on three brokers, run by an operator who keeps `sourceCount` right.

Every client decides for itself, by the official example: on its own tick, every 10 s from its start, it takes the partitions that its
node id owns and lets go of the others (`tubemq/assignment.py`). A member with another source count is refused by the master (429), so a
join or a leave means: all clients are stopped (200 ms, their partitions released, what they had not confirmed is read again) and started
one by one with the new count, node ids 0..n-1 in join order. How long a process takes to start is drawn, 0.3 to 2 s.

A crashed client's share is consumed by nobody. Master and brokers forget it 30 s after they last heard of it; until then its node id is
taken (430) and so are its partitions (410), also for the process that comes back in its place. Reads are of one record, confirmed when it
is done; a partition without data rests 400 ms.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.events import Cause
from broker_core.lab.bill import Bill
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.rig import Rig, RigSetup
from broker_core.tubemq.assignment import SUCCESS, Call, Connect, assigner_pass, node_of
from broker_core.tubemq.partition_key import PartitionKey

START, TICK, WAKE, FORGOTTEN = 10, 11, 12, 13
TICK_US = 10 * SECOND_US
STOP_US = 200 * MILLISECOND_US
START_MIN_US, START_SPREAD_US = 300 * MILLISECOND_US, 1_700 * MILLISECOND_US
RETRY_US = SECOND_US
EMPTY_REST_US = 400 * MILLISECOND_US
HEARTBEAT_US = 13 * SECOND_US
TIMEOUT_US = 30 * SECOND_US
OCCUPIED, COUNT_DIFFERS, NODE_TAKEN = 410, 429, 430

STOPPED, STARTING, STARTED, REFUSED = "stopped", "starting", "started", "refused"


@dataclass(slots=True)
class Client:
    """One ClientBalanceConsumer object. registered: its partition keys. idle: keys in turn order. resting: keys without data.

    cause: the turning point that its next one follows from. token: of this life alone, 0 when stopped, so that timers of a former one find nothing.
    started_us: from here its ticks and heartbeats count.
    """

    name: str
    session: str
    node_id: int
    source_count: int
    state: str = STOPPED
    token: int = 0
    started_us: int = 0
    next_tick_us: int | None = None
    registered: list[str] = field(default_factory=list)
    idle: deque[str] = field(default_factory=deque)
    resting: list[str] = field(default_factory=list)
    hand: str = ""
    cause: str | None = None
    last_read_us: int = 0
    refused_code: int = 0


@dataclass(slots=True)
class Partition:
    """end: number of records written. confirmed: the next one the group has to read. high_read: the next one nobody has read yet.
    owner: session registered for it at its broker. stopped_us: since when nobody is."""

    end: int = 0
    confirmed: int = 0
    high_read: int = 0
    owner: str | None = None
    stopped_us: int | None = None


class TubeMqGroupRig(Rig):
    """Clients, operator, master and brokers; `tubemq.py` adds the records."""

    model = "tubemq"
    STATE = (*Rig.STATE, "clients", "ghosts", "absent", "partitions", "keyless_next", "source_count", "generation", "count_before")
    clients: dict[str, Client]
    ghosts: dict[str, Client]
    absent: dict[str, int]
    partitions: dict[str, Partition]
    keyless_next: int
    source_count: int
    generation: int
    count_before: int

    def __init__(self, setup: RigSetup) -> None:
        super().__init__(setup)
        brokers, topic = self.options["brokers"], self.options["topic"]
        each = self.options["partitions"] // brokers
        self.brokers = list(range(1, brokers + 1))
        self.partition_keys = [str(PartitionKey(broker, topic, number)) for broker in self.brokers for number in range(each)]
        self.partitions = {key: Partition() for key in self.partition_keys}
        self.status = dict.fromkeys(self.partition_keys, True)
        self.clients = {}
        self.ghosts = {}
        self.absent = {}  # crashed and forgotten, but still counted: name -> node id
        self.keyless_next = self.source_count = self.count_before = self.generation = 0
        self.on_loaded()

    def on_loaded(self) -> None:
        self.router_cache: dict[int, str] = {}
        self.nodes: tuple[int, dict[str, int]] = (0, {})  # source count -> partition -> node id, for the present count

    def on_timer(self, kind: int, name: str, token: int) -> None:
        if kind == FORGOTTEN:
            self.forget(name)
            return
        client = self.clients.get(name)
        if client is None or client.token != token:
            return
        consumer = self.consumers[name]
        if kind == START:
            self.register_at_master(consumer, client)
        elif kind == TICK:
            self.tick(consumer, client)
        else:
            client.idle.extend(client.resting)
            client.resting.clear()
            self.take(consumer)

    # -- the operator -------------------------------------------------------------------------------------------------------------------

    def restart_group(self, cause: Cause) -> None:
        """Stop every client and start it again with the count of those who are alive."""
        alive = [consumer for consumer in self.consumers.values() if consumer.state not in (CRASHED, GONE)]
        was, self.source_count = self.source_count, len(alive)
        self.generation += 1
        self.absent.clear()
        for consumer in alive:
            client = self.clients.get(consumer.name)
            if client is not None:
                self.stop_client(consumer, client)
        kind = "restarting" if was and alive else "starting" if alive else "stopped"
        followed = self.emit(
            f"tubemq.group.{kind}", cause, "tubemq.master.source_count_must_match", {"from": was, "to": self.source_count},
            {"node_ids": {consumer.name: node_id for node_id, consumer in enumerate(alive)}},
        )  # fmt: skip
        for node_id, consumer in enumerate(alive):
            self.launch(Client(consumer.name, consumer.session, node_id, self.source_count, cause=followed.event))
        if alive:
            self.say(f"tubemq.{kind}", from_count=was, to_count=self.source_count)
        else:
            self.say("tubemq.empty", partitions=len(self.partition_keys))

    def launch(self, client: Client) -> None:
        """A process starts; it reaches the master after the stop of its former life and its own start-up."""
        client.state = STARTING
        self.timer_seq += 1
        client.token = self.timer_seq
        self.clients[client.name] = client
        delay_us = STOP_US + START_MIN_US + self.random.below("tubemq.start", START_SPREAD_US)
        self.timer(self.now_us + delay_us, START, client.name, client.token)

    def stop_client(self, consumer: Consumer, client: Client) -> None:
        """shutdown(): every partition is released; a record that was not confirmed is read again by the next owner."""
        self.drop_hand(consumer)
        client.hand = ""
        client.token = 0
        for key in client.registered:
            self.release(key)
        client.registered, client.state, client.next_tick_us = [], STOPPED, None
        client.idle.clear()
        client.resting.clear()

    def release(self, key: str) -> None:
        self.tally.is_stale = True
        partition = self.partitions[key]
        partition.owner = None
        if partition.stopped_us is None:
            partition.stopped_us = self.now_us

    # -- master and brokers -------------------------------------------------------------------------------------------------------------

    def register_at_master(self, consumer: Consumer, client: Client) -> None:
        """start(): the master compares source count and node id with the members it knows, dead ones included."""
        known = [c for c in (*self.clients.values(), *self.ghosts.values()) if c is not client and self.is_known_to_master(c)]
        code, same_node = 0, [other for other in known if other.node_id == client.node_id]
        if any(other.source_count != client.source_count for other in known):
            code = COUNT_DIFFERS
        elif same_node:
            code = NODE_TAKEN
        if code:
            if client.refused_code != code:
                self.emit("tubemq.client.refused", Cause(event=client.cause), f"tubemq.master.{code}",
                          {"source_count": client.source_count, "node_id": client.node_id}, {"consumer": client.name, "code": code})  # fmt: skip
                if code == NODE_TAKEN:
                    self.say("tubemq.node_taken", consumer=client.name, code=code, holder=same_node[0].name)
                else:
                    self.say("tubemq.refused", consumer=client.name, code=code)
            client.state, client.refused_code = REFUSED, code
            self.timer(self.now_us + RETRY_US, START, client.name, client.token)
            return
        client.state, client.refused_code = STARTED, 0
        client.started_us = client.last_read_us = self.now_us
        client.cause = self.emit("tubemq.client.started", Cause(event=client.cause), None, {"source_count": client.source_count},
                                 {"consumer": client.name, "node_id": client.node_id}).event  # fmt: skip
        self.tick(consumer, client)

    def is_known_to_master(self, client: Client) -> bool:
        return client.state == STARTED or client.session in self.ghosts

    def tick(self, consumer: Consumer, client: Client) -> None:
        """One pass of the example's loop."""
        client.next_tick_us = self.now_us + TICK_US
        self.timer(client.next_tick_us, TICK, client.name, client.token)
        had, was_paused = len(client.registered), self.stopped_since_us() is not None
        for call, code in assigner_pass(
            self.status, client.registered, source_count=client.source_count, node_id=client.node_id, saved_offsets={},
            call=lambda call: self.connect(client, call),
        ):  # fmt: skip
            if isinstance(call, Connect) and code == SUCCESS:
                client.registered.append(call.key)
                client.idle.append(call.key)
        if len(client.registered) != had:
            self.emit(
                "tubemq.client.connected", Cause(event=client.cause), "tubemq.assignment.modulo",
                {"source_count": client.source_count, "node_id": client.node_id},
                {"consumer": client.name, "partitions": client.registered[:]},
            )  # fmt: skip
        if was_paused and self.stopped_since_us() is None and self.bill is not None:
            self.emit("tubemq.group.partitions_resumed", Cause(event=client.cause), None, {}, self.bill.pause_facts())
        self.take(consumer)
        self.settle()

    def connect(self, client: Client, call: Call) -> int:
        """connect2Partition at the broker: one owner at a time."""
        partition = self.partitions[call.key]
        if partition.owner is not None and partition.owner != client.session:
            return OCCUPIED
        partition.owner = client.session
        self.tally.is_stale = True
        if partition.stopped_us is not None:
            if self.bill is not None:
                self.bill.note_pause(partition.stopped_us, self.now_us)
            partition.stopped_us = None
        return SUCCESS

    def forget(self, session: str) -> None:
        """Master and brokers have not heard of this session for 30 s: its node id and its partitions are free, and nobody's."""
        if session not in self.ghosts:
            return
        cause = self.notice_crash(session, self.ghosts[session].name)
        ghost = self.ghosts.pop(session)
        is_counted = ghost.source_count == self.source_count and ghost.node_id not in {c.node_id for c in self.clients.values()}
        if is_counted:
            self.absent[ghost.name] = ghost.node_id
        for key in ghost.registered:
            if self.partitions[key].owner == session:
                self.release(key)
        self.emit("tubemq.client.forgotten", cause, "tubemq.timeout", {"timeout_us": TIMEOUT_US},
                  {"consumer": ghost.name, "partitions": ghost.registered})  # fmt: skip
        # Restarted without it, or with it under a new session: nothing waits for its return.
        code = self.noticed_code(session, ghost.name) if is_counted else "tubemq.ghost_noticed"
        self.say(code, consumer=ghost.name, partitions=len(ghost.registered))
        self.settle()

    # -- membership ---------------------------------------------------------------------------------------------------------------------

    def begin_change(self, position: int, kind: str, name: str) -> None:
        if self.bill is None or self.bill.settled:
            self.count_before = self.source_count  # several restarts may come to rest on one bill: its sentence compares as its figures do
        super().begin_change(position, kind, name)

    def do_join(self, joiners: Sequence[Consumer], cause: Cause) -> None:
        self.restart_group(cause)

    def do_leave(self, consumer: Consumer, cause: Cause) -> None:
        client = self.clients.pop(consumer.name, None)
        self.absent.pop(consumer.name, None)
        del self.consumers[consumer.name]
        if client is not None:
            self.stop_client(consumer, client)
        if consumer.session in self.ghosts:  # the operator makes sure that it is dead and takes it off the books
            ghost = self.ghosts.pop(consumer.session)
            self.crash_positions.pop(consumer.session, None)
            for key in ghost.registered:
                self.release(key)
        self.restart_group(cause)

    def do_crash(self, consumer: Consumer, cause: Cause) -> None:
        client = self.clients.pop(consumer.name)
        if client.state != STARTED:
            # It died before the master knew it: nobody will miss it.
            consumer.state, consumer.deadline_from_us = GONE, None
            self.crash_positions.pop(consumer.session)
            self.settle()
            return
        self.ghosts[client.session] = client
        heard_us = self.now_us - (self.now_us - client.started_us) % HEARTBEAT_US
        deadline_us = max(heard_us, client.last_read_us) + TIMEOUT_US
        consumer.deadline_us = deadline_us
        client.next_tick_us = None
        client.token = 0
        for key in client.registered:
            self.partitions[key].stopped_us = self.now_us
        self.timer(deadline_us, FORGOTTEN, client.session)
        self.emit("tubemq.client.crashed", cause, "tubemq.timeout", {"timeout_us": TIMEOUT_US},
                  {"consumer": consumer.name, "partitions": client.registered, "deadline_us": deadline_us})  # fmt: skip
        self.say("tubemq.crash_pending", consumer=consumer.name, partitions=len(client.registered), deadline_us=deadline_us)

    def do_rejoin(self, consumer: Consumer, cause: Cause) -> None:
        """A process in the crashed one's place: the same node id, if the group still runs with the count of then."""
        old = self.ghosts.get(consumer.session)
        taken = {client.node_id for client in self.clients.values()}
        free = [node_id for node_id in range(self.source_count) if node_id not in taken]
        consumer.session = self.new_session(consumer.name)
        consumer.joined_us = self.now_us
        if not free:  # the group was restarted without it meanwhile
            self.restart_group(cause)
            return
        node_id = old.node_id if old is not None and old.node_id in free else self.absent.get(consumer.name, free[0])
        self.absent.pop(consumer.name, None)
        followed = self.emit("tubemq.client.restarted", cause, None, {"source_count": self.source_count},
                             {"consumer": consumer.name, "node_id": node_id})  # fmt: skip
        self.say("tubemq.rejoining", consumer=consumer.name, node_id=node_id)
        self.launch(Client(consumer.name, consumer.session, node_id, self.source_count, cause=followed.event))

    def on_settled(self, bill: Bill) -> None:
        client = self.clients.get(bill.consumer)
        if bill.kind == "rejoin" and client is not None:
            self.say("tubemq.rejoined", consumer=client.name, node_id=client.node_id, pause_us=bill.pause_us, partitions_moved=bill.partitions_moved)
        elif self.sentence["code"] in ("tubemq.restarting", "tubemq.starting", "tubemq.refused", "tubemq.node_taken"):
            code = "tubemq.restarted" if self.count_before else "tubemq.first"
            self.say(code, from_count=self.count_before, to_count=self.source_count, partitions_moved=bill.partitions_moved,
                     partitions_total=bill.partitions_total, pause_us=bill.pause_us)  # fmt: skip

    def units(self) -> dict[str, str | None]:
        """Partition -> the consumer whose node id it falls to, whether or not that one holds it just now, or is alive at all."""
        if not self.source_count:
            return dict.fromkeys(self.partition_keys)
        clients = [*self.clients.values(), *self.ghosts.values()]
        names = {node_id: name for name, node_id in self.absent.items()}
        names |= {client.node_id: client.name for client in reversed(clients) if client.source_count == self.source_count}
        if self.nodes[0] != self.source_count:
            self.nodes = (self.source_count, {key: node_of(key, self.source_count) for key in self.partition_keys})
        return {key: names.get(node_id) for key, node_id in self.nodes[1].items()}
