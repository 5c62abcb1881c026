"""What the check of a Pulsar lane's orders may know of it."""

from __future__ import annotations

from broker_core.lab.pulsar.lane import PulsarRules
from broker_core.lab.shared.facts import LaneFacts, facts_of_any
from broker_core.lab.shared.lane import Lane


class PulsarFacts(LaneFacts, frozen=True, kw_only=True, tag="pulsar"):
    """A Pulsar lane."""

    order: str | None  # the order rule of Key_Shared; None for other subscription types
    has_receipts: bool  # its producer waits for them


def pulsar_facts(lane: Lane, rules: PulsarRules) -> PulsarFacts:
    return PulsarFacts(**facts_of_any(lane), order=rules.order, has_receipts=rules.receipts)  # type: ignore[arg-type]
