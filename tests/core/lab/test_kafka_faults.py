"""After a fault a card says how the cluster was, how it is, and what that means: elections, time without a leader, records cut off."""

import json

from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.lab.observers.kafka_faults import FaultCards
from broker_core.plain import from_plain, to_plain
from tests.core.kafka.cluster.clusters import Cluster

FIRST_LEADS = (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),)


class Watched(Cluster):
    def __init__(self, topics=FIRST_LEADS, **settings):
        super().__init__(topics=topics, broker_session_timeout_ms=3_000, replica_lag_time_max_ms=4_000, **settings)
        self.cards, self.seen, self.position = FaultCards(), len(self.told), 0

    def do(self, verb, *args, seconds=0, **more):
        self.position += 1
        target = [f"broker-{end}" if isinstance(end, int) else end for end in args]
        self.cards.begin(self.world, self.position, verb, target)
        getattr(verbs, verb)(self.world, *args, **more)
        self.run(seconds)

    def run(self, seconds):
        super().run(seconds)
        if hasattr(self, "cards"):
            for event in self.told[self.seen :]:
                self.cards.heard(event)
            self.seen = len(self.told)

    def card(self, place=-1):
        return self.cards.view(self.world)[place]

    def means(self, place=-1):
        return {entry["code"]: entry.get("count") for entry in self.card(place)["means"]}


def test_a_leader_that_crashes_leaves_its_partition_without_one_until_the_controller_notices():
    cluster = Watched()
    cluster.do("crash", 1, seconds=1)
    assert cluster.means() == {"without_leader": 1}
    assert cluster.card()["was"] == cluster.card()["now"] == {"healthy": 1, "under_replicated": 0, "below_min_isr": 0, "offline": 0}
    cluster.run(8)
    assert cluster.means() == {"unavailable": 1, "under_replicated": 1, "elections": 1, "left": 1}
    longest_us = cluster.card()["means"][0]["longest_us"]
    assert 1_000_000 < longest_us < 5_000_000  # silent since its last heartbeat, up to 2 s before the crash


def test_a_card_keeps_what_came_of_it_and_the_next_one_begins_there():
    cluster = Watched()
    cluster.do("crash", 3, seconds=9)
    cluster.do("come_back", 3, seconds=9)
    first, second = cluster.cards.view(cluster.world)
    assert (first["now"]["under_replicated"], second["was"]["under_replicated"], second["now"]["healthy"]) == (1, 1, 1)
    assert cluster.means(0) == {"under_replicated": 1, "left": 1} and cluster.means(1) == {"came": 1}


def test_a_broker_that_stops_in_order_leaves_nothing_without_a_leader():
    cluster = Watched()
    cluster.do("stop", 1, seconds=2)
    assert cluster.means() == {"under_replicated": 1, "elections": 1, "left": 1}


def test_a_leader_that_was_paused_for_a_moment_was_unavailable_that_long():
    cluster = Watched()
    cluster.do("pause", 1, seconds=1)
    cluster.do("resume", 1, seconds=1)
    assert cluster.card(0)["means"] == [{"code": "unavailable", "count": 1, "longest_us": 1_000_000}]
    assert cluster.card()["means"] == [{"code": "nothing"}]


def test_what_a_copy_cuts_off_when_it_comes_back_is_counted():
    cluster = Watched()
    cluster.produce(1, "a")
    for other in (2, 3):
        cluster.do("cut_link", 1, other)
    cluster.produce(1, "b", "c", acks=1)
    cluster.do("crash", 1, seconds=9)
    cluster.do("come_back", 1)
    for other in (2, 3):
        cluster.do("heal_link", 1, other, seconds=4)
    assert [card.cut for card in cluster.cards.cards if card.cut] == [2] and cluster.values(1) == ["a"]


def test_cards_can_be_kept_in_a_checkpoint():
    cluster = Watched()
    cluster.do("crash", 1, seconds=9)
    assert from_plain(json.loads(json.dumps(to_plain(cluster.cards))), FaultCards) == cluster.cards
