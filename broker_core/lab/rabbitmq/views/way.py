"""A message's way through the picture of its virtual host: of each step, which lines and nodes of the graph it went over,
and which bindings matched and why.

The steps are those of `broker_core/lab/rabbitmq/paths.py`, the graph is `topology.py`'s; the bindings are asked of the
broker's own exchange types. Where bindings have come or gone since a step, nothing can be said of those that it met.
"""

from __future__ import annotations

import msgspec

from broker_core.events import Json
from broker_core.lab.rabbitmq.paths import DIED, PUBLISHED, RETURNED
from broker_core.lab.rabbitmq.views.rebuilt import bind_all
from broker_core.lab.rabbitmq.views.topology import binding_id
from broker_core.lab.rabbitmq.views.tried_message import row_of
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.vhost import EXCHANGE, QUEUE, Hop, Vhost, made


class WayFinder:
    """Over one panel; a virtual host is built once, when a message asks for it."""

    def __init__(self, graphs: Json) -> None:
        self.graphs = graphs
        self._built: dict[str, Vhost] = {}

    def steps(self, path: Json) -> list[Json]:
        """The path's steps, each with `vhost`, `ways` and `parts`: lines and nodes of the graph; of one that comes to an
        exchange also `hops`, a row each as a tried message has it, or `is_changed`, where bindings have changed."""
        found, vhost = [], ""
        for step in path["steps"]:
            vhost = step.get("vhost", vhost)
            graph = self.graphs.get(vhost)
            told = {**step, "vhost": vhost, "ways": [], "parts": [], "hops": [], "is_changed": False}
            if graph is not None:
                self._place(graph, step, told)
            found.append(told)
        return found

    def _place(self, graph: Json, step: Json, told: Json) -> None:
        kind, ways, parts = step["kind"], told["ways"], told["parts"]
        if kind in (PUBLISHED, RETURNED):
            line = "publish" if kind == PUBLISHED else "return"
            edges = graph["publishes"] if kind == PUBLISHED else graph["returns"]
            for number, node in graph["publishers"].items():
                if node["name"] == step["program"]:
                    parts.append(f"publisher:{number}")
                    own = {
                        edge: each["exchange"] for edge, each in edges.items() if each["publisher"] == number
                    }
                    at_exchange = step.get("exchange", own.get(number))
                    ways += [f"{line}:{edge}" for edge, exchange in own.items() if exchange == at_exchange]
        elif "program" in step:
            for key, node in graph["consumers"].items():
                if node["name"] == step["program"] and node["queue"] == step["queue"]:
                    ways.append(f"consume:{key}")
                    parts.append(f"consumer:{key}")
        if "queue" in step:
            parts.append(f"queue:{step['queue']}")
        if kind == DIED and step["exchange"] is not None:
            ways.append(f"dead_letter:{step['queue']}")
        if step.get("exchange") is not None:
            self._route(graph, step, told)

    def _route(self, graph: Json, step: Json, told: Json) -> None:
        ways, parts, queues = told["ways"], told["parts"], step["queues"]
        parts += [f"exchange:{step['exchange']}", *(f"queue:{queue}" for queue in queues)]
        if step["exchange"] and step["changes"] != graph["changes"]:
            told["is_changed"] = True
            return
        properties = Properties(headers=step["headers"], **(step.get("properties") or {}))
        for hop in self._vhost(graph).explain(step["exchange"], step["routing_keys"], properties):
            told["hops"].append(_row(hop, queues))
            ways.append(_line(hop))
            if hop.kind == EXCHANGE:
                parts.append(f"exchange:{hop.name}")

    def _vhost(self, graph: Json) -> Vhost:
        built = self._built.get(graph["vhost"])
        if built is None:
            built = self._built[graph["vhost"]] = vhost_of(graph)
        return built

    def newest_on(self, paths: Json, vhost: str, way: str) -> str | None:
        """The message that a line of the graph carried last, before others one that is followed; None where none of those
        that are kept went over it."""
        found: tuple[bool, int, str] | None = None
        for message, path in paths["of"].items():
            times = [
                step["at_us"] for step in self.steps(path) if step["vhost"] == vhost and way in step["ways"]
            ]
            if times and (found is None or (path["is_followed"], times[-1]) > found[:2]):
                found = path["is_followed"], times[-1], message
        return None if found is None else found[2]


def vhost_of(graph: Json) -> Vhost:
    """A virtual host's exchanges and bindings as the panel has them, and its queues by name."""
    built = Vhost(
        graph["vhost"],
        {
            name: made(name, each["type"], True, False, False, each["arguments"])
            for name, each in graph["exchanges"].items()
        },
        {name: ClassicQueue() for name in graph["queues"]},
    )
    edges: dict[str, list[Json]] = {}
    for each in graph["bindings"].values():
        edges.setdefault(each["source"], []).append(each)
    for source, own in edges.items():
        if source:
            bind_all(built.exchanges[source].bindings, own)
    return built


def _line(hop: Hop) -> str:
    if hop.match is None:
        return f"alternate:{hop.source}"
    binding = hop.match.binding
    return f"binding:{binding_id(hop.source, hop.kind, hop.name, binding.routing_key, binding.arguments)}"


def _row(hop: Hop, queues: list[str]) -> Json:
    """row: None for an alternate exchange. is_taken: not by a queue where a dead letter would go in a circle."""
    row = None
    if hop.match is not None:
        row = msgspec.to_builtins(row_of(hop.source, hop.match, is_reached=False))
        for word, matched in zip(row["words"], hop.match.words, strict=True):
            word["stood_for"] = ".".join(matched.words)
    is_taken = hop.kind != QUEUE or hop.name in queues
    return {"source": hop.source, "kind": hop.kind, "name": hop.name, "is_taken": is_taken, "row": row}
