"""Figures of a lane: what its last change cost (`figure`: moved, paused, redelivered, out of order; and how even the
load is, and what waits), and what all changes since the lab began have cost together (`total`)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.consumer import GONE
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.shares import skew_milli
from broker_core.lab.why.known import Known, parts_of, said, sum_of, unknown
from broker_core.lab.why.waiting import waiting

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

SKEW, WAITING = "skew", "waiting"


def figure(lane: Lane, name: str) -> Known:
    if name == SKEW:
        return Known(said("figure.skew"), sums=_skew(lane), is_of_change=True)
    if name == WAITING:
        return waiting(lane)
    if name not in _SUMS:
        raise unknown("figure", name)
    bill, view = lane.ledger.bill, lane.ledger.bill_view()
    if bill is None or view is None:
        return Known(said("figure.none"), is_of_change=True)
    return Known(said(f"figure.{name}"), sums=_SUMS[name](lane, bill, view), is_of_change=True)


def total(lane: Lane, name: str) -> Known:
    """What the tally and a comparison show, each with the part of the last change in it."""
    if name not in _TOTALS:
        raise unknown("total", name)
    return Known(said(f"total.{name}"), sums=_TOTALS[name](lane), is_of_change=True)


def _moved(lane: Lane, bill: Bill, view: Json) -> list[Json]:
    if not lane.keys_have_owners:
        return [sum_of("moved_none")]
    sums = [
        sum_of("moved_keys", _moves(lane, bill, view), moved=view["keys_moved"], total=view["keys_total"])
    ]
    units = lane.reads.units()
    if units is not None:
        before = bill.units_before or {}
        items = [{"name": unit, "from": before.get(unit), "to": units.get(unit)} for unit in bill.moved_units]
        parts = parts_of("moved_unit", items) if items else None
        sums.append(
            sum_of("moved_units", parts, moved=view["partitions_moved"], total=view["partitions_total"])
        )
    elif view["space_moved"] is not None:
        sums.append(sum_of("moved_space", share=view["space_moved"]))
    return sums


def _moves(lane: Lane, bill: Bill, view: Json) -> Json | None:
    """From whom to whom, the most keys first; None where what happened since has changed it again."""
    before, now = bill.owners_before or [], lane.reads.key_owners() or []
    moves = Counter((was, owner) for was, owner in zip(before, now, strict=False) if was != owner)
    if not moves or moves.total() != view["keys_moved"]:
        return None
    ranked = sorted(moves.items(), key=lambda item: (-item[1], str(item[0])))
    return parts_of("moved_keys", [{"from": was, "to": owner, "keys": keys} for (was, owner), keys in ranked])


def _paused(lane: Lane, bill: Bill, view: Json) -> list[Json]:
    stopped = lane.reads.stopped()
    sums = []
    if view["pause_us"] and bill.paused_from_us is not None and view["pause_us"] == bill.pause_us:
        from_us = bill.paused_from_us
        sums.append(
            sum_of("paused", pause_us=bill.pause_us, from_us=from_us, until_us=from_us + bill.pause_us)
        )
    elif view["pause_us"] and stopped:
        sums.append(sum_of("paused_still", pause_us=view["pause_us"], from_us=lane.now_us - view["pause_us"]))
    elif not view["pause_us"]:
        sums.append(sum_of("paused_none"))
    if stopped:
        items = [{"name": str(unit), "since_us": since_us} for unit, since_us in stopped.items()]
        sums.append(sum_of("stopped", parts_of("stopped", items), count=len(items)))
    return sums


def _redelivered(lane: Lane, bill: Bill, view: Json) -> list[Json]:
    now = lane.reads.redelivered()
    return [_difference("redelivered", now, bill.redelivered_from)]


def _out_of_order(lane: Lane, bill: Bill, view: Json) -> list[Json]:
    return [_difference("out_of_order", lane.ledger.tally.order.count, bill.out_of_order_from)]


def _difference(code: str, now: int, before: int) -> Json:
    return sum_of(code, count=now - before, total=now, before=before)


def _skew(lane: Lane) -> list[Json]:
    skew = skew_milli(lane)
    if skew is None:
        return [sum_of("skew_none")]
    weights = lane.reads.weights()
    counted = [name for name, known in lane.consumers.items() if weights.get(name, 0) or known.state != GONE]
    most = max(counted, key=lambda name: weights.get(name, 0))
    total = sum(weights.get(name, 0) for name in counted)
    items = [{"consumer": name, "records": weights.get(name, 0)} for name in counted]
    return [
        sum_of(
            "skew",
            parts_of("records", items),
            skew=skew / 1000,
            consumer=most,
            most=weights.get(most, 0),
            total=total,
            count=len(counted),
        )
    ]


def _total_moved(lane: Lane) -> list[Json]:
    if not lane.keys_have_owners:
        return [sum_of("moved_none")]
    bill, before = _last(lane), lane.ledger.tally.keys_moved
    return [_split(before + (bill.keys_moved if bill else 0), before if bill else None)]


def _total_paused(lane: Lane) -> list[Json]:
    darkness = lane.ledger.tally.darkness
    mean_us, unit_us = darkness.mean_us_at(lane.now_us), darkness.unit_us_at(lane.now_us)
    sums = [sum_of("total_paused", mean_us=mean_us, unit_us=unit_us, units=darkness.units)]
    if darkness.dark:
        of = {"dark": darkness.dark, "units": darkness.units}
        sums.append(sum_of("dark_now", from_us=darkness.level_us, **of))
    return sums


def _total_redelivered(lane: Lane) -> list[Json]:
    bill = _last(lane)
    return [_split(lane.reads.redelivered(), bill.redelivered_from if bill else None)]


def _total_out_of_order(lane: Lane) -> list[Json]:
    bill = _last(lane)
    return [_split(lane.ledger.tally.order.count, bill.out_of_order_from if bill else None)]


def _total_lost(lane: Lane) -> list[Json]:
    lost = lane.reads.lost()
    return [sum_of("lost_uncounted") if lost is None else sum_of("lost", count=lost)]


def _last(lane: Lane) -> Bill | None:
    """The bill of the last change; None before the first, as who is there from the start changed nothing."""
    bill = lane.ledger.bill
    return None if bill is None or bill.position == 0 else bill


def _split(now: int, before: int | None) -> Json:
    """before: what it was when the last change began, None where there was none."""
    if before is None:
        return sum_of("total_unchanged", total=now)
    return sum_of("total", total=now, before=before, last=now - before)


_SUMS = {
    "moved": _moved,
    "paused": _paused,
    "redelivered": _redelivered,
    "out_of_order": _out_of_order,
}
FIGURES = (*_SUMS, SKEW, WAITING)
_TOTALS = {
    "moved": _total_moved,
    "paused": _total_paused,
    "redelivered": _total_redelivered,
    "out_of_order": _total_out_of_order,
    "lost": _total_lost,
}
TOTALS = tuple(_TOTALS)
