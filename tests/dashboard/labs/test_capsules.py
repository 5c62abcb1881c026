"""A capsule has the very pictures and answers that the site gives, is small enough, and says what is in its way."""

import gzip
import json
import re
from base64 import b64decode
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.panels import PANELS
from dashboard.labs.capsules import making, orders
from dashboard.labs.capsules.fitting import TooLarge, fitted
from dashboard.labs.capsules.making import BYTES_MAX, make
from dashboard.labs.capsules.moments import CHANGES_MAX, STEPS_LEAST, moments_of
from dashboard.labs.capsules.recording import Recording, record
from dashboard.labs.past.look import WHY
from dashboard.lessons import lesson_open
from dashboard.models import Lab
from tests.dashboard.labs.test_past import shown
from tests.dashboard.patching import apply_patch
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
CROWD = [
    {"model": "rabbitmq"},
    {"model": "pulsar"},
    {"model": "kafka", "brokers": 9, "partitions": 64, "replication_factor": 3},
    {"model": "tubemq", "partitions": 64, "brokers": 8},
]


class Sent:
    """In place of Celery: what was enqueued."""

    def __init__(self) -> None:
        self.tasks: list[list[str]] = []

    def send_task(self, name: str, args: list[str], retry: bool) -> None:
        assert name == orders.TASK and not retry
        self.tasks.append(args)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Sent:
    settings.RUN_DIR = tmp_path
    found = Sent()
    monkeypatch.setattr(orders, "current_app", found)
    monkeypatch.setattr(orders.transport(), "ping", lambda: None)
    return found


@pytest.fixture
def lab(world: World) -> Lab:
    """Three seconds with a join and a crash, still playing."""
    lab = world.open(workload={"kind": "zipf", "keys": 40, "rate": 30})
    world.run(1)
    world.order(lab, "join")
    world.run(1)
    world.order(lab, "crash", consumer="c2")
    world.run(1)
    lab.refresh_from_db()
    return lab


def recorded(lab: Lab, from_us: int = 0, panels: tuple[str, ...] = ()) -> Recording:
    return record(lab, panels, from_us, orders.lasts_us(lab), lambda _share: None)


def unpacked(text: str) -> Json:
    found: Json = json.loads(gzip.decompress(b64decode(text)))
    return found


def each_of(documents: list[Any]) -> list[Json]:
    found = [documents[0]]
    for patch in documents[1:]:
        found.append(apply_patch(found[-1], patch))
    return found


def ordered(lab: Lab, **body: Any) -> Any:
    return Client().post(f"/api/labs/{lab.pk}/capsules/", json.dumps(body), content_type="application/json")


def made(lab: Lab, sent: Sent, **body: Any) -> str:
    """The file, as it is downloaded."""
    answer = ordered(lab, **body)
    assert answer.status_code == 202, answer.text
    make(*sent.tasks.pop())
    address = f"/api/labs/{lab.pk}/capsules/{answer.json()['id']}"
    told = Client().get(f"{address}/").json()
    assert told["state"] == "done", told
    file = Client().get(f"{address}.html")
    assert "attachment" in file["Content-Disposition"]
    content = b"".join(file.streaming_content)
    assert len(content) == told["bytes"] < BYTES_MAX
    return content.decode()


def parts_of(html: str) -> dict[str, Json]:
    blocks = re.findall(r'<script type="text/plain" id="packed-(\w+)">([^<]+)</script>', html)
    return {name: unpacked(text) for name, text in blocks}


# -- what is in it -------------------------------------------------------------------------------------------


def test_each_picture_is_the_one_that_the_past_shows(lab: Lab) -> None:
    run = unpacked(fitted(recorded(lab), BYTES_MAX)[0])
    views = each_of(run["views"])
    for place in range(0, len(views), 5):
        at_us, position, state_hash, _stays = run["times"][place]
        past = shown(lab, at_us=at_us)
        assert (past["position"], past["state_hash"]) == (position, state_hash)
        assert views[place] == {**past["view"], "playing": False}


def test_why_is_answered_as_the_site_answers_it(lab: Lab) -> None:
    found = recorded(lab)
    why = unpacked(fitted(found, BYTES_MAX)[1])
    for at_us, answers in list(zip(why["times"], each_of(why["answers"]), strict=True))[::9]:
        assert set(answers) == set(found_lanes(lab))
        for thing in ("consumer:c1", "figure:moved"):
            asked = shown(lab, kind=WHY, at_us=at_us, lane="pulsar", thing=thing)
            assert answers["pulsar"][thing] == {
                name: value for name, value in asked.items() if name not in ("at_us", "position")
            }


def found_lanes(lab: Lab) -> list[str]:
    return [lane["id"] for lane in lab.scenario["lanes"]]


