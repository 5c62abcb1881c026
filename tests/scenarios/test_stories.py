"""Stories: what a person orders, and every turning point that it causes, in text.

Above `----` are orders: `lab NAME=VALUE ...` once (`topic`: of the lanes that have one; `lane.NAME`: an option of each lane), `at SECONDS`, or
`KIND [CONSUMER] [lane=ID] [NAME=VALUE ...]`; below it what happened. To accept a change after reading it line
by
line: `ACCEPT_STORIES=1 pytest tests/scenarios/test_stories.py`.
"""

import json
import os
from pathlib import Path

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

STORIES = sorted((Path(__file__).parent / "stories").glob("*.txt"))


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def tell(orders):
    """Carry out the orders; the turning points as lines."""
    lab, lines = None, []
    for number, order in enumerate(orders, 1):
        kind, *words = order.split()
        pairs = {name: value(text) for name, text in (word.split("=", 1) for word in words if "=" in word)}
        plain = [word for word in words if "=" not in word]
        if kind == "lab":
            topic = {"topic": pairs.pop("topic")} if "topic" in pairs else {}
            options = {
                name.removeprefix("lane."): pairs.pop(name)
                for name in list(pairs)
                if name.startswith("lane.")
            }
            named = (lane.split(":") for lane in pairs.pop("lanes").split(","))
            lanes = [
                {"model": model, "algorithm": algorithm, **({} if model == "pulsar" else topic), **options}
                for model, algorithm in named
            ]
            workload = {"kind": "uniform", "keys": pairs.pop("keys", 100), "rate": pairs.pop("rate", 20)}
            lab = Lab(scenario_from_json({"lanes": lanes, "workload": workload, **pairs}))
        elif kind == "at":
            lines += describe(lab.advance_to(round(float(plain[0]) * 1_000_000)))
        else:
            lane = pairs.pop("lane", "all")
            command = {
                "command_id": f"s{number}",
                "kind": kind,
                "lane": lane,
                "consumer": plain[0] if plain else None,
                "args": pairs,
            }
            lines += describe(lab.submit(command))
    for lane in lab.lanes.values():
        ledger = lane.ledger
        bill = ledger.bill.to_view(lane.reads.redelivered(), ledger.tally.order.count, ledger.standing_us())
        figures = " ".join(
            f"{name}={bill[name]}"
            for name in ("keys_moved", "keys_total", "partitions_moved", "redelivered", "pause_us")
        )
        lines.append(f"bill {lane.id}: {figures}")
    return lines


def describe(events):
    return [
        f"{event['at_us'] / 1_000_000:.3f} {event['kind']} by {event['rule'] or 'order'} "
        f"{json.dumps(event['data'], sort_keys=True)}"
        for event in events
    ]


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path):
    title_and_orders, _, expected = path.read_text().partition("----\n")
    lines = title_and_orders.splitlines()
    told = "\n".join(tell([line for line in lines if line and not line.startswith("#")])) + "\n"
    if os.environ.get("ACCEPT_STORIES"):
        path.write_text(f"{title_and_orders}----\n{told}")
    assert told == expected


def test_there_are_stories():
    assert len(STORIES) >= 8
