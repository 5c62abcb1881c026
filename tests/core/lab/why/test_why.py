"""Why on anything: what a thing is agrees with the lane's own view, its sums come out, and its chain of causes
leads to an order."""

import json

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.why.answer import OF_MODEL, SHARED, why
from broker_core.lab.why.figures import FIGURES, TOTALS

SECOND = 1_000_000
PULSAR_RING = 1 << 31


class Story:
    """A lab with all that its lanes told, and orders given by hand."""

    def __init__(self, **scenario):
        self.lab = Lab(scenario_from_json(scenario))
        self.events = [*self.lab.begun]
        self.count = 0

    def go(self, second):
        self.events += self.lab.advance_to(second * SECOND)
        return self

    def order(self, kind, consumer=None, lane="all", **args):
        self.count += 1
        order = {
            "command_id": f"x{self.count}",
            "kind": kind,
            "lane": lane,
            "consumer": consumer,
            "args": args,
        }
        self.events += self.lab.submit(order)
        return self

    def ask(self, lane, thing):
        own = [event for event in self.told() if event["lane"] == lane]
        answer = why(self.lab.lanes[lane], thing, reversed(own), self.lab.timeline)
        return json.loads(json.dumps(answer))

    def told(self):
        return [
            event if isinstance(event, dict) else event.to_json(place)
            for place, event in enumerate(self.events)
        ]

    def lane(self, lane):
        return self.lab.view()["lanes"][lane]


@pytest.fixture(scope="module")
def story():
    """c4 joins at 20 s, c2 crashes at 40 s, c1 leaves at 120 s: 150 s."""
    return (
        Story().go(20).order("join", count=1).go(40).order("crash", "c2").go(120).order("leave", "c1").go(150)
    )


def sums(answer):
    return {each["code"].removeprefix("why.sum."): each["params"] for each in answer["sums"]}


def things(story, lane):
    view = story.lane(lane)
    found = [f"lane:{lane}", "record:0", "record:4390"]
    found += [*(f"figure:{name}" for name in FIGURES), *(f"total:{name}" for name in TOTALS)]
    found += [f"consumer:{name}" for name in view["order"]]
    found += [f"partition:{name}" for name in view["picture"].get("partitions", {})]
    if "space" in view["picture"]:
        found += [f"slot:{number * (PULSAR_RING // 40)}" for number in range(40)]
    for cursor in view.get("pulsar", {}).get("cursors", {}):
        found.append(f"cursor:{cursor}")
    if "rabbitmq" in view:
        found += [f"queue:{name}" for name in view["rabbitmq"]["vhosts"]["/"]["queues"]]
        found += [f"exchange:{name}" for name in view["rabbitmq"]["vhosts"]["/"]["exchanges"]]
    if "cluster" in view:
        cluster = view["cluster"]
        found += [f"broker:{name}" for name in cluster["brokers"]]
        found += [f"replicas:{name}" for name in cluster["partitions"]]
        found += [
            f"replica:{name}/{at}" for name, part in cluster["partitions"].items() for at in part["copies"]
        ]
        found.append("group:lab")
    return found


@pytest.mark.parametrize("lane", ["pulsar", "kafka", "tubemq", "rabbitmq"])
def test_everything_of_a_lane_can_be_asked_about(story, lane):
    asked = things(story, lane)
    assert {thing.partition(":")[0] for thing in asked} >= {*SHARED, *OF_MODEL[lane]} - {"partition"}
    for thing in asked:
        answer = story.ask(lane, thing)
        ids = {event["id"] for event in answer["chain"]}
        assert all(event["lane"] == lane for event in answer["chain"])
        assert (answer["since_us"] is None) <= (answer["chain"] == []) or thing.startswith(
            ("lane", "figure", "total")
        )
        for event in answer["chain"]:
            cause = event["cause"] or {}
            if cause.get("command") is not None:
                assert str(cause["command"]) in answer["orders"], thing
            elif not thing.startswith(("lane", "figure", "total")):
                assert cause.get("event") is None or cause["event"] in ids, (thing, event)


