"""What waits in a lane now, for whom, and why: partitions without a reader, consumers that do nothing, or more records
than those at work can finish.

Of a record that waits it is said whose it is: in a consumer's hands, sent to it, or where only it reads. The others are
on their way, in a queue that all share, or in a partition without a reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, FROZEN, PAUSED, STUCK
from broker_core.lab.why.known import Known, parts_of, said, sum_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

WORKING = ("live", "slow")
SILENT = (CRASHED, PAUSED, FROZEN, STUCK, "failed")


def waiting(lane: Lane) -> Known:
    """Records that arrived and are not done."""
    lag = lane.reads.lag()
    rates, for_silent = _rates(lane), _waiting_for(lane, SILENT)
    stopped = lane.reads.stopped()
    held_up = {"records": sum(for_silent.values()), "count": len(for_silent)}
    sums = _parts_of_lag(lane, lag)
    if stopped:
        items = [{"name": str(unit), "since_us": since_us} for unit, since_us in stopped.items()]
        sums.append(sum_of("stopped", parts_of("stopped", items), count=len(items)))
    if for_silent:
        sums.append(sum_of("waiting_silent", _most_first(for_silent), **held_up))
    if rates["count"]:
        sums.append(sum_of("waiting_rates", **rates))
    code, params = "flow", rates
    if not lag:
        code = "none"
    elif stopped:
        code, params = "unread", {"count": len(stopped)}
    elif for_silent:
        code, params = "silent", held_up
    elif not rates["count"]:
        code = "nobody"
    elif rates["rate"] > rates["capacity"]:
        code = "overload"
    return Known(said(f"figure.waiting.{code}", lag=lag, **params), sums=sums, is_of_change=True)


def _parts_of_lag(lane: Lane, lag: int) -> list[Json]:
    """Empty where the parts do not come to the whole: a record that went out a second time waits for two."""
    known = _waiting_for(lane, None)
    owned = sum(known.values())
    if not lag or owned > lag:
        return []
    return [sum_of("waiting", _most_first(known), lag=lag, owned=owned, rest=lag - owned)]


def _waiting_for(lane: Lane, states: tuple[str, ...] | None) -> dict[str, int]:
    """Consumer -> records that wait for it, where there are any. states: only consumers in one of them."""
    return {
        name: count
        for name, known in lane.consumers.items()
        if (states is None or lane.state_word(known) in states) and (count := lane.reads.waiting_for(known))
    }


def _most_first(counts: dict[str, int]) -> Json | None:
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return (
        parts_of("records", [{"consumer": name, "records": count} for name, count in ranked])
        if ranked
        else None
    )


def _rates(lane: Lane) -> Json:
    """rate: records that come in a second; capacity: how many the `count` consumers at work can finish."""
    weights, shares_all = lane.reads.weights(), not lane.keys_have_owners
    working = [
        known
        for name, known in lane.consumers.items()
        if lane.state_word(known) in WORKING and (shares_all or weights.get(name))
    ]
    return {
        "rate": lane.messages.workload.rate,
        "count": len(working),
        "capacity": sum(SECOND_US // known.service_us for known in working),
    }
