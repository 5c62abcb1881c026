"""Each frame of a lesson points at something that its page has at that moment, in the window, and covers nothing of it.

The frames are the engine's own (in_frames); the page gets them as its feed would send them, so that nothing is waited for.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.frames import STAGE
from broker_core.lab.lesson.play import in_frames
from broker_core.lab.panels import PANELS
from dashboard.course import START, places
from dashboard.formats import clock
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
Json = dict[str, Any]
EPOCH = 999
POINTER = """() => {
  const box = (selector) => document.querySelector(selector)?.getBoundingClientRect().toJSON() ?? null;
  return { thing: box(".pointer .edge"), plate: box(".pointer rect.plate"), top: box("#story").bottom,
           bottom: box(".trans").top };
}"""


def names() -> list[Any]:
    return [pytest.param(name, marks=() if name in START else pytest.mark.slow) for name in places()]


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(("width", "height"), [(1280, 720), pytest.param(390, 844, marks=pytest.mark.slow)])
def test_each_frame_points_at_what_its_page_has(
    profile: Profile, site: SupervisedSite, name: str, width: int, height: int
) -> None:
    scenario = scenario_from_text(read_file(shelf()[name]))
    lesson = scenario.lesson
    assert lesson is not None
    page, sockets = profile(viewport={"width": width, "height": height}).new_page(), list[WebSocketRoute]()
    page.route_web_socket("**/ws/**", lambda socket: sockets.append(socket))  # noqa: PLW0108  # it must be a function
    page.goto(f"{site.url}learn/{name}/")
    page.click(f"button[value={name}]")
    expect(page.locator("#frames")).to_be_visible()
    lab = page.url.split("?")[0]
    for place, (step, (stop_us, played)) in enumerate(
        zip(lesson.frames(), in_frames(scenario), strict=False)
    ):
        lane = step.frame.lane
        if (
            lane is not None
            and (step.frame.page or lesson.page) != STAGE
            and not page.url.endswith(f"={lane}")
        ):
            sockets.clear()
            page.goto(f"{lab}?lane={lane}")
        show(page, sockets, played.view(), stop_us, place)
        pointed(page, f"frame {place + 1}: {step.frame.point}")


def show(page: Page, sockets: list[WebSocketRoute], view: Json, stop_us: int, place: int) -> None:
    """The page has this view from its feed."""
    page.wait_for_function("() => document.querySelector('#fresh').dataset.state !== 'connecting'")
    view["feed"] = {
        "behind_ms": 0, "auto_paused": False, "epoch": EPOCH, "failed": None, "panels": list(PANELS),
    }  # fmt: skip
    message = {
        "type": "snapshot",
        "lab": "x",
        "epoch": EPOCH,
        "seq": 10**6 + place,
        "at_us": stop_us,
        "view": view,
    }
    sockets[-1].send(json.dumps(message))
    expect(page.locator("#clock")).to_have_text(clock(stop_us))


def pointed(page: Page, what: str) -> None:
    try:
        page.wait_for_selector(".pointer rect.plate", state="attached")
    except Exception as error:
        raise AssertionError(f"{what} is not on the page") from error
    page.wait_for_function(
        """() => {
          const box = JSON.stringify(document.querySelector('.pointer .edge').getBoundingClientRect());
          return new Promise((done) => setTimeout(
            () => done(box === JSON.stringify(document.querySelector('.pointer .edge')?.getBoundingClientRect())), 300));
        }"""
    )
    found = page.evaluate(POINTER)
    thing, plate = found["thing"], found["plate"]
    assert not (
        thing["left"] < plate["right"]
        and thing["right"] > plate["left"]
        and thing["top"] < plate["bottom"]
        and thing["bottom"] > plate["top"]
    ), f"{what} is covered"
    is_tall = thing["height"] > found["bottom"] - found["top"] - 16
    assert thing["top"] >= found["top"] - 12 or is_tall, what
    assert thing["bottom"] <= found["bottom"] + 12 or is_tall, what
