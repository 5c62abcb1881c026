"""A message's way in the graph: every line and node that it went over, and the bindings that matched, by their reason."""

from __future__ import annotations

from typing import Any

from broker_core.errors import CommandError
from broker_core.lab.rabbitmq.views.questions import path_of
from tests.core.lab.rabbitmq.test_paths import by_hand, panel_of, quiet
from tests.core.lab.rabbitmq.test_topology import order


def way(lab: Any, message: int) -> Any:
    found = path_of(panel_of(lab), message)
    assert found["message"] == message
    return found["steps"]


def test_a_dead_letter_goes_from_publisher_to_the_morgue_over_lines_of_the_graph() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="orders", routing_key="key-1.created")
    published, delivered, discarded, died = way(lab, message)
    shop = panel_of(lab)["vhosts"]["shop"]
    rows = [hop["row"] for hop in published["hops"]]
    assert sorted(row["destination"] for row in rows) == ["all", "new"]
    assert all(row["is_match"] and row["binding"] in shop["bindings"] for row in rows)
    by_words = next(row for row in rows if row["destination"] == "new")
    assert "".join(word["pattern"] for word in by_words["words"]) and by_words["words"][0]["is_match"]
    assert {f"binding:{row['binding']}" for row in rows} <= set(published["ways"])
    assert {"exchange:orders", "queue:new", "queue:all"} <= set(published["parts"])
    [key] = [key for key, each in shop["consumers"].items() if each["queue"] == "new"]
    assert delivered["ways"] == discarded["ways"] == [f"consume:{key}"]
    assert died["ways"][0] == "dead_letter:new" and died["hops"][0]["name"] == "morgue"
    assert {"exchange:dead", "queue:morgue"} <= set(died["parts"])


def test_what_no_binding_matches_goes_by_the_alternate_or_comes_back() -> None:
    lab = quiet()
    args = {"name": "strict", "type": "direct", "arguments": {"alternate-exchange": "dead"}}
    order(lab, "rabbitmq_declare_exchange", vhost="shop", **args)
    [step, *_] = way(lab, by_hand(lab, exchange="strict", routing_key="x"))
    assert step["ways"][0] == "alternate:strict" and step["hops"][0]["row"] is None
    assert [hop["name"] for hop in step["hops"]][:2] == ["dead", "morgue"]
    steps = way(lab, by_hand(lab, routing_key="nowhere", mandatory=True))
    assert [each["kind"] for each in steps] == ["published", "returned"] and steps[0]["hops"] == []


def test_of_bindings_that_have_changed_since_nothing_is_said() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="orders", routing_key="key-1.created")
    assert not way(lab, message)[0]["is_changed"]
    order(lab, "rabbitmq_declare_queue", vhost="shop", name="more")
    order(lab, "rabbitmq_bind", vhost="shop", source="orders", destination="more", routing_key="#")
    changed = way(lab, message)[0]
    assert changed["is_changed"] and changed["hops"] == [] and "queue:new" in changed["parts"]
    assert not way(lab, by_hand(lab, exchange="orders", routing_key="a.created"))[0]["is_changed"]


def test_a_line_of_the_graph_names_the_message_that_went_over_it_last() -> None:
    lab = quiet()
    messages = [by_hand(lab, exchange="orders", routing_key="key-1.created") for _ in range(2)]
    panel = panel_of(lab)
    for step in way(lab, messages[1]):
        for line in step["ways"]:
            found = path_of(panel, None, "shop", line)
            times = [each["at_us"] for each in found["steps"] if line in each["ways"]]
            assert times and (times[-1] >= step["at_us"] or found["message"] in messages)
    for vhost, line in (("/", "dead_letter:new"), ("shop", "dead_letter:morgue")):
        try:
            path_of(panel, None, vhost, line)
        except CommandError as error:
            assert error.field == "way"
        else:
            raise AssertionError("no message went there")
