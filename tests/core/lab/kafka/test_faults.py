"""After a fault a card says how the cluster was, how it is, and what that means: elections, time without a
leader, records cut off."""

import json

import pytest

from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.replication.light_batch import light_batch
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.kafka.acked import Acked, are_deleted, holder_of
from broker_core.lab.kafka.faults import FaultCards
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.plain import from_plain, to_plain
from tests.core.kafka.cluster.clusters import Cluster

SECOND, RATE = 1_000_000, 20
FIRST_LEADS = (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),)


class Watched(Cluster):
    def __init__(self, topics=FIRST_LEADS, **settings):
        super().__init__(
            topics=topics, broker_session_timeout_ms=3_000, replica_lag_time_max_ms=4_000, **settings
        )
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
                self.cards.heard(self.world, event)
            self.seen = len(self.told)

    def card(self, place=-1):
        return self.cards.view(self.world)[place]

    def means(self, place=-1):
        return {entry["code"]: entry.get("count") for entry in self.card(place)["means"]}


def lab_with(consumer_rate=10, **lane):
    """A lab whose only partition broker 2 leads, 20 records a second."""
    lane = {"model": "kafka", "brokers": 3, "partitions": 1, "offsets_partitions": 3, **lane}
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": 1,
                "consumer_rate": consumer_rate,
                "workload": {"kind": "uniform", "keys": 20, "rate": RATE},
            }
        )
    )
    lab.advance_to(5 * SECOND)
    assert lab.view()["lanes"]["kafka"]["cluster"]["partitions"]["records-0"]["leader"] == 2
    return lab


def order(lab, kind, seconds=0, **args):
    number = lab.position + 1
    lab.submit({"command_id": f"n{number}", "kind": f"cluster_{kind}", "args": args})
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def cards(lab):
    return lab.view()["lanes"]["kafka"]["cluster"]["faults"]


def test_a_leader_that_crashes_leaves_its_partition_without_one_until_the_controller_notices():
    cluster = Watched()
    cluster.do("crash", 1, seconds=1)
    assert cluster.means() == {"without_leader": 1}
    assert (
        cluster.card()["was"]
        == cluster.card()["now"]
        == {"healthy": 1, "under_replicated": 0, "below_min_isr": 0, "offline": 0}
    )
    cluster.run(8)
    assert cluster.means() == {"unavailable": 1, "under_replicated": 1, "elections": 1, "left": 1}
    longest_us = cluster.card()["means"][0]["longest_us"]
    assert 1_000_000 < longest_us < 5_000_000  # silent since its last heartbeat, up to 2 s before the crash


def test_a_card_keeps_what_came_of_it_and_the_next_one_begins_there():
    cluster = Watched()
    cluster.do("crash", 3, seconds=9)
    cluster.do("come_back", 3, seconds=9)
    first, second = cluster.cards.view(cluster.world)
    assert (
        first["now"]["under_replicated"],
        second["was"]["under_replicated"],
        second["now"]["healthy"],
    ) == (1, 1, 1)
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
    shown = {"t-0": {"1": {"offset": 1, "count": 2}}}
    assert cluster.cards.cut_off_view(cluster.world.now_us) == shown
    cluster.run(31)
    assert cluster.cards.cut_off_view(cluster.world.now_us) == {}


def test_what_only_a_dead_leader_had_confirmed_is_lost_and_the_card_of_the_crash_says_so():
    lab = lab_with(acks=1)
    for other in (1, 3):
        order(lab, "slow_link", one="broker-2", other=f"broker-{other}", delay_us=400_000)
    lab.advance_to(lab.now_us + 2 * SECOND)
    order(lab, "crash", 12, broker=2)
    lost = [entry for entry in cards(lab)[-1]["means"] if entry["code"] == "lost"]
    assert [entry["reason"] for entry in lost] == ["acks_1"] and lost[0]["count"] > 0
    view = lab.view()["lanes"]["kafka"]
    assert view["tally"]["lost"] == lost[0]["count"]
    partition = view["cluster"]["partitions"]["records-0"]
    dead = lab.lanes["kafka"].world.slots["broker-2"].node.state.disk.logs["records", 0]
    assert (
        dead.log_end_offset - partition["copies"][str(partition["leader"])]["epochs"][-1][1]
        == lost[0]["count"]
    )


def test_with_acks_all_nothing_is_lost_in_the_same_crash():
    lab = lab_with(acks=-1)
    for other in (1, 3):
        order(lab, "slow_link", one="broker-2", other=f"broker-{other}", delay_us=400_000)
    lab.advance_to(lab.now_us + 2 * SECOND)
    order(lab, "crash", 12, broker=2)
    assert "lost" not in {entry["code"] for entry in cards(lab)[-1]["means"]}
    assert lab.view()["lanes"]["kafka"]["tally"]["lost"] == 0


