"""Looking back with the real processes: web, Redis, the shard that drives the lab, and the worker that looks."""

import threading
import time
from typing import Any

import pytest

from broker_core.lab.patch import diff
from tests.dashboard.patching import apply_patch
from tests.dashboard.processes import Site

pytestmark = pytest.mark.alone

SECOND = 1_000_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Site(tmp_path_factory.mktemp("past"), shards=1, past=True) as site:
        yield site


def got(site: Site, path: str, **query: object) -> tuple[int, Any]:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return site.request("GET", f"{path}?{text}", timeout=15)


def paused_lab(site: Site, run_s: float) -> tuple[str, Any]:
    """(path, snapshot) of a lab in which two joined and one crashed, paused."""
    status, made = site.request("POST", "/api/labs/", {"scenario": "demo", "seed": 7})
    assert status == 201, made
    path, token = f"/api/labs/{made['id']}/", made["owner_token"]
    orders = [("join", None), ("crash", "c2"), ("pause_lab", None)]
    for place, (kind, consumer) in enumerate(orders):
        time.sleep(run_s)
        order = {"command_id": f"t{place}", "kind": kind, "consumer": consumer}
        assert site.request("POST", f"{path}commands/", order, token)[0] == 202
    for _attempt in range(200):
        view = site.request("GET", f"{path}snapshot/")[1]["view"]
        if (
            not view["playing"]
            and site.request("GET", f"{path}journal/")[1]["commands"][-1]["command_id"] == "t2"
        ):
            return path, site.request("GET", f"{path}snapshot/")[1]
        time.sleep(0.05)
    raise TimeoutError("the lab does not pause")


def again(site: Site, path: str, **query: object) -> Any:
    """The answer of a worker that has just been started, for which a look may wait in vain meanwhile."""
    for _attempt in range(6):
        status, found = got(site, path, **query)
        if status != 503:
            return found
    raise TimeoutError(found)


def test_the_past_of_a_lab_over_http_is_what_was_shown_and_survives_its_worker(site: Site) -> None:
    path, now = paused_lab(site, 1.5)
    lab = f"{path}past/"
    panels = "cluster,group,group_topics,group_health,pulsar,tubemq,rabbitmq"
    shown = again(site, lab, at_us=now["at_us"], panels=panels)
    feed = shown["view"].pop("feed")
    assert feed["panels"] == panels.split(",")
    now["view"].pop("feed")
    assert diff(now["view"], shown["view"]) == []
    middle = now["at_us"] // 20 * 10
    _, first = got(site, lab, at_us=middle)
    assert first["at_us"] == first["view"]["at_us"] == middle and first["state_hash"] != shown["state_hash"]
    site.kill("worker past")
    assert again(site, lab, at_us=middle) == first
    _, frames = got(site, f"{lab}frames/", at_us=0, until_us=middle, every_us=middle // 10)
    view = frames["frames"][0]["view"]
    for frame in frames["frames"][1:]:
        view = apply_patch(view, frame["patch"])
    assert view == first["view"] and frames["frames"][-1]["state_hash"] == first["state_hash"]
    _, marks = got(site, f"{path}marks/")
    assert [mark["kind"] for mark in marks["marks"] if mark["by"] == "person"] == ["join", "join", "crash"]
    assert marks["marks"][-1]["caption"] == {"en": "c2 crashed", "zh-hans": "c2 崩溃"}


def test_a_newer_look_ends_the_wait_of_the_one_before(site: Site) -> None:
    path, now = paused_lab(site, 0.3)
    answers: dict[int, tuple[int, Any]] = {}

    def look(place: int) -> None:
        answers[place] = got(site, f"{path}past/", at_us=now["at_us"] - place * 1_000, look="one-viewer")

    threads = [threading.Thread(target=look, args=[place]) for place in range(12)]
    for thread in threads:
        thread.start()
        time.sleep(0.005)
    for thread in threads:
        thread.join()
    found = [status for status, _answer in answers.values()]
    assert set(found) == {200, 409}, "the newest is answered, whichever came in last"
    assert all("look" in answer["fields"] for status, answer in answers.values() if status == 409)