def test_a_change_is_a_moment_and_has_its_question_and_its_events(lab: Lab) -> None:
    run = unpacked(fitted(recorded(lab), BYTES_MAX)[0])
    changes = [command.at_us for command in lab.commands.all() if command.body["kind"] in ("join", "crash")]
    assert set(changes) <= {at_us for at_us, _position, _hash, stays in run["times"] if stays}
    assert [(each["order"]["kind"], each["until_us"] + 1) for each in run["asked"]] == [
        ("join", changes[0]), ("crash", changes[1]),
    ]  # fmt: skip
    for each in run["asked"]:
        assert each["answer"]["lanes"]["pulsar"]["outcome"]["questions"]
    assert {event["kind"] for event in run["events"]} >= {"pulsar.subscription.consumer_joined"} or run[
        "events"
    ]


def test_a_part_has_no_moment_outside_of_it(lab: Lab) -> None:
    run = unpacked(fitted(recorded(lab, 1_500_000), BYTES_MAX)[0])
    assert run["times"][0][0] == 1_500_000 and run["times"][-1][0] == orders.lasts_us(lab)
    assert all(event["at_us"] >= 1_500_000 for event in run["events"])
    assert each_of(run["views"])[0] == {**shown(lab, at_us=1_500_000)["view"], "playing": False}


def test_a_lesson_that_was_hardly_begun_is_recorded_to_its_end(world: World, sent: Sent) -> None:
    lab = lesson_open(name="kafka_cluster_high_watermark", visitor=None, address="").lab
    world.transport.watching.add(lab.pk)
    world.run(0.5)
    lab.refresh_from_db()
    parts = parts_of(made(lab, sent, page="cluster"))
    lesson = lab.scenario["lesson"]
    run = parts["run"]
    assert run["until_us"] == lesson["lasts_us"] > lab.clock_floor_us
    stops = [frame["stop_us"] for frame in each_of(run["views"])[0]["lesson"]["captions"]]
    assert set(stops) <= {at_us for at_us, *_rest in run["times"]}
    assert [each["at_us"] for each in run["asked"] if each["is_next"]] == [
        frame["stop_us"] for frame in each_of(run["views"])[0]["lesson"]["captions"] if frame.get("ask")
    ]
    last = each_of(run["views"])[-1]["lesson"]
    assert len(last["results"]) == len(last["checks"])
    assert all(result["holds"] for result in last["results"].values()), "the script went on as the lab would"


# -- the file ------------------------------------------------------------------------------------------------


def test_the_file_asks_for_nothing_else_and_has_both_languages(lab: Lab, sent: Sent) -> None:
    html = made(lab, sent)
    parts = parts_of(html)
    assert parts["page"]["page"]["player"]["kind"] == "capsule"
    assert set(parts["page"]["catalogue"]) == {"en", "zh-hans"}
    assert not re.findall(
        r"<link rel=\"stylesheet\"|<script[^>]* src=|@import|url\((?!#)", html + parts["page"]["style"]
    )
    assert not re.search(r"^import\b", parts["page"]["script"], re.MULTILINE)
    assert "csrfmiddlewaretoken" not in html and orders.path_of(lab.pk, "x").parent.exists()


def test_a_capsule_holds_no_right_to_the_lab(lab: Lab, sent: Sent) -> None:
    visitor = Client()
    page = visitor.get(f"/lab/{lab.pk}/")
    assert page.status_code == 200
    secret = visitor.cookies["highwater_visitor"].value
    Lab.objects.filter(pk=lab.pk).update(visitor_hash="")
    text = made(lab, sent)
    whole = text + json.dumps(parts_of(text)["page"])
    assert secret not in whole
    assert parts_of(text)["page"]["page"]["csrf"] == ""


@pytest.mark.parametrize("page", ["stage", "pulsar", "tubemq", "rabbitmq"])
def test_each_page_brings_its_own_panel_alone(lab: Lab, sent: Sent, page: str) -> None:
    view = each_of(parts_of(made(lab, sent, page=page, until_us=500_000))["run"]["views"])[0]
    assert [name for name in PANELS if any(name in lane for lane in view["lanes"].values())] == (
        [] if page == "stage" else [page]
    )


def test_a_lab_of_128_consumers_fits(world: World, sent: Sent) -> None:
    lab = world.open(lanes=CROWD, consumers=128, workload={"kind": "uniform", "keys": 2000, "rate": 200})
    world.run(1)
    lab.refresh_from_db()
    assert len(parts_of(made(lab, sent))["run"]["times"]) > 5


# -- what does not fit ---------------------------------------------------------------------------------------


def test_less_room_has_fewer_answers_first_and_then_fewer_pictures(lab: Lab) -> None:
    found = recorded(lab)
    run, why = fitted(found, BYTES_MAX)
    room = len(run) + len(why) * 2 // 3
    same, fewer = fitted(found, room)
    assert same == run and len(unpacked(fewer)["times"]) < len(unpacked(why)["times"])
    thin, _why = fitted(found, len(run))
    times = unpacked(thin)["times"]
    assert len(times) < len(found.kept)
    assert [each[0] for each in times if each[3]] == [each.at_us for each in found.kept if each.stays]
    with pytest.raises(TooLarge):
        fitted(found, 2_000)


