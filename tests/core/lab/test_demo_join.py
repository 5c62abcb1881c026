"""The consumer that the demo adds on its own is an ordinary one; caption and timeline say who added it."""

import pytest

from broker_core.lab.commands.membership import DEMO_JOIN_ID
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json


def lab_after(command_id: str, kind: str = "join", consumer: str | None = None) -> Lab:
    lab = Lab(scenario_from_json({"name": "demo"}))
    lab.submit(
        {
            "command_id": command_id,
            "kind": kind,
            "lane": "all",
            "consumer": consumer,
            "args": {},
            "position": 1,
        }
    )
    lab.advance_to(9_000_000)
    return lab


def test_caption_and_timeline_say_that_the_demo_added_it() -> None:
    view = lab_after(DEMO_JOIN_ID).view()
    caption = view["caption"]
    assert (
        caption["code"] == "join"
        and caption["params"]["consumer"] == "c4"
        and caption["params"]["by"] == "demo"
    )
    assert view["timeline"]["1"]["by"] == "demo"


def test_what_it_does_is_what_any_join_does() -> None:
    demo, other = lab_after(DEMO_JOIN_ID).view(), lab_after("x1").view()
    assert demo["lanes"] == other["lanes"]
    assert "by" not in other["caption"]["params"] and "by" not in other["timeline"]["1"]


@pytest.mark.parametrize("kind", ["leave", "crash"])
def test_another_order_under_that_id_is_nobodys_demo(kind: str) -> None:
    assert "by" not in lab_after(DEMO_JOIN_ID, kind, "c1").view()["caption"]["params"]
