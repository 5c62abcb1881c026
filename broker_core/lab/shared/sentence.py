"""A lane's sentence as it is at the moment of a view: its numbers are the bill's and the picture's, asked
again for each view.

A lane says a sentence when something happens; some of its numbers go on changing after that. They come from
where the figures beside the sentence come from, so that the two never differ.
"""

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.shared.codes import code_now
from broker_core.lab.shared.shares import units_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

OF_THE_BILL = ("keys_moved", "keys_total", "partitions_moved", "partitions_total", "pause_us")
"""Numbers that stand beside the sentence as figures under the same name."""

SILENT = frozenset(
    {
        "pulsar.crash_pending",
        "pulsar.exclusive.crash_pending",
        "pulsar.failover.crash_pending",
        "pulsar.shared.crash_pending",
        "rabbitmq.crash_pending",
    }
)
"""Sentences about a silent consumer that tell how many unacknowledged messages it holds."""

PAUSED = frozenset(
    {
        "kafka.paused",
        "pulsar.paused",
        "pulsar.exclusive.paused",
        "pulsar.failover.paused",
        "pulsar.shared.paused",
        "rabbitmq.paused",
        "rabbitmq.paused_former",
        "tubemq.paused",
    }
)
"""Sentences about a consumer that a person has paused."""


def sentence_view(lane: "Lane", bill: Json | None) -> Json:
    """`{"code", "params"}` of the lane's sentence now. bill: the view's, None before the first change."""
    sentence = lane.narrator.sentence_now(lane)
    code, params = sentence["code"], dict(sentence["params"])
    if bill is not None:
        params |= {name: bill[name] for name in OF_THE_BILL if name in params}
        if "read_again" in params:
            # What earlier changes left to be read again may be on the same bill.
            params["redelivered"] = min(bill["redelivered"], params["read_again"])
    consumer = lane.consumers.get(params.get("consumer", ""))
    if consumer is not None:
        if code in SILENT:
            params["unacked"] = lane.reads.held(consumer)
        elif code in PAUSED:
            params |= {"held": lane.reads.held(consumer), "partitions": units_of(lane, consumer.name)}
    return {"code": code_now(code, params), "params": params}
