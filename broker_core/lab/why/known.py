"""What is known of a thing at a moment, apart from its history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from broker_core.errors import CommandError
from broker_core.events import Json

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

PARTS_MAX = 24
UNSAID = object()
"""A turning point that says nothing of an owner."""


@dataclass(slots=True)
class Known:
    """says: what the thing is now, {code, params}, whose words are in the page's catalogue. sums: how its numbers
    are made up, {code, params, parts: {code, items, more} or None}. is_about: whether a turning point, as JSON, is
    about it. owner: of a partition; owner_after: whose it was right after a turning point, UNSAID where that says
    nothing. is_of_change: it is a figure of the lane's last change, and its history is that change's."""

    says: Json
    is_about: Callable[[Json], bool] = lambda event: False
    sums: list[Json] = field(default_factory=list)
    owner: str | None = None
    owner_after: Callable[[Json], Any] | None = None
    is_of_change: bool = False


Finder = Callable[["Lane", str], Known]


def said(code: str, **params: Any) -> Json:
    return {"code": f"why.is.{code}", "params": params}


def sum_of(code: str, parts: Json | None = None, /, **params: Any) -> Json:
    return {"code": f"why.sum.{code}", "params": params, "parts": parts}


def parts_of(code: str, items: Sequence[Json], most: int = PARTS_MAX) -> Json:
    """Entries of a sum; of many the first, and how many more there are."""
    return {"code": f"why.part.{code}", "items": list(items[:most]), "more": max(0, len(items) - most)}


def told_of(event: Json) -> Json:
    return {**event["inputs"], **event["data"]}


def unknown(kind: str, name: str) -> CommandError:
    return CommandError("thing", "{thing} is not in this lane", thing=f"{kind}:{name}")
