"""The TubeMQ lane: a master or two, brokers with the partitions, one producer, and a group with a client for each
consumer.

By the modulo rule every client works out its own partitions and registers them (`tubemq/client/balance_program.py`); by the
other client-side rules the operator deals them out (`sharing.py`); by `server` and `article` the master does
(`tubemq/client/pull_consumer.py`). Who is refused, and when the dead are forgotten, is the master's and the brokers'. The
lab's own, since TubeMQ leaves it to its users: the producer's router (unsigned Java hash of the key modulo the number of
partitions), and the operator, who answers a join or a leave under the modulo by stopping all clients and starting them with the
new source count, node ids in join order; or, with `scale_out` newcomer_first, in the wrong order: the newcomer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import Consumer
from broker_core.lab.pieces import Pieces
from broker_core.lab.shared.codes import code_of
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.shared.shares import units_of
from broker_core.lab.tubemq import operator
from broker_core.lab.tubemq.launching import launch, replace, stop, sweep
from broker_core.lab.tubemq.narrator import TubeMqNarrator
from broker_core.lab.tubemq.nodes import (
    ARTICLE,
    GROUP,
    MODULO,
    NOT_USED,
    OPERATOR,
    PRODUCER,
    RESTART_ALL,
    SERVER,
)
from broker_core.lab.tubemq.operator import Operator, OperatorState, TakeOff
from broker_core.lab.tubemq.reading import TubeMqReading, is_alive
from broker_core.lab.tubemq.sharing import deal, hand_out, is_dealt, look_at_lag, on_map
from broker_core.sim.design import Design
from broker_core.sim.program import Order
from broker_core.sim.slot import Slot
from broker_core.tubemq import balancing
from broker_core.tubemq import master as masters
from broker_core.tubemq import requests as r
from broker_core.tubemq.assigners import ASSIGNERS
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client import program_state as programs
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.producer import Producer, ProducerState
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer import PullConsumer
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState
from broker_core.tubemq.partition_key import broker_of

SIGNS_OF_LIFE = (r.HeartRequestC2MV2, r.HeartRequestC2M, r.HeartBeatRequestC2B, r.GetMessageRequestC2B)


def algorithms() -> list[Json]:
    """The default first; `article` is the article's rule, not the product's."""
    client_side = [{"id": name, "document": False} for name in (MODULO, *ASSIGNERS)]
    return [*client_side, {"id": SERVER, "document": False}, {"id": ARTICLE, "document": True}]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, TubeMqRules(setup.options, setup.algorithm), watch)


class TubeMqRules:
    name = "tubemq"
    keys_have_owners = True
    sends_at_once = True

    def __init__(self, options: Json, algorithm: str) -> None:
        self.reads = TubeMqReading(options, algorithm)
        self.narrator = TubeMqNarrator(self.reads)

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        def route(code: int) -> str:
            return self.reads.partition_of(code)

        return Design(
            {
                "master": (MasterState, Master),
                "broker": (BrokerState, Broker),
                "operator": (OperatorState, Operator),
                "producer": (ProducerState, lambda state: Producer(state, self.reads.partition_keys, route)),
                "consumer": (ProgramState, lambda state: BalanceProgram(state, lane.traffic)),
                "pull_consumer": (PullConsumerState, lambda state: PullConsumer(state, lane.traffic)),
            },
            r.Request
            | producers.Connect
            | producers.AddPartitions
            | operator.Connect
            | TakeOff
            | operator.ConsumeFromMax
            | operator.Deal
            | programs.Orders
            | StartPull
            | masters.Order
            | Order,
            lane.delay_us,
            lane.jitter_us,
        )

    def begin(self, lane: Lane) -> Pieces[None]:
        world = lane.world
        meta = f"{self.reads.topic}#" + ",".join(
            f"{broker_id}:1:{self.reads.each}:1" for broker_id in self.reads.brokers
        )
        rule = balancing.ARTICLE if self.reads.algorithm == ARTICLE else balancing.RECORDED
        for place, name in enumerate(self.reads.masters):
            state = MasterState(configured([meta]), is_standby=place > 0, balance_rule=rule)
            world.start(name, "master", state)
        for broker_id, name in self.reads.brokers.items():
            own = {key: Partition() for key in self.reads.partition_keys if broker_of(key) == broker_id}
            world.start(name, "broker", BrokerState(broker_id, own))
        world.start(PRODUCER, "producer", ProducerState())
        world.start(OPERATOR, "operator", OperatorState())
        world.order(PRODUCER, producers.Connect(self.reads.brokers))
        world.order(OPERATOR, operator.Connect(self.reads.brokers))
        yield None

    def head_start_us(self, lane: Lane) -> int:
        return 0  # those who are there from the start take their time to start, as any process

    def forget_caches(self) -> None:
        self.reads.forget()

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves. Of a dead client nobody tells that its time is over when
        the master that knew it has stepped down, or its broker has come back without it."""
        for incarnation in [*lane.crash_positions]:
            client_id = self.reads.client(incarnation).client_id
            if not self.reads.is_known(client_id):
                self.narrator.forgotten(lane, incarnation, host_of(client_id))
        look_at_lag(lane, second)

    # -- records ---------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, r.SendMessageRequestP2B]]]:
        slot = lane.world.slots[PRODUCER]
        send = cast(Producer, slot.node).send

        def publish(index: int, code: int) -> tuple[int, r.SendMessageRequestP2B]:
            return send(index, code, lane.messages.size(index))

        return slot, publish

    # -- the operator ----------------------------------------------------------------------------------------

    def take_rule(self, lane: Lane, source: str | None, cause: Cause) -> None:
        """The partitions are dealt out by a rule of the user's own from now on; None: by the lane's again. Under the modulo
        that is another source count, so all clients restart. Until a rule of the user's own gives an answer each keeps what
        it has."""
        if self.reads.by_master:
            return
        notes = self.reads.notes
        was, shares = notes.own_rule, self.reads.shares_now()
        notes.own_rule, notes.rule_failure = source, None
        said = lane.emit("tubemq.group.rule", cause, None, {}, {"own": int(source is not None)})
        if self.reads.algorithm == MODULO and (was is None or source is None):
            notes.shares = {} if source is None else shares
            self.restart(lane, said, is_said=False)
        else:
            deal(lane, said)

    def restart(self, lane: Lane, cause: Cause, *, is_said: bool = True) -> None:
        """Stop every client and start a new one in its place, with the count of those who are alive."""
        sweep(lane)
        notes = self.reads.notes
        alive = [consumer for consumer in lane.consumers.values() if is_alive(consumer)]
        was, notes.plan, notes.starts = len(notes.plan), [consumer.name for consumer in alive], {}
        self.reads.forget()
        if self.reads.source_count == NOT_USED or is_dealt(lane):
            notes.starts = {name: (NOT_USED, node_id) for node_id, name in enumerate(notes.plan)}
        self.note_rest(lane, was)
        kind = (
            "tubemq.group.stopped"
            if not alive
            else "tubemq.group.restarting"
            if was
            else "tubemq.group.starting"
        )
        followed = lane.emit(
            kind, cause, "tubemq.master.source_count_must_match", {"from": was, "to": len(alive)},
            {"node_ids": {name: node_id for node_id, name in enumerate(notes.plan)}},
        )  # fmt: skip
        counts: Json = (
            {"from_count": was, "to_count": len(alive)}
            if alive
            else {"partitions": len(self.reads.partition_keys)}
        )
        if is_said:
            code = code_of("tubemq.restart", last=not alive, first=not was, same=was == len(alive))
            lane.say(code, **counts)
        for consumer in alive:
            replace(lane, self.reads, consumer, followed)
        for consumer in alive:
            launch(lane, self.reads, consumer, followed)
        if is_dealt(lane):
            deal(lane, followed)

    def note_rest(self, lane: Lane, was: int) -> None:
        notes = self.reads.notes
        if notes.count_at_rest is None and lane.ledger.bill is not None and lane.ledger.bill.at_us > 0:
            notes.count_at_rest = was

    @property
    def is_in_order(self) -> bool:
        """Whether a change stops all clients first: the count that they start with is checked."""
        return (
            self.reads.algorithm == MODULO
            and self.reads.notes.own_rule is None
            and (self.reads.scale_out == RESTART_ALL)
        )

    def change_plan(self, lane: Lane, plan: list[str], cause: Cause) -> None:
        """The group has these consumers from now on; clients that stay are not touched, but for what is dealt out."""
        sweep(lane)
        notes, was = self.reads.notes, len(self.reads.notes.plan)
        self.note_rest(lane, was)
        stays = {name: notes.started_with(name) for name in notes.plan if name in plan}
        notes.plan = plan
        dealt = is_dealt(lane)
        for name in plan:
            node_id = plan.index(name)
            is_counted = not dealt and self.reads.source_count != NOT_USED
            notes.starts[name] = stays.get(name) or (len(plan) if is_counted else NOT_USED, node_id)
        notes.starts = {name: notes.starts[name] for name in plan}
        self.reads.forget()
        if self.reads.by_master:
            lane.say("tubemq.by_master" if plan else "tubemq.empty_plan", clients=len(plan))
        elif dealt:
            lane.say("tubemq.dealing" if plan else "tubemq.empty_plan", clients=len(plan))
            deal(lane, cause)
        else:
            lane.say(
                "tubemq.one_changed" if plan else "tubemq.empty_plan", from_count=was, to_count=len(plan)
            )

    # -- a person's verbs ------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        if self.is_in_order or (self.reads.algorithm == MODULO and not self.reads.notes.plan):
            self.restart(lane, cause)
            return
        names = [consumer.name for consumer in joiners]
        kept = [name for name in self.reads.notes.plan if name not in names]
        self.change_plan(lane, [*kept, *names], cause)
        followed = lane.emit(
            "tubemq.group.joined", cause, None, {"clients": len(self.reads.notes.plan)}, {"consumers": names}
        )
        for consumer in joiners:
            launch(lane, self.reads, consumer, followed)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.incarnation in lane.crash_positions:
            del lane.crash_positions[consumer.incarnation]
            client_id = self.reads.client(consumer.incarnation).client_id
            own = [key for key in self.reads.partition_keys if self.reads.place(key).owner == client_id]
            lane.world.order(OPERATOR, TakeOff(client_id, GROUP, own, self.reads.master()[0]), cause)
        elif is_alive(consumer):
            stop(lane, self.reads, consumer.incarnation, cause)
        self.reads.notes.by_hand.pop(consumer.name, None)
        if self.is_in_order:
            self.restart(lane, cause)
            return
        self.change_plan(lane, [name for name in self.reads.notes.plan if name != consumer.name], cause)
        clients = {"clients": len(self.reads.notes.plan)}
        lane.emit("tubemq.group.left", cause, None, clients, {"consumer": consumer.name})

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        client = self.reads.client(consumer.incarnation)
        member = self.reads.member(client.client_id)
        self.reads.notes.stop_reading(client.client_id, lane.now_us)
        if not self.reads.is_known(client.client_id):
            # It died before the master knew it: nobody will miss it, and what falls to its node id waits for
            # a person.
            lane.bury(consumer.incarnation, consumer.name)
            lane.emit(
                "tubemq.client.lost",
                cause,
                None,
                {},
                {"consumer": consumer.name, "partitions": units_of(lane, consumer.name)},
            )
            lane.say("tubemq.crash_unknown", consumer=consumer.name, partitions=units_of(lane, consumer.name))
            return
        known = [] if member is None else [member.deadline_us]
        places = [place for place in self.reads.places().values() if place.owner == client.client_id]
        heard = [  # what it has sent still arrives
            at_us + r.TIMEOUT_US for link in lane.world.slots[consumer.incarnation].links.values()
            for message, at_us in lane.world.under_way(link) if isinstance(message, SIGNS_OF_LIFE)
        ]  # fmt: skip
        consumer.deadline_us = max([*known, *(place.deadline_us for place in places), *heard])
        lane.emit(
            "tubemq.client.crashed",
            cause,
            "tubemq.timeout",
            {"timeout_us": r.TIMEOUT_US},
            {
                "consumer": consumer.name,
                "partitions": client.registered[:],
                "deadline_us": consumer.deadline_us,
            },
        )
        lane.say(
            "tubemq.crash_pending",
            consumer=consumer.name,
            partitions=len(client.registered),
            deadline_us=consumer.deadline_us,
        )

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A process in the dead one's place: its own node id, else that of another dead one; the group runs
        on with its count."""
        notes = self.reads.notes
        if self.reads.algorithm != MODULO or notes.own_rule is not None:
            if consumer.name not in notes.plan:
                self.join(lane, [consumer], cause)
                return
        else:
            free = [
                name for name in notes.plan
                if name == consumer.name or not is_alive(lane.consumers.get(name))
            ]  # fmt: skip
            if not free:  # the group was restarted without it meanwhile
                self.join(lane, [consumer], cause)
                return
            if consumer.name not in notes.plan:
                place = notes.plan.index(free[0])
                if free[0] in notes.starts:
                    notes.starts[consumer.name] = notes.starts.pop(free[0])
                notes.plan[place] = consumer.name
        sweep(lane)
        count, node_id = notes.started_with(consumer.name)
        followed = lane.emit(
            "tubemq.client.restarted",
            cause,
            None,
            {"source_count": count},
            {"consumer": consumer.name, "node_id": node_id},
        )
        if self.reads.by_master:
            lane.say("tubemq.by_master", clients=len(notes.plan))
        elif count > 0:
            lane.say("tubemq.rejoining", consumer=consumer.name, node_id=node_id)
        else:
            lane.say("tubemq.rejoining_list", consumer=consumer.name)
        launch(lane, self.reads, consumer, followed)

    def between(self, lane: Lane) -> None:
        """Its nodes need nobody."""

    def told(self, lane: Lane, event: TurningPoint) -> None:
        match event.kind:
            case "tubemq.group.dealt":
                hand_out(lane, event)
            case "tubemq.group.rule_failed":
                self.reads.notes.rule_failure = dict(event.data)
            case "tubemq.client.map_changed":
                on_map(lane, event)
