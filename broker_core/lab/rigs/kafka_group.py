"""The Kafka lane's consumer group: who is in it, and how it rebalances.

Broker: `kafka/group/coordinator.py` and offsets per partition. Client, as ConsumerCoordinator does it with `max.poll.records` = 1:
heartbeats every 3.0 to 3.1 s from the moment of the assignment (the heartbeat thread looks every 100 ms, `retry.backoff.ms`, whether 3
s are over; how much it is late is drawn once for each member, so that their beats drift apart as real ones do); a rebalance is learnt
from a heartbeat's answer and acted on in the next poll, after the record in hand; an eager member then commits, revokes all and joins,
a cooperative one keeps reading and later revokes only what it lost; positions are committed every 5 s and at a clean revoke. A crashed
member is found by its session time-out, 45 s after its last heartbeat, and what it had read since its last commit is read again.
Requests take no time on the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.errors import InvariantError
from broker_core.events import Cause, Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.protocol import NO_GENERATION, StickyUserData, Subscription
from broker_core.kafka.group import coordinator as group_rules
from broker_core.kafka.group.coordinator import COMPLETING, EMPTY, PREPARING, STABLE, Group
from broker_core.kafka.producer.partitioner import StickyPartitioner
from broker_core.lab.bill import Bill
from broker_core.lab.consumer import CRASHED, LIVE, PAUSED, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.pace import PACE_KINDS
from broker_core.lab.rig import Rig, RigSetup
from broker_core.lab.rigs.kafka_pause import begin_pause, resume
from broker_core.lab.rigs.kafka_rebalance import HOLD_UPS, rebalance_sentence

HEARTBEAT, SESSION_EXPIRED, COMMIT, INITIAL_DELAY = 10, 11, 12, 13


@dataclass(slots=True)
class Client:
    """One member's consumer object.

    owned: partitions it may read, in the order of the assignment. turn: where its next poll begins to look. joining: its JoinGroup waits
    for an answer. must_rejoin: it has heard of a rebalance. pending: an assignment that arrived while it worked. revoked: what the pending
    or last assignment took away. hand: partition of the record in hand, -1 for none. heartbeat_from_us: its heartbeats go out every 3 s
    from here. previous: the last assignment and its generation (sticky user data). max_generation: of its assignor object, should it lead.
    """

    member_id: str
    name: str
    session: str
    owned: list[int] = field(default_factory=list)
    turn: int = 0
    joining: bool = False
    must_rejoin: bool = False
    pending: list[int] | None = None
    hand: int = -1
    commit_due: bool = False
    commit_token: int = 0
    heartbeat_from_us: int = 0
    heartbeat_us: int = group_rules.HEARTBEAT_INTERVAL_US
    generation: int = NO_GENERATION
    previous: list[int] = field(default_factory=list)
    max_generation: int = NO_GENERATION


@dataclass(slots=True)
class Partition:
    """end: the next offset to be written. position: the next one its reader takes. committed: what the group stored. high_read: the next
    one that nobody has read yet. holder: member id that holds it or held it last. stopped_us: since when nobody may read it. codes: key codes
    of the records from `committed` on, which is all that can be read once more. high_done: the next offset that nobody has finished yet."""

    end: int = 0
    position: int = 0
    committed: int = 0
    high_read: int = 0
    holder: str | None = None
    stopped_us: int | None = None
    codes: list[int] = field(default_factory=list)
    high_done: int = 0

    def commit(self, offset: int) -> None:
        """The group stores `offset`; what is below it will not be read again."""
        del self.codes[: offset - self.committed]
        self.committed = offset

    def is_out_of_order(self, offset: int) -> bool:
        """Whether a later record of the same key had been finished when this one was, for the second time."""
        code, later = self.codes[offset - self.committed], slice(offset + 1 - self.committed, self.high_done - self.committed)
        return code != NO_KEY and code in self.codes[later]


class KafkaGroupRig(Rig):
    """Membership and rebalances; `kafka.py` adds the records."""

    model = "kafka"
    STATE = (*Rig.STATE, "group", "clients", "partitions", "keyless", "cause_command", "cause_event")
    group: Group
    clients: dict[str, Client]
    partitions: list[Partition]
    keyless: StickyPartitioner
    cause_command: int | None
    cause_event: str | None

    def __init__(self, setup: RigSetup) -> None:
        super().__init__(setup)
        self.topic: str = self.options["topic"]
        self.assignor = ASSIGNORS[self.algorithm]
        self.group = Group()
        self.clients = {}
        self.partitions = [Partition() for _ in range(self.options["partitions"])]
        self.keyless = StickyPartitioner()
        self.cause_command = self.cause_event = None
        self.on_loaded()

    def on_loaded(self) -> None:
        self.partition_cache: dict[int, int] = {}
        self.by_session = {client.session: client for client in self.clients.values()}

    def client_of(self, consumer: Consumer) -> Client | None:
        """The consumer object of this consumer's present session."""
        return self.by_session.get(consumer.session)

    def commit(self, client: Client) -> None:
        """Store the positions of what this member owns; the record in hand is not done."""
        for number in client.owned:
            partition = self.partitions[number]
            partition.commit(partition.position - (1 if client.hand == number else 0))

    def poll(self, consumer: Consumer, client: Client) -> None:
        """What a poll does before it fetches: a commit that is due, an assignment that arrived, a rebalance it heard of."""
        if client.commit_due:
            client.commit_due = False
            self.commit(client)
            self.schedule_commit(client)
        if client.pending is not None:
            pending, client.pending = client.pending, None
            client.must_rejoin |= self.apply_assignment(consumer, client, pending)
            self.settle()
        if client.must_rejoin and client.hand < 0:
            self.rejoin_group(client)

    def schedule_commit(self, client: Client) -> None:
        client.commit_token += 1
        self.timer(self.now_us + group_rules.AUTO_COMMIT_INTERVAL_US, COMMIT, client.member_id, client.commit_token)

    def on_timer(self, kind: int, name: str, token: int) -> None:
        if kind == INITIAL_DELAY:
            if self.group.initial_deadline_us == self.now_us:
                if self.group.initial_delay_over(self.now_us):
                    self.complete_if_all_joined()
                elif self.group.initial_deadline_us is not None:
                    self.timer(self.group.initial_deadline_us, INITIAL_DELAY)
            return
        client = self.clients.get(name)
        if client is None:
            return
        consumer = self.consumers.get(client.name)
        alive = consumer is not None and consumer.session == client.session and consumer.state in (LIVE, PAUSED)
        if kind == SESSION_EXPIRED:
            self.expire(client)
        elif alive and consumer is not None:
            if kind == HEARTBEAT and self.group.state == PREPARING and not client.joining and token == self.group.generation:
                client.must_rejoin = True
            elif kind == COMMIT and token == client.commit_token:
                client.commit_due = True
            if client.hand < 0:
                self.poll(consumer, client)

    # -- the rebalance ------------------------------------------------------------------------------------------------------------------

    def join_group(self, client: Client) -> None:
        """Send JoinGroup; tell the others if that begins a rebalance."""
        client.joining, client.must_rejoin = True, False
        state = self.group.state
        if self.group.join(client.member_id, self.now_us):
            self.announce_rebalance("kafka.group.join", state)
        elif state == EMPTY and self.group.initial_deadline_us is not None:
            self.timer(self.group.initial_deadline_us, INITIAL_DELAY)
            self.follow(self.emit(
                "kafka.group.rebalance_started", self.cause(), "kafka.group.initial_rebalance_delay",
                {"delay_us": group_rules.INITIAL_REBALANCE_DELAY_US}, {"members": 1},
            ))  # fmt: skip

    def announce_rebalance(self, rule: str, state_before: str) -> None:
        """The group is preparing a rebalance: each member learns it from the answer to its next heartbeat.

        Those who still wait in SyncGroup, because the leader never brought the assignment, are answered at once.
        """
        self.follow(self.emit(
            "kafka.group.rebalance_started", self.cause(), rule, {"heartbeat_interval_us": group_rules.HEARTBEAT_INTERVAL_US},
            {"members": len(self.group.members), "generation": self.group.generation},
        ))  # fmt: skip
        for client in self.clients.values():
            if client.joining or not self.is_alive(client):
                continue
            if state_before == COMPLETING:
                self.timer(self.now_us, HEARTBEAT, client.member_id, self.group.generation)
            else:
                beats = (self.now_us - client.heartbeat_from_us) // client.heartbeat_us + 1
                self.timer(client.heartbeat_from_us + beats * client.heartbeat_us, HEARTBEAT, client.member_id, self.group.generation)

    def is_alive(self, client: Client) -> bool:
        consumer = self.consumers.get(client.name)
        return consumer is not None and consumer.session == client.session and consumer.state in (LIVE, PAUSED)

    def rejoin_group(self, client: Client) -> None:
        """onJoinPrepare: commit; eager members let go of everything; then JoinGroup."""
        client.must_rejoin = False
        self.commit(client)
        client.commit_token += 1
        if not self.assignor.cooperative:
            self.stop(client.owned, "kafka.rebalance.eager_revokes_all")
            client.owned = []
        self.join_group(client)
        self.complete_if_all_joined()

    def stop(self, numbers: Sequence[int], rule: str) -> None:
        """Nobody reads these partitions from here on. rule: why."""
        self.tally.is_stale = True
        begin_pause(self, numbers, rule)

    def complete_if_all_joined(self) -> None:
        if self.group.is_join_complete():
            self.group.complete_join()
            if self.group.state == EMPTY:
                return
            self.follow(self.emit(
                "kafka.group.generation_started", self.cause(), "kafka.group.all_members_joined", {"members": len(self.group.members)},
                {"generation": self.group.generation, "leader": self.name_of(self.group.leader)},
            ))  # fmt: skip
            for client in self.clients.values():
                client.joining = False
                client.heartbeat_from_us = self.now_us
                if not self.is_alive(client):
                    # It crashed while its JoinGroup waited: its session counts from this answer, which nobody reads.
                    self.watch_session(client, self.now_us)
            leader = self.clients[self.group.leader or ""]
            if self.is_alive(leader):
                self.assign(leader)

    def assign(self, leader: Client) -> None:
        """The leader shares the partitions out; its SyncGroup and everybody's answer follow at once."""
        topic, assignor = self.topic, self.assignor
        subscriptions: dict[str, Subscription] = {}
        for member_id in self.group.members:
            client = self.clients[member_id]
            previous = tuple((topic, number) for number in client.previous)
            if assignor.cooperative:
                subscriptions[member_id] = Subscription((topic,), tuple((topic, n) for n in client.owned), client.generation)
            elif assignor.remembers and client.generation != NO_GENERATION:
                subscriptions[member_id] = Subscription((topic,), user_data=StickyUserData(previous, client.generation))
            else:
                subscriptions[member_id] = Subscription((topic,))
        answer = assignor.assign(subscriptions, {topic: len(self.partitions)}, max_generation=leader.max_generation)
        leader.max_generation = self.group.generation
        self.group.leader_synced()
        quota, rest = divmod(len(self.partitions), len(subscriptions))
        given = {self.name_of(member_id) or "": [number for _, number in answer[member_id]] for member_id in subscriptions}
        self.follow(self.emit(
            "kafka.group.assigned", self.cause(), f"kafka.assignor.{self.algorithm}",
            {"partitions": len(self.partitions), "members": len(subscriptions), "quota": quota, "one_more_for_the_first": rest},
            {"generation": self.group.generation, "assignment": given},
        ))  # fmt: skip
        members = [self.clients[member_id] for member_id in subscriptions]
        for client in members:
            client.generation = self.group.generation
        lost = []
        for client in members:
            numbers = [number for _, number in answer[client.member_id]]
            consumer = self.consumers.get(client.name)
            if consumer is None or not self.is_alive(client):
                self.give_to_dead(client, numbers)
            elif client.hand >= 0:
                client.pending = numbers
            elif self.apply_assignment(consumer, client, numbers):
                lost.append(client)
        for client in lost:  # cooperative: what they let go is handed out in a second rebalance
            if not client.joining:
                self.rejoin_group(client)
        self.settle()

    def give_to_dead(self, client: Client, numbers: list[int]) -> None:
        """The assignment counts a member whose crash nobody has noticed: what it is given is paused."""
        client.owned = numbers
        for number in numbers:
            self.partitions[number].holder = client.member_id
        self.stop(numbers, "kafka.group.session_timeout")

    def apply_assignment(self, consumer: Consumer, client: Client, numbers: list[int]) -> bool:
        """onPartitionsRevoked and onPartitionsAssigned of one member; reading goes on. Returns whether it had to let go of anything."""
        self.tally.is_stale = True
        lost = [number for number in client.owned if number not in numbers]
        if lost:
            self.commit(client)
            self.stop(lost, "kafka.rebalance.cooperative_revokes_what_moves")
        for number in numbers:
            partition = self.partitions[number]
            if number not in client.owned:
                partition.position = partition.committed
                partition.holder = client.member_id
        resume(self, numbers)
        client.owned = list(numbers)
        client.previous = list(numbers)
        client.turn = 0
        self.schedule_commit(client)
        self.take(consumer)
        return bool(lost)

    def expire(self, client: Client) -> None:
        """A session timed out."""
        cause = self.notice_crash(client.session, client.name)
        self.cause_command, self.cause_event = cause.command, None
        again = sum(max(0, self.partitions[n].high_read - self.partitions[n].committed) for n in client.owned)
        self.follow(self.emit(
            "kafka.group.member_expired", cause, "kafka.group.session_timeout", {"session_timeout_us": group_rules.SESSION_TIMEOUT_US},
            {"consumer": client.name, "partitions": len(client.owned), "read_again": again},
        ))  # fmt: skip
        code = self.noticed_code(client.session, client.name)
        if code == "kafka.crash_noticed" and len(self.clients) == 1:
            code += "_last"
        self.say(code, consumer=client.name, read_again=again, partitions=len(self.partitions))
        self.remove_member(client, "kafka.group.session_timeout")
        self.settle()

    def remove_member(self, client: Client, rule: str) -> None:
        """The coordinator forgets a member; its partitions wait for the next generation."""
        del self.clients[client.member_id], self.by_session[client.session]
        state = self.group.state
        held = [number for number, partition in enumerate(self.partitions) if partition.holder == client.member_id]
        self.stop(held, rule)
        for number in held:
            self.partitions[number].holder = None
        if self.group.remove(client.member_id):
            self.announce_rebalance(rule, state)
        self.complete_if_all_joined()

    def watch_session(self, client: Client, last_heard_us: int) -> None:
        """Nobody will hear of this member again: it expires one session time-out after its last heartbeat."""
        deadline_us = last_heard_us + group_rules.SESSION_TIMEOUT_US
        self.timer(deadline_us, SESSION_EXPIRED, client.member_id)
        consumer = self.consumers.get(client.name)
        if consumer is not None and consumer.session == client.session:
            consumer.deadline_us = deadline_us

    # -- membership ---------------------------------------------------------------------------------------------------------------------

    def begin_change(self, position: int, kind: str, name: str) -> None:
        if kind not in PACE_KINDS:  # a rebalance under way goes on from its own cause
            self.cause_command, self.cause_event = position, None
        super().begin_change(position, kind, name)

    def cause(self) -> Cause:
        """The last link of the chain that the present rebalance follows from."""
        return Cause(event=self.cause_event) if self.cause_event else Cause(command=self.cause_command)

    def follow(self, cause: Cause) -> None:
        self.cause_event = cause.event

    def do_join(self, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.enter(consumer, cause)
        self.complete_if_all_joined()
        self.say_rebalancing()

    def enter(self, consumer: Consumer, cause: Cause) -> None:
        # The coordinator makes the id: client.id, here the consumer's name, and a random tail.
        member_id = f"{consumer.name}-{self.random.bits('kafka.member', 32):08x}"
        late_us = self.random.below("kafka.heartbeat", group_rules.HEARTBEAT_LATE_MAX_US)
        client = Client(member_id, consumer.name, consumer.session, heartbeat_from_us=self.now_us)
        client.heartbeat_us += late_us
        self.clients[member_id] = self.by_session[client.session] = client
        self.emit("kafka.group.member_joined", cause, None, {}, {"consumer": consumer.name, "member_id": member_id})
        self.join_group(client)

    def do_leave(self, consumer: Consumer, cause: Cause) -> None:
        client = self.client_of(consumer)
        del self.consumers[consumer.name]
        if client is None:
            self.say("left_gone", consumer=consumer.name)
            return
        if consumer.state != CRASHED:
            self.commit(client)
        else:
            self.crash_positions.pop(client.session, None)
        self.follow(self.emit("kafka.group.member_left", cause, None, {}, {"consumer": consumer.name, "member_id": client.member_id}))
        self.remove_member(client, "kafka.group.leave")
        if self.clients:
            self.say_rebalancing()
        else:
            self.say("kafka.empty", consumer=consumer.name, partitions=len(self.partitions))

    def do_crash(self, consumer: Consumer, cause: Cause) -> None:
        client = self.client_of(consumer)
        if client is None:
            raise InvariantError(f"{consumer.name} is no member of the group")
        client.hand, client.pending, client.must_rejoin = -1, None, False
        consumer.deadline_us = None
        if not client.joining:
            silent_us = (self.now_us - client.heartbeat_from_us) % client.heartbeat_us
            self.watch_session(client, self.now_us - silent_us)
        self.emit("kafka.member.crashed", cause, "kafka.group.session_timeout", {"session_timeout_us": group_rules.SESSION_TIMEOUT_US},
                  {"consumer": consumer.name, "partitions": len(client.owned), "deadline_us": consumer.deadline_us})  # fmt: skip
        self.stop(client.owned, "kafka.group.session_timeout")
        self.say("kafka.crash_pending", consumer=consumer.name, partitions=len(client.owned), deadline_us=consumer.deadline_us)

    def do_rejoin(self, consumer: Consumer, cause: Cause) -> None:
        consumer.session = self.new_session(consumer.name)
        consumer.joined_us = self.now_us
        self.enter(consumer, cause)
        self.complete_if_all_joined()
        self.say_rebalancing()

    def say_rebalancing(self) -> None:
        bill = self.bill
        if bill is None or self.group.state not in (PREPARING, COMPLETING):
            return
        if self.group.initial_deadline_us is not None:
            self.say("kafka.first", delay=group_rules.INITIAL_REBALANCE_DELAY_US // 1_000_000)
        else:
            self.say("kafka.rebalancing", consumer=bill.consumer, count=bill.count)

    def sentence_as_of_now(self) -> Json:
        code, params = self.sentence["code"], self.sentence["params"]
        if code == "kafka.rebalancing":
            return rebalance_sentence(self, params["consumer"], params["count"])
        if code == "kafka.crash_pending" and self.group.state in (PREPARING, COMPLETING):
            now = rebalance_sentence(self, params["consumer"])
            return now if now["code"] in HOLD_UPS else self.sentence
        return self.sentence

    def on_settled(self, bill: Bill) -> None:
        if self.group.state != STABLE or bill.kind == "crash" or self.sentence["code"] == "left_gone":
            return
        if bill.partitions_stopped and not bill.pause_us:
            code = "kafka.at_once"
        elif bill.partitions_stopped:
            code = "kafka.cooperative" if self.assignor.cooperative else "kafka.rebalanced"
        else:
            code = "kafka.formed" if bill.partitions_moved else "kafka.unmoved"
        self.say(code, consumer=bill.consumer, pause_us=bill.pause_us, partitions_moved=bill.partitions_moved,
                 partitions_total=bill.partitions_total, stopped=bill.partitions_stopped)  # fmt: skip

    def name_of(self, member_id: str | None) -> str | None:
        client = self.clients.get(member_id or "")
        return client.name if client else None

    def holders(self) -> list[str | None]:
        return [self.name_of(partition.holder) for partition in self.partitions]