def test_a_leader_that_has_not_heard_of_its_successor_confirms_what_is_lost_at_once():
    lab = lab_with(acks=1)
    for other in ("controller", "broker-1", "broker-3"):
        order(lab, "cut_link", one="broker-2", other=other, one_way=True)
    order(lab, "slow_disk", 12, broker=1, write_us=0)
    before = sum(entry["count"] for card in cards(lab) for entry in card["means"] if entry["code"] == "lost")
    lab.advance_to(lab.now_us + 2 * SECOND)
    after = sum(entry["count"] for card in cards(lab) for entry in card["means"] if entry["code"] == "lost")
    assert after - before == 2 * RATE


@pytest.mark.parametrize("acks", [-1, 1])
def test_an_ack_that_comes_when_the_records_are_read_and_deleted_has_lost_nothing(acks):
    lab = lab_with(100, acks=acks, segment_ms=1_000)
    order(lab, "cut_link", 20, one="broker-2", other="producer", one_way=True)
    order(lab, "heal_link", 30, one="broker-2", other="producer")
    log = lab.lanes["kafka"].world.slots["broker-2"].node.state.disk.logs["records", 0]
    assert log.log_start_offset > 5 * RATE  # past what was on its way to the producer
    assert [entry["code"] for card in cards(lab) for entry in card["means"]] == ["nothing", "nothing"]


def test_a_batch_of_which_the_first_records_are_deleted_is_held_still():
    cluster = Cluster(topics=FIRST_LEADS)
    cluster.run(5)
    log = cluster.state(1).disk.logs["t", 0]
    log.append(light_batch([7, 8, 9], timestamp=1), now_ms=1, leader_epoch=0)
    log.log_start_offset = 2
    assert holder_of(cluster.world, ("t", 0), 0, [7, 8, 9]) == (1, log, 0)
    assert not are_deleted(cluster.world, ("t", 0), 0, 3) and are_deleted(cluster.world, ("t", 0), 0, 2)


def test_the_sum_of_what_was_lost_is_the_same_after_a_checkpoint():
    lab = lab_with(acks=1)
    order(lab, "slow_link", 2, one="broker-2", other="broker-3", delay_us=400_000)
    order(lab, "slow_link", 2, one="broker-2", other="broker-1", delay_us=400_000)
    order(lab, "crash", 3, broker=2)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        each.advance_to(each.now_us + 12 * SECOND)
    assert cards(lab) == cards(other) and "lost" in {entry["code"] for entry in cards(lab)[-1]["means"]}


def test_only_what_a_copy_held_is_counted_as_cut_off_and_who_is_offline_is_told_once():
    lab = lab_with(100, min_insync_replicas=1, segment_ms=1_000)
    order(lab, "crash", 15, broker=1)
    order(lab, "crash", 15, broker=3)
    order(lab, "crash", 15, broker=2)
    offline = [entry["code"] for entry in cards(lab)[-1]["means"]]
    assert "offline" in offline and "without_leader" not in offline
    order(lab, "come_back", 10, broker=1)
    order(lab, "elect", 3, topic="records", partition=0, unclean=True)
    order(lab, "come_back", broker=2)
    dead = lab.lanes["kafka"].world.slots["broker-2"].node.state.disk.logs["records", 0]
    begins, ends = dead.log_start_offset, dead.log_end_offset
    epoch_begins = (
        lab.lanes["kafka"].world.slots["broker-1"].node.state.disk.logs["records", 0].epochs.rows[-1][1]
    )
    assert epoch_begins < begins  # so nothing of it is kept, and some of what it lacks was deleted before
    lab.advance_to(lab.now_us + 5 * SECOND)
    assert {"code": "cut", "count": ends - begins} in cards(lab)[-1]["means"]


def test_acknowledged_ranges_know_what_a_log_lacks():
    log, acked = LightLog.begin(now_ms=0), Acked()
    for epoch, count in ((0, 5), (2, 3)):
        log.append(light_batch(range(count), timestamp=1), now_ms=1, leader_epoch=epoch)
    for epoch, base, count in ((0, 0, 5), (1, 5, 4), (2, 7, 3)):
        acked.note("t-0", log, base, count, epoch)
    assert acked.missing("t-0", log) == 4 + 2  # all of epoch 1, and of epoch 2 what is at 8 and 9
    assert acked.take_missing("t-0", log) == 6 and acked.missing("t-0", log) == 0
    assert acked.ranges == {"t-0": [[0, 0, 5], [2, 7, 8]]}


def test_cards_can_be_kept_in_a_checkpoint():
    cluster = Watched()
    cluster.do("crash", 1, seconds=9)
    assert from_plain(json.loads(json.dumps(to_plain(cluster.cards))), FaultCards) == cluster.cards
