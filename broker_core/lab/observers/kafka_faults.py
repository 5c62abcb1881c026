"""A card for each fault that a person gives a Kafka cluster: how it was, how it is, and what that means.

    fault ─► was: 12 healthy; partitions that the broker led are without a leader that answers, from now on
    turning points until the next fault ─► leaders moved, ISRs changed, records cut off, how long a partition had no leader
    next fault ─► the card keeps what came of it

Folded from turning points; it changes nothing. What the controller has not noticed is seen here all the same: a partition whose leader was
silenced is unavailable from that moment, not from the moment of its election.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.events import Json, TurningPoint
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.replication.registration import NO_LEADER
from broker_core.lab.observers.kafka_pause import KafkaNotes
from broker_core.lab.views.kafka_cluster import STATES, is_shown, partition_name, state_of
from broker_core.sim.world import World

CARDS_KEPT = 12
SILENCING = ("stop", "crash", "cut_power", "lose_disk", "pause")
REVIVING = ("resume", "come_back")


@dataclass(slots=True)
class FaultCard:
    """One fault. target: names of nodes. was, now: partitions by state; now: None while the card is the newest.

    without_leader: partition -> since when nobody that answers leads it. unavailable_us: the longest such span that is over, unavailable: of
    which partitions one was over. Counts of what followed: elections (unclean ones apart), members that left and joined ISRs, records cut off.
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

    def led_again(self, name: str, now_us: int) -> None:
        since_us = self.without_leader.pop(name, None)
        if since_us is not None:
            self.unavailable[name] = max(self.unavailable.get(name, 0), now_us - since_us)


@dataclass(slots=True)
class FaultCards:
    """All cards of a lane, the oldest first."""

    cards: list[FaultCard] = field(default_factory=list)

    def begin(self, world: World, position: int, verb: str, target: list[str]) -> None:
        """A person has just done this. position: of the command in its journal."""
        counts = counts_of(world)
        without_leader: dict[str, int] = {}
        if self.cards:
            before = self.cards[-1]
            if verb in REVIVING:
                for name in partitions_led_by(world, target):
                    before.led_again(name, world.now_us)
            before.now = counts
            without_leader = dict(before.without_leader)
        if verb in SILENCING and verb != "stop":  # a broker that stops hands its leaderships over first
            without_leader |= {name: world.now_us for name in partitions_led_by(world, target) if name not in without_leader}
        card = FaultCard(position, world.now_us, verb, target, counts, without_leader=without_leader)
        self.cards = [*self.cards, card][-CARDS_KEPT:]

    def heard(self, event: TurningPoint) -> None:
        """Something has happened since."""
        if not self.cards:
            return
        card, data = self.cards[-1], event.data
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

    def view(self, world: World) -> list[Json]:
        """The cards for a page."""
        if not self.cards:
            return []
        counts = counts_of(world)
        return [card_view(card, card.now or counts) for card in self.cards]


@dataclass(slots=True)
class ClusterNotes(KafkaNotes):
    """What the observers of a lane on a cluster remember."""

    faults: FaultCards = field(default_factory=FaultCards)


def card_view(card: FaultCard, now: dict[str, int]) -> Json:
    """means: {code, numbers}, in the order in which they matter."""
    found: list[Json] = []
    if card.without_leader:
        found.append({"code": "without_leader", "count": len(card.without_leader)})
    if card.unavailable:
        found.append({"code": "unavailable", "count": len(card.unavailable), "longest_us": max(card.unavailable.values())})
    found += [{"code": state, "count": now[state]} for state in reversed(STATES[1:]) if now[state]]
    numbers = {"unclean": card.unclean, "elections": card.elections - card.unclean, "cut": card.cut, "left": card.left, "came": card.came}
    found += [{"code": code, "count": count} for code, count in numbers.items() if count]
    return {
        "position": card.position, "at_us": card.at_us, "verb": card.verb, "target": card.target, "was": card.was, "now": now,
        "means": found or [{"code": "nothing"}],
    }  # fmt: skip


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
