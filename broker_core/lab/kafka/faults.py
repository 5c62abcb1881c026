"""A card for each fault that a person gives a Kafka cluster: how it was, how it is, and what that means.

    fault ─► was: 12 healthy; partitions that the broker led are without a leader that answers, from now on
    turning points until the next fault ─► leaders moved, ISRs changed, records cut off, how long a partition had no leader
    next fault ─► the card keeps what came of it

Folded from turning points; it changes nothing. What the controller has not noticed is seen here all the same:
a partition whose leader was silenced is unavailable from that moment, not from the moment of its election.
What a producer was told is kept (`kafka/acked.py`), so that acknowledged records which a new leader does not
have are counted as lost, with the reason:

    unclean_election     the leader was elected outside the ISR
    acks_1               acks=1: the leader confirmed them before a follower had them
    truncated            its log was cut to its high watermark (before 0.11)
    destroyed            power cuts or lost disks took every copy that counted
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.clock import SECOND_US
from broker_core.events import Json, TurningPoint
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import TopicPartition
from broker_core.kafka.group.lag import Commit
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.registration import NO_LEADER
from broker_core.lab.kafka.acked import Acked, are_deleted, holder_of, is_repeated, leading_log
from broker_core.lab.kafka.group_traffic import GroupTraffic
from broker_core.lab.kafka.history import ClusterHistory
from broker_core.lab.kafka.passed_over import PassedOver
from broker_core.lab.kafka.pause import KafkaNotes
from broker_core.lab.kafka.views.cluster import STATES, is_shown, partition_name, state_of
from broker_core.sim.world import World

CARDS_KEPT = 12
SILENCING = ("stop", "crash", "cut_power", "lose_disk", "pause")
REVIVING = ("resume", "come_back")
CUT_SHOWN_US = 30 * SECOND_US
"""How long what a copy has cut off is shown beside it."""


@dataclass(slots=True)
class FaultCard:
    """One fault. target: names of nodes. amount_us: how slow or how far ahead it made them, where it is such
    a fault. was, now: partitions by state; now: None while the card is the newest.

    without_leader: partition -> since when nobody that answers leads it. unavailable_us: the longest such
    span that is over, unavailable: of which partitions one was over. Counts of what followed: elections
    (unclean ones apart), members that left and joined ISRs, records cut off,
    refused: partitions that refused acks=-1; errors: what the controller refused an operator; fenced:
    transactional ids of producers that were fenced; moved: partitions with other replicas; lost: acknowledged
    records by reason; duplicated: records that are in a log twice.
    """

    position: int
    at_us: int
    verb: str
    target: list[str]
    was: dict[str, int]
    now: dict[str, int] | None = None
    without_leader: dict[str, int] = field(default_factory=dict)
    unavailable: dict[str, int] = field(default_factory=dict)
    elections: int = 0
    unclean: int = 0
    left: int = 0
    came: int = 0
    cut: int = 0
    refused: dict[str, None] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    fenced: dict[str, None] = field(default_factory=dict)
    moved: dict[str, None] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    duplicated: int = 0
    amount_us: int | None = None

    def led_again(self, name: str, now_us: int) -> None:
        since_us = self.without_leader.pop(name, None)
        if since_us is not None:
            self.unavailable[name] = max(self.unavailable.get(name, 0), now_us - since_us)


@dataclass(slots=True)
class Elected:
    """Who was elected for a partition, and has not been seen to lead yet. reason: why what it lacks is
    lost."""

    key: TopicPartition
    leader: int
    epoch: int
    reason: str


@dataclass(slots=True)
class CutOff:
    """What a copy has cut off its log last: so many records from that offset on."""

    at_us: int
    offset: int
    count: int


@dataclass(slots=True)
class FaultCards:
    """All cards of a lane, the oldest first. acked: what producers were told. elected: by partition. acks: of
    the last ack. cut_off: partition -> broker, as text -> what its copy has cut off."""

    cards: list[FaultCard] = field(default_factory=list)
    acked: Acked = field(default_factory=Acked)
    elected: dict[str, Elected] = field(default_factory=dict)
    acks: int = -1
    cut_off: dict[str, dict[str, CutOff]] = field(default_factory=dict)

    def begin(
        self, world: World, position: int, verb: str, target: list[str], amount_us: int | None = None
    ) -> None:
        """A person has just done this. position: of the command in its journal."""
        counts = counts_of(world)
        without_leader: dict[str, int] = {}
        self.settle(world)
        if self.cards:
            before = self.cards[-1]
            if verb in REVIVING:
                for name in partitions_led_by(world, target):
                    before.led_again(name, world.now_us)
            before.now = counts
            without_leader = dict(before.without_leader)
        if verb in SILENCING and verb != "stop":  # a broker that stops hands its leaderships over first
            without_leader |= {
                name: world.now_us for name in partitions_led_by(world, target) if name not in without_leader
            }
        card = FaultCard(
            position, world.now_us, verb, target, counts, without_leader=without_leader, amount_us=amount_us
        )
        self.cards = [*self.cards, card][-CARDS_KEPT:]

    def confirmed(
        self, world: World, key: TopicPartition, base_offset: int, values: list[int], acks: int, attempts: int
    ) -> None:
        """A producer was told that these records are in the log. base_offset: -1: not where. attempts: how
        often it had sent them before."""
        if base_offset < 0 or not is_shown(key[0]):
            return
        name, self.acks = partition_name(*key), acks
        if self.elected:
            self.settle(world)
        found = holder_of(world, key, base_offset, values)
        if found is None:
            if not are_deleted(world, key, base_offset, len(values)):
                self.lose(len(values), self.reason(world, is_unclean=False))
            return
        broker, log, epoch = found
        registration = world.slots[CONTROLLER].node.state.rules.topics[key[0]].partitions[key[1]]
        leads_on = (
            registration.leader in (broker, NO_LEADER)
            or name in self.elected
            or leading_log(world, key, registration.leader, 0) is None
        )
        if (
            not leads_on
        ):  # a leader that has not heard of its successor has confirmed what the successor will cut off
            self.lose(len(values), self.reason(world, is_unclean=False))
            return
        self.acked.note(name, log, base_offset, len(values), epoch)
        if attempts and self.cards and is_repeated(log, base_offset, values[0]):
            self.cards[-1].duplicated += len(values)

    def settle(self, world: World) -> None:
        """Those who were elected and have begun to lead: what they lack of what was acknowledged is lost."""
        for name, elected in list(self.elected.items()):
            log = leading_log(world, elected.key, elected.leader, elected.epoch)
            if log is not None:
                del self.elected[name]
                self.lose(self.acked.take_missing(name, log), elected.reason)

    def lose(self, count: int, reason: str) -> None:
        if count and self.cards:
            self.cards[-1].lost[reason] = self.cards[-1].lost.get(reason, 0) + count

    def reason(self, world: World, *, is_unclean: bool) -> str:
        """Why acknowledged records are lost now."""
        controller: ControllerState = world.slots[CONTROLLER].node.state
        if is_unclean:
            return "unclean_election"
        if self.acks == 1:
            return "acks_1"
        return "truncated" if controller.settings.truncation is Truncation.HIGH_WATERMARK else "destroyed"

    def heard(self, world: World, event: TurningPoint) -> None:
        """Something has happened since."""
        self.settle(world)
        data = event.data
        if (
            event.kind == "kafka.partition.leader_changed"
            and is_shown(data["topic"])
            and data["leader"] != NO_LEADER
        ):
            key = (data["topic"], data["partition"])
            reason = self.reason(world, is_unclean=event.rule == "kafka.election.unclean")
            self.elected[partition_name(*key)] = Elected(key, data["leader"], data["leader_epoch"], reason)
        if event.kind == "kafka.replica.truncated" and is_shown(data["topic"]) and data["cut_count"]:
            of_partition = self.cut_off.setdefault(partition_name(data["topic"], data["partition"]), {})
            of_partition[str(data["broker"])] = CutOff(event.at_us, data["offset"], data["cut_count"])
        if not self.cards:
            return
        card = self.cards[-1]
        match event.kind:
            case "kafka.partition.leader_changed" if is_shown(data["topic"]):
                name = partition_name(data["topic"], data["partition"])
                if data["leader"] == NO_LEADER:
                    card.without_leader.setdefault(name, event.at_us)
                    return
                card.led_again(name, event.at_us)
                card.elections += 1
                card.unclean += event.rule == "kafka.election.unclean"
            case "kafka.partition.isr_changed" if is_shown(data["topic"]):
                card.left += len(data["left"])
                card.came += len(data["came"])
            case "kafka.replica.truncated" if is_shown(data["topic"]):
                card.cut += data["cut_count"]
            case "kafka.producer.fenced":
                card.fenced[data["transactional_id"]] = None
            case "kafka.controller.refused":
                card.errors[data["error"]] = card.errors.get(data["error"], 0) + 1
            case "kafka.partition.reassigned" if (
                is_shown(data["topic"]) and not data["adding"] and not data["removing"]
            ):
                card.moved[partition_name(data["topic"], data["partition"])] = None
            case "kafka.partition.writes_refused" if is_shown(data["topic"]):
                card.refused[partition_name(data["topic"], data["partition"])] = None

    def lost(self, world: World) -> int:
        """Acknowledged records that are lost, of all cards."""
        if not self.cards:
            return 0
        before = sum(sum(card.lost.values()) for card in self.cards[:-1])
        return before + sum(self._lost_last(world).values())

    def _lost_last(self, world: World) -> dict[str, int]:
        """Of the last card by reason, with what those just elected lack."""
        found = dict(self.cards[-1].lost)
        for name, elected in self.elected.items():
            log = leading_log(world, elected.key, elected.leader, elected.epoch)
            if log is not None and (count := self.acked.missing(name, log)):
                found[elected.reason] = found.get(elected.reason, 0) + count
        return found

    def cut_off_view(self, now_us: int) -> Json:
        """What was cut off a moment ago: partition -> broker -> {offset, count}."""
        views = {
            name: {
                broker: {"offset": cut.offset, "count": cut.count}
                for broker, cut in copies.items()
                if now_us - cut.at_us <= CUT_SHOWN_US
            }
            for name, copies in self.cut_off.items()
        }
        return {name: copies for name, copies in views.items() if copies}

    def view(self, world: World) -> list[Json]:
        """The cards for a page."""
        if not self.cards:
            return []
        counts, pending = counts_of(world), self._lost_last(world)
        return [
            card_view(card, card.now or counts, pending if card is self.cards[-1] else card.lost)
            for card in self.cards
        ]


@dataclass(slots=True)
class ClusterNotes(KafkaNotes):
    """What the observers of a lane on a cluster remember. topic: the lane's own. commits: of each partition,
    the group's last ones (`broker_core/kafka/group/lag.py`). history: what its pages draw over time.
    passed: what the group never read, of all topics."""

    topic: str = ""
    faults: FaultCards = field(default_factory=FaultCards)
    traffic: GroupTraffic = field(default_factory=GroupTraffic)
    commits: dict[int, list[Commit]] = field(default_factory=dict)
    history: ClusterHistory = field(default_factory=ClusterHistory)
    passed: PassedOver = field(default_factory=PassedOver)


def card_view(card: FaultCard, now: dict[str, int], lost: dict[str, int]) -> Json:
    """means: {code, numbers}, in the order in which they matter."""
    found: list[Json] = [{"code": "lost", "reason": reason, "count": count} for reason, count in lost.items()]
    if card.duplicated:
        found.append({"code": "duplicated", "count": card.duplicated})
    if unnoticed := max(0, len(card.without_leader) - now["offline"]):  # what is offline says so itself
        found.append({"code": "without_leader", "count": unnoticed})
    if card.unavailable:
        found.append(
            {
                "code": "unavailable",
                "count": len(card.unavailable),
                "longest_us": max(card.unavailable.values()),
            }
        )
    found += [{"code": state, "count": now[state]} for state in reversed(STATES[1:]) if now[state]]
    found += [{"code": "fenced", "id": name} for name in card.fenced]
    found += [{"code": "error", "error": error, "count": count} for error, count in card.errors.items()]
    if card.moved:
        found.append({"code": "moved", "count": len(card.moved)})
    if card.refused:
        found.append({"code": "refused", "count": len(card.refused)})
    numbers = {
        "unclean": card.unclean,
        "elections": card.elections - card.unclean,
        "cut": card.cut,
        "left": card.left,
        "came": card.came,
    }
    found += [{"code": code, "count": count} for code, count in numbers.items() if count]
    return {
        "position": card.position,
        "at_us": card.at_us,
        "verb": card.verb,
        "target": card.target,
        "was": card.was,
        "now": now,
        "means": found or [{"code": "nothing"}],
        **({} if card.amount_us is None else {"amount_us": card.amount_us}),
    }


def counts_of(world: World) -> dict[str, int]:
    """Partitions by state, as the controller has them."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    counts = dict.fromkeys(STATES, 0)
    for name, topic in controller.rules.topics.items():
        for registration in topic.partitions if is_shown(name) else ():
            counts[state_of(registration, min(topic.min_insync_replicas, len(registration.replicas)))] += 1
    return counts


def partitions_led_by(world: World, nodes: list[str]) -> list[str]:
    """By the controller's registrations."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    return [
        partition_name(topic, number)
        for topic, known in controller.rules.topics.items()
        for number, registration in enumerate(known.partitions)
        if is_shown(topic) and registration.leader != NO_LEADER and broker_node(registration.leader) in nodes
    ]