def test_too_much_says_how_long_a_part_may_be(lab: Lab, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ordered(lab)
    page = orders.path_of(lab.pk, answer.json()["id"]).with_suffix(".page")
    monkeypatch.setattr(making, "BYTES_MAX", len(page.read_bytes()) + 2_000)
    make(*sent.tasks.pop())
    told = Client().get(
        f"/api/labs/{lab.pk}/capsules/{answer.json()['id']}/", headers={"accept-language": "zh-hans"}
    )
    assert told.json()["state"] == "failed"
    assert re.search(r"胶囊最多 1 MB：请选取大约 \d+ 秒的一段", told.json()["reason"])
    assert Client().get(f"/api/labs/{lab.pk}/capsules/{answer.json()['id']}.html").status_code == 404


def test_one_that_takes_too_long_ends_and_says_so(lab: Lab, sent: Sent, settings: Any) -> None:
    settings.CAPSULE_S_MAX = -1.0
    answer = ordered(lab)
    make(*sent.tasks.pop())
    told = Client().get(f"/api/labs/{lab.pk}/capsules/{answer.json()['id']}/").json()
    assert told["state"] == "failed" and "take a shorter part" in told["reason"]


def test_an_order_that_comes_twice_makes_it_once(lab: Lab, sent: Sent) -> None:
    answer = ordered(lab, until_us=300_000)
    task = sent.tasks.pop()
    make(*task)
    path = orders.path_of(*task).with_suffix(".html")
    made_ns = path.stat().st_mtime_ns
    make(*task)
    assert path.stat().st_mtime_ns == made_ns and answer.status_code == 202


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"page": "log"}, "page"), ({"page": "cluster"}, "page"), ({"lane": 7}, "lane"),
        ({"from_us": -1}, "from_us"), ({"until_us": 10**12}, "until_us"), ({"until_us": True}, "until_us"),
        ({"from_us": 500_000, "until_us": 500_000}, "until_us"), ({"colour": "red"}, "colour"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field(lab: Lab, sent: Sent, body: Json, field: str) -> None:
    answer = ordered(lab, **body)
    assert answer.status_code in (400, 404) and list(answer.json()["fields"]) == [field]
    assert not sent.tasks


def test_a_lab_keeps_its_newest_few_and_takes_them_along(lab: Lab, sent: Sent) -> None:
    found = [ordered(lab, until_us=300_000).json()["id"] for _each in range(orders.KEPT + 1)]
    folder = orders.path_of(lab.pk, found[-1]).parent
    assert len(list(folder.glob("*.json"))) == orders.KEPT
    orders.forget(lab.pk)
    assert not folder.exists()


def test_a_lab_of_older_rules_has_no_capsule(lab: Lab, sent: Sent) -> None:
    Lab.objects.filter(pk=lab.pk).update(rules_version=0)
    assert ordered(lab).status_code == 409


def test_one_that_a_newer_one_displaces_while_it_is_made_leaves_nothing(
    lab: Lab, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record_and_drop(*given: Any) -> Recording:
        orders.drop(orders.path_of(lab.pk, capsule))
        return record(*given)

    monkeypatch.setattr(making, "record", record_and_drop)
    capsule = ordered(lab).json()["id"]
    make(*sent.tasks.pop())
    assert list(orders.path_of(lab.pk, capsule).parent.iterdir()) == []


def test_one_address_has_so_many_under_way_and_none_more(lab: Lab, sent: Sent, settings: Any) -> None:
    settings.CAPSULES_ADDRESS_MAX, settings.CAPSULES_MAX = 2, 4
    answers = [ordered(lab) for _time in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429] and len(sent.tasks) == 2
    assert int(answers[-1]["Retry-After"]) > 0
    make(*sent.tasks.pop())
    assert ordered(lab).status_code == 202


# -- moments -------------------------------------------------------------------------------------------------


def test_moments_are_each_change_and_regular_steps() -> None:
    found = moments_of(0, 60_000_000, [7_000_001, 20_000_000, 90_000_000], 0)
    times = [at_us for at_us, _stays in found]
    assert times == sorted(set(times)) and times[0] == 0 and times[-1] == 60_000_000
    assert [at_us for at_us, stays in found if stays] == [0, 7_000_001, 20_000_000, 60_000_000]
    assert max(late - early for early, late in pairwise(times)) <= 250_000


def test_many_changes_and_a_large_lab_have_fewer_moments() -> None:
    crowded = moments_of(0, 60_000_000, range(0, 60_000_000, 100_000), 0)
    assert sum(stays for _at_us, stays in crowded) <= CHANGES_MAX + 2
    assert len(moments_of(0, 60_000_000, [], 10**6)) <= STEPS_LEAST + 10
