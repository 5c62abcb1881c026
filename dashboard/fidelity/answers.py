"""What the page /fidelity/ and the line of a lane say of `results.json`: how many recorded answers are met, by product,
and for a lane those of its algorithm and of all that every lane of its model runs."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from broker_core.lab.kafka.server_rules import SERVER_RULES
from broker_core.lab.scenario import LANE_KINDS

Json = dict[str, Any]
RESULTS = Path(__file__).with_name("results.json")
NAMES: Mapping[str, str] = MappingProxyType(
    {"kafka": "Kafka", "pulsar": "Pulsar", "tubemq": "TubeMQ", "rabbitmq": "RabbitMQ"}
)
"""Products in the order of the page."""
DIFFERENCES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kafka": ("hash_order", "old_coordinator", "controller", "read_records", "full_disk", "topics"),
        "pulsar": ("epoch", "fenced", "compacted", "consumers_max", "simple_cursor"),
        "tubemq": ("texts", "split_events", "local_confirm"),
        "rabbitmq": ("own_fault", "moment", "one_node", "disk", "memory"),
    }
)
"""Product -> what is known to differ, each with its reason (dashboard/sentences/fidelity.py)."""


@cache
def results() -> list[Json]:
    rows: list[Json] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return rows


def products() -> list[Json]:
    """{id, name, versions, recorded, met, partly, rows, differences}; a row's `of` is what is recorded, a code."""
    found = []
    for product, name in NAMES.items():
        own = [row for row in results() if row["product"] == product]
        algorithms = list(dict.fromkeys(each for row in own for each in row["algorithms"]))
        own.sort(key=lambda row: algorithms.index(row["algorithms"][0]) if row["algorithms"] else len(own))
        rows = [_shown(row) for row in own]
        versions = dict.fromkeys(version for row in rows for version in row["versions"])
        found.append(
            {"id": product, "name": name, "versions": list(versions), "rows": rows, **_sums(rows)}
            | {"differences": [f"fidelity.differs.{product}.{each}" for each in DIFFERENCES[product]]}
        )
    return found


def lane_line(model: str, algorithm: str) -> Json:
    """{code, params} of the line that leads from a lane to the page."""
    own = [row for row in results() if row["product"] == model and algorithm in row["algorithms"]]
    shared = [row for row in results() if row["product"] == model and not row["algorithms"]]
    code = "fidelity.lane" if own or model == "rabbitmq" else "fidelity.lane_rest"
    product = f"{NAMES[model]} {_short(own or shared)}"
    return {"code": code, "params": {"count": _sums([*own, *shared])["met"], "product": product}}


@cache
def lane_lines() -> dict[str, dict[str, Json]]:
    """Model -> algorithm -> its line."""
    server = {"kafka": list(SERVER_RULES)}
    return {
        model: {
            algorithm: lane_line(model, algorithm)
            for algorithm in (*(entry["id"] for entry in kind.algorithms()), *server.get(model, ()))
        }
        for model, kind in LANE_KINDS.items()
    }


def _shown(row: Json) -> Json:
    algorithms = [f"{row['product']}.{each}" for each in row["algorithms"]]
    return row | {"of": f"fidelity.of.{row['file'].replace('/', '.')}", "algorithms": algorithms}


def _sums(rows: list[Json]) -> Json:
    return {name: sum(row[name] for row in rows) for name in ("recorded", "met", "partly")}


def _short(rows: list[Json]) -> str:
    """Versions without their last part: 3.9.2 and 3.9.0-rc3 are 3.9."""
    versions = (version for row in rows for version in row["versions"])
    return ", ".join(dict.fromkeys(".".join(version.split(".")[:2]) for version in versions))
