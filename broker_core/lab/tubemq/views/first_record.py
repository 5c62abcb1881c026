"""How long a client took from start() to its first record, in parts, and apart from it what is not TubeMQ's: its process
starts, refusals, and the time in which there is nothing for it."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState
from broker_core.tubemq.group import Member

APART = ("boot", "refused", "nothing")
"""Parts that are not counted."""


def first_record(client: ProgramState | PullConsumerState, member: Member | None, now_us: int) -> Json | None:
    """{us, is_over, parts: [[name, us], ...], apart: the same}; null before the process starts. member: at the master."""
    if client.launched_us is None:
        return None
    marks = _own(client) if isinstance(client, ProgramState) else _served(client, member)
    end_us = first_record_us(client)
    parts = _between(client.launched_us, marks, now_us if end_us is None else end_us)
    added = _added(parts)
    counted = [[name, us] for name, us in added.items() if name not in APART]
    apart = [[name, us] for name, us in added.items() if name in APART]
    return {
        "us": sum(us for name, us in added.items() if name not in APART), "is_over": end_us is not None, "parts": counted, "apart": apart,
    }  # fmt: skip


def first_record_us(client: ProgramState | PullConsumerState) -> int | None:
    """When it had its first record, None: not yet."""
    return client.first_record_us


def _own(client: ProgramState) -> list[tuple[str, int | None]]:
    """A refusal by a broker counts like one by the master: the pass that registered a partition is what it needs."""
    return [
        ("boot", client.first_start_us), ("refused", client.start_us), ("reads", client.mapped_us), ("nothing", client.given_us),
        ("refused", client.asked_us), ("reads", None),
    ]  # fmt: skip


def _served(client: PullConsumerState, member: Member | None) -> list[tuple[str, int | None]]:
    marks: list[tuple[str, int | None]] = [("boot", client.first_start_us), ("refused", client.start_us)]
    if member is None:
        return [*marks, ("reads", None)]
    wait = member.wait
    seen = [
        ("cycle", wait.planned_us),
        ("loser", wait.heard_us),
        ("report", wait.done_us),
        ("gainer", wait.gained_us),
    ]
    # A step after the one that it waits for has not begun; one that has been passed over had no part.
    last = max([place for place, (_, at_us) in enumerate(seen) if at_us >= 0], default=-1)
    steps = [(name, at_us) for name, at_us in seen[: last + 1] if at_us >= 0]
    following = seen[last + 1][0] if last + 1 < len(seen) else "reads"
    return [*marks, *steps, (following, None)]


def _added(parts: list[tuple[str, int]]) -> dict[str, int]:
    """The time of each, where it comes twice together."""
    added: dict[str, int] = {}
    for name, us in parts:
        added[name] = added.get(name, 0) + us
    return added


def _between(from_us: int, marks: Sequence[tuple[str, int | None]], to_us: int) -> list[tuple[str, int]]:
    """Each part until its mark; one without a mark is under way."""
    parts: list[tuple[str, int]] = []
    for name, at_us in marks:
        until_us = to_us if at_us is None else min(max(at_us, from_us), to_us)
        if until_us > from_us:
            parts.append((name, until_us - from_us))
        from_us = until_us
        if at_us is None:
            break
    return parts