def test_a_partition_says_its_reader_its_lag_and_the_rule_that_gave_it(story):
    view = story.lane("kafka")["picture"]["partitions"]
    for name, part in view.items():
        answer = story.ask("kafka", f"partition:{name}")
        assert answer["says"] == {
            "code": "why.is.partition.read",
            "params": {"partition": name, "consumer": part["owner"]},
        }
        lag = sums(answer)["lag_position"]
        assert lag["lag"] == part["lag"] == lag["end"] - lag["position"]
        group = sums(answer)["lag_committed"]
        assert group["lag"] == group["high_watermark"] - group["committed"]
        assert group["lag"] == story.lane("kafka")["group_health"]["partitions"][name]["lag"]
        (assigned,) = [event for event in answer["chain"] if event["kind"] == "kafka.group.assigned"]
        assert assigned["rule"] == "kafka.assignor.range" and assigned["inputs"]["members"] == 2
        assert int(name) in assigned["data"]["assignment"][part["owner"]]
        assert {"command": 3} in [event["cause"] for event in answer["chain"]]


def test_a_partition_is_its_readers_since_it_got_it_though_rebalances_came_in_between(story):
    """c3 has had 6 and 7 since 83 s and 4 and 5 as well; c4 has had 9 to 11 since 21 s."""
    kept, moved = (story.ask("kafka", f"partition:{name}")["since_us"] for name in ("9", "0"))
    assert kept < 22 * SECOND and moved > 120 * SECOND
    owners = []
    for event in story.told():
        if event["kind"] == "kafka.group.assigned":
            lists = event["data"]["assignment"].items()
            owners.append((event["at_us"], next(owner for owner, units in lists if 9 in units)))
    since = next(at_us for at_us, owner in owners if owner == "c4")
    assert kept == since


def test_a_tubemq_partition_knows_when_its_broker_registered_its_client(story):
    parts = story.lane("tubemq")["picture"]["partitions"]
    for name, part in parts.items():
        answer = story.ask("tubemq", f"partition:{name}")
        told = [
            event
            for event in story.told()
            if event["kind"] == "tubemq.client.connected" and name in event["data"]["partitions"]
        ]
        assert answer["says"]["params"]["consumer"] == part["owner"] == told[-1]["data"]["consumer"]
        assert answer["since_us"] == told[-1]["at_us"] and told[-1]["id"] in [
            e["id"] for e in answer["chain"]
        ]
        lag = sums(answer)["lag_confirmed"]
        assert lag["lag"] == part["lag"] == lag["end"] - lag["confirmed"]


def test_a_tubemq_partition_is_told_about_after_a_turning_point_that_only_counts_partitions():
    workload = {"kind": "zipf", "keys": 40, "rate": 30}
    story = Story(lanes=[{"model": "tubemq"}], workload=workload).go(2).order("crash", "c2").go(3)
    lost = next(event for event in story.told() if event["kind"] == "tubemq.client.lost")
    assert lost["data"]["partitions"] > 0
    for name in story.lane("tubemq")["picture"]["partitions"]:
        assert story.ask("tubemq", f"partition:{name}")["says"]["params"]["partition"] == name


