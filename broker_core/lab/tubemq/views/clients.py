"""What the picture of the TubeMQ lane shows: each client with its node id and clock, each partition with who
it falls to and who holds it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, Consumer
from broker_core.tubemq.broker import Consumed, Partition
from broker_core.tubemq.client.assigner import PASS_PERIOD_US
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState
from broker_core.tubemq.client.reading_program import BOOTING, STARTING
from broker_core.tubemq.client_id import host_of


def clients_view(
    consumers: Iterable[Consumer],
    present: Mapping[str, ProgramState | PullConsumerState],
    plan: Sequence[str],
) -> Json:
    """present: consumer -> its client, of those that somebody still counts; of the others only those show
    whose node id waits for them."""
    views: Json = {}
    for consumer in consumers:
        client = present.get(consumer.name)
        if client is not None:
            state = STARTING if client.phase == BOOTING else client.phase
            next_tick_us = client.next_pass_us if isinstance(client, ProgramState) else None
            if consumer.state == CRASHED:
                state, next_tick_us = CRASHED, None
            views[consumer.name] = client_view(
                _node_id(client),
                state,
                next_tick_us,
                client.refused_code,
            )
        elif consumer.name in plan:
            views[consumer.name] = client_view(plan.index(consumer.name), "gone", None, 0)
    return views


def _node_id(client: ProgramState | PullConsumerState) -> int | None:
    """None of one that starts without the group's count."""
    return client.node_id if isinstance(client, ProgramState) and client.source_count > 0 else None


def client_view(node_id: int | None, state: str, next_tick_us: int | None, refused_code: int) -> Json:
    return {
        "node_id": node_id,
        "state": state,
        "next_tick_us": next_tick_us,
        "tick_period_us": PASS_PERIOD_US,
        "refused_code": refused_code or None,
    }


def also_given(
    keys: Sequence[str],
    assigned: Mapping[str, str | None],
    ruled: Sequence[str | None],
    by_hand: Mapping[str, list[str]],
) -> dict[str, list[str]]:
    """Partition -> consumers to whom it falls besides the one of `assigned`, by lists that persons gave: nothing compares
    these with one another or with the rule. ruled: whom the rule gives each."""
    also: dict[str, list[str]] = {}
    for key, by_rule in zip(keys, ruled, strict=True) if by_hand else ():
        listed = [name for name, own in by_hand.items() if key in own]
        names = dict.fromkeys([by_rule, *listed])
        also[key] = [name for name in names if name is not None and name != assigned[key]]
    return also


def partitions_view(
    partitions: Mapping[str, Partition],
    places: Mapping[str, Consumed],
    assigned: Mapping[str, str | None],
    also: Mapping[str, list[str]],
    before: Mapping[str, str | None],
    stopped: Collection[str],
    names: Collection[str],
) -> Json:
    """assigned: whom each falls to; also: to whom else; before: and did before the last change. stopped: those that nobody reads.
    names: consumers of the lane."""
    views: Json = {}
    for key, partition in partitions.items():
        broker, _, number = key.split(":")
        owner = host_of(places[key].owner)
        views[key] = {
            "broker": int(broker),
            "id": int(number),
            "assigned": assigned[key],
            "also": also.get(key, []),
            "owner": owner if owner in names else None,
            "before": before.get(key),
            "lag": partition.end - places[key].offset,
            "stopped": key in stopped,
        }
    return views