def test_a_slot_of_the_ring_has_the_owner_that_the_picture_draws(story):
    picture = story.lane("pulsar")["picture"]
    bounds, owners = picture["now"]["bounds"], picture["now"]["owners"]
    for place in (0, 1, len(bounds) // 2, len(bounds) - 1):
        answer = story.ask("pulsar", f"slot:{bounds[place]}")
        params = answer["says"]["params"]
        assert params["consumer"] == picture["names"][owners[place]] and params["end"] == bounds[place]
    above = story.ask("pulsar", f"slot:{PULSAR_RING - 1}")["says"]["params"]
    assert above["consumer"] == picture["names"][owners[0]] and above["end"] == bounds[0]
    was = zip(picture["before"]["bounds"], picture["before"]["owners"], strict=True)
    left = [bound for bound, owner in was if picture["names"][owner] == "c1"]
    moved = [story.ask("pulsar", f"slot:{bound}") for bound in left]
    assert all(each["says"]["code"] == "why.is.slot.moved" for each in moved)
    assert moved and all(each["since_us"] >= 120 * SECOND for each in moved)


@pytest.mark.parametrize("lane", ["pulsar", "kafka", "tubemq", "rabbitmq"])
def test_figures_of_a_change_are_those_of_its_bill(story, lane):
    bill = story.lane(lane)["bill"]
    for name in ("redelivered", "out_of_order"):
        told = sums(story.ask(lane, f"figure:{name}"))[name]
        assert told["count"] == bill[name] == told["total"] - told["before"]
    moved = story.ask(lane, "figure:moved")
    assert moved["since_us"] == bill["at_us"] and moved["chain"] == story.lane(lane)["why"]
    if lane == "rabbitmq":
        assert list(sums(moved)) == ["moved_none"]
        return
    told = sums(moved)["moved_keys"]
    assert (told["moved"], told["total"]) == (bill["keys_moved"], bill["keys_total"])
    parts = moved["sums"][0]["parts"]
    assert parts["more"] == 0 and sum(each["keys"] for each in parts["items"]) == bill["keys_moved"]
    if bill["partitions_moved"] is not None:
        units = moved["sums"][1]["parts"]["items"]
        assert len(units) == bill["partitions_moved"] == sums(moved)["moved_units"]["moved"]
        assert all(each["from"] != each["to"] for each in units)
    skew = sums(story.ask(lane, "figure:skew"))["skew"]
    assert skew["skew"] == skew["most"] * skew["count"] * 1000 // skew["total"] / 1000


@pytest.mark.parametrize("lane", ["pulsar", "kafka", "tubemq", "rabbitmq"])
def test_totals_are_those_of_the_tally_and_hold_the_last_changes_part(story, lane):
    view = story.lane(lane)
    tally, bill = view["tally"], view["bill"]
    parts = {"redelivered": "redelivered", "out_of_order": "out_of_order", "moved": "keys_moved"}
    for name, key in parts.items():
        answer = story.ask(lane, f"total:{name}")
        assert answer["chain"] == view["why"] and answer["since_us"] == bill["at_us"]
        if tally[key] is None:
            assert list(sums(answer)) == ["moved_none"]
            continue
        told = sums(answer)["total"]
        assert told["total"] == tally[key] == told["before"] + told["last"] and told["last"] == bill[key]
    told = sums(story.ask(lane, "total:paused"))["total_paused"]
    assert told["mean_us"] == tally["dark_us"] == told["unit_us"] // told["units"]
    if tally["dark_partition_us"] is not None:
        assert told["unit_us"] == tally["dark_partition_us"] > 0
    lost = story.ask(lane, "total:lost")["sums"]
    assert [each["params"].get("count") for each in lost] == [tally["lost"]]


def test_a_total_before_the_first_change_is_not_divided_and_says_what_is_dark_now():
    begun = Story().go(20)
    assert list(sums(begun.ask("kafka", "total:redelivered"))) == ["total_unchanged"]
    dark = sums(Story().go(20).order("crash", "c2").go(30).ask("kafka", "total:paused"))["dark_now"]
    assert dark == {"dark": 4, "units": 12, "from_us": 20 * SECOND}


def waits(story, lane):
    answer = story.ask(lane, "figure:waiting")
    assert answer["says"]["params"]["lag"] == story.lane(lane)["lag"]
    return answer["says"]["code"].removeprefix("why.is.figure.waiting."), answer


@pytest.mark.parametrize("lane", ["pulsar", "kafka", "tubemq", "rabbitmq"])
def test_what_waits_comes_to_the_lag_and_is_named_by_the_consumer_that_it_waits_for(story, lane):
    told = sums(waits(story, lane)[1])["waiting"]
    parts = story.ask(lane, "figure:waiting")["sums"][0]["parts"]["items"]
    assert told["lag"] == told["owned"] + told["rest"] == story.lane(lane)["lag"] > 0
    assert told["owned"] == sum(each["records"] for each in parts)
    assert parts == sorted(parts, key=lambda each: -each["records"])
    in_view = story.lane(lane)["consumers"]
    assert {each["consumer"] for each in parts} <= {*in_view}


def test_of_shared_what_is_done_and_not_reported_yet_waits_for_no_consumer():
    story = Story(lanes=[{"model": "pulsar", "algorithm": "shared"}])
    for second in range(5, 40, 5):
        told = sums(waits(story.go(second), "pulsar")[1])["waiting"]
        assert told["lag"] == told["owned"] + told["rest"]


def test_why_it_waits_is_a_partition_without_a_reader_before_anything_else():
    story = Story().go(20).order("crash", "c2").go(30)
    code, answer = waits(story, "kafka")
    stopped = {name for name, part in story.lane("kafka")["picture"]["partitions"].items() if part["stopped"]}
    assert code == "unread" and answer["says"]["params"]["count"] == len(stopped) == 4
    named = next(each for each in answer["sums"] if each["code"] == "why.sum.stopped")["parts"]["items"]
    assert {each["name"] for each in named} == stopped and answer["chain"] == story.lane("kafka")["why"]


def test_why_it_waits_is_a_consumer_that_does_nothing():
    story = Story(lanes=[{"model": "rabbitmq"}, {"model": "pulsar"}]).go(20).order("pause", "c3").go(30)
    for lane in ("rabbitmq", "pulsar"):
        code, answer = waits(story, lane)
        silent = sums(answer)["waiting_silent"]
        parts = next(each for each in answer["sums"] if each["code"] == "why.sum.waiting_silent")["parts"]
        assert code == "silent" and silent["count"] == answer["says"]["params"]["count"] == 1
        assert parts["items"] == [{"consumer": "c3", "records": silent["records"]}] and silent["records"] > 0


def test_why_it_waits_is_more_than_those_at_work_can_finish_or_that_nobody_works():
    lanes = [{"model": "rabbitmq"}]
    code, answer = waits(Story(lanes=lanes).go(20), "rabbitmq")
    rates = sums(answer)["waiting_rates"]
    assert code == "overload" and rates == {"rate": 36, "count": 3, "capacity": 30}
    workload = {"kind": "uniform", "keys": 20, "rate": 6}
    assert waits(Story(lanes=lanes, workload=workload).go(20), "rabbitmq")[0] in ("flow", "none")
    begun = Story(lanes=lanes, consumers=1).go(5).order("leave", "c1").go(9)
    assert waits(begun, "rabbitmq")[0] == "nobody"


def test_nothing_waits_before_the_first_record():
    assert waits(Story(), "rabbitmq")[0] == "none"


def test_a_pause_is_from_its_beginning_to_its_end(story):
    told = sums(story.ask("kafka", "figure:paused"))["paused"]
    assert told["pause_us"] == story.lane("kafka")["bill"]["pause_us"] == told["until_us"] - told["from_us"]
    crashed = Story().go(20).order("crash", "c2").go(30)
    told = sums(crashed.ask("kafka", "figure:paused"))
    assert told["paused_still"]["from_us"] == 20 * SECOND and told["stopped"]["count"] == 4


def test_a_queue_is_what_came_in_less_what_was_acknowledged(story):
    answer = sums(story.ask("rabbitmq", "queue:flights"))
    queue = answer["queue"]
    assert queue["published"] == queue["ready"] + queue["unacked"] + queue["acked"]
    assert queue["ready"] == story.lane("rabbitmq")["picture"]["ready"]
    assert answer["unacked_by"]["unacked"] == queue["unacked"]


def test_a_record_is_where_its_hash_leads(story):
    route = story.lane("kafka")["route"]
    answer = story.ask("kafka", f"record:{route['record']}")
    assert answer["says"]["params"]["consumer"] == route["consumer"]
    told = sums(answer)["hash_partition"]
    assert told["hash"] % told["count"] == told["place"] == int(route["unit"])
    held = story.lane("rabbitmq")["picture"]["in_flight"]["c3"][0]["record"]
    says = story.ask("rabbitmq", f"record:{held}")["says"]
    assert says["code"] == "why.is.record.held" and says["params"]["consumer"] == "c3"
    (tubemq,) = [story.ask("tubemq", f"record:{story.lane('tubemq')['route']['record']}")]
    told = sums(tubemq)["hash_partition"]
    assert told["hash"] % told["count"] == told["place"]


def test_replicas_say_their_leader_and_how_the_high_watermark_is_made_up(story):
    cluster = story.lane("kafka")["cluster"]["partitions"]
    answer = story.ask("kafka", "replicas:flights-3")
    assert answer["says"]["params"]["leader"] == cluster["flights-3"]["leader"]
    mark = sums(answer).get("high_watermark") or sums(answer)["high_watermark_waits"]
    assert mark["high_watermark"] == cluster["flights-3"]["high_watermark"]
    assert answer["since_us"] is None and answer["chain"] == []  # its first leader has never changed


def test_a_brokers_crash_is_what_moved_a_leader():
    story = Story().go(20)
    view = story.lane("kafka")["cluster"]["partitions"]["flights-0"]
    story.order("cluster_crash", lane="kafka", broker=view["leader"]).go(60)
    answer = story.ask("kafka", "replicas:flights-0")
    assert answer["says"]["params"]["leader"] != view["leader"] and answer["since_us"] > 20 * SECOND
    assert answer["chain"][-1]["rule"] and {"command": 1} in [event["cause"] for event in answer["chain"]]


def test_what_nothing_has_changed_has_no_chain():
    story = Story().go(20)
    answer = story.ask("rabbitmq", "exchange:")
    assert answer["chain"] == [] and answer["since_us"] is None and answer["orders"] == {}


def test_a_switched_lane_begins_with_its_switch(story):
    switched = Story().go(20).order("join", count=1).go(40)
    switched.order("set_algorithm", lane="kafka", algorithm="roundrobin").go(41)
    answer = switched.ask("kafka", "partition:3")
    assert answer["chain"][0]["kind"] == "kafka.algorithm_switched" and answer["since_us"] >= 40 * SECOND


def test_a_later_turning_point_of_the_same_microsecond_does_not_belong_to_the_moment():
    story = Story().go(20)
    told = [event for event in story.told() if event["lane"] == "kafka"]
    later = {**told[-1], "id": "kafka:9999", "seq": 9999, "kind": "kafka.consumer.assigned"}
    lane = story.lab.lanes["kafka"]
    assert all(
        event["id"] != "kafka:9999"
        for event in why(lane, "partition:11", [later, *reversed(told)], {})["chain"]
    )


@pytest.mark.parametrize(
    ("lane", "thing"),
    [
        ("kafka", "partition:12"),
        ("kafka", "slot:3"),
        ("kafka", "nothing"),
        ("kafka", "consumer:c9"),
        ("kafka", "record:-1"),
        ("kafka", "record:999999999"),
        ("kafka", "replica:flights-3"),
        ("kafka", "broker:9"),
        ("pulsar", f"slot:{PULSAR_RING}"),
        ("pulsar", "partition:0"),
        ("pulsar", "cursor:7"),
        ("tubemq", "partition:3"),
        ("rabbitmq", "queue:nobody@/x"),
        ("rabbitmq", "figure:lag"),
        ("rabbitmq", "total:skew"),
        ("kafka", "lane:pulsar"),
    ],
)
def test_what_is_not_there_is_refused_at_the_field(lane, thing):
    story = Story().go(5)
    with pytest.raises(CommandError) as error:
        story.ask(lane, thing)
    assert error.value.field == "thing"
