"""What the last view already tells about a command: so that an impossible one is refused at once, at its
field.

Asked is the command's own check, the one that the lab asks when it carries the command out
(broker_core/lab/commands/). A view may be a second old in what time changes by itself, never in what commands
change, which is all that a check looks at; and the worker's answer counts.
"""

from collections.abc import Mapping
from typing import Any

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.facts import facts_of_view
from broker_core.lab.limits import Limits
from dashboard.errors import in_words


def refusal_known(view: Mapping[str, Any], body: Mapping[str, Any], limits: Limits) -> dict[str, str]:
    """The field and reason for which the lab of this view would refuse a checked command; {} when it may well
    take it."""
    try:
        command_from_json(body, limits).check_all(facts_of_view(dict(view), limits))
    except CommandError as error:
        return {error.field: in_words(error)}
    return {}


def growth_known(view: Mapping[str, Any], body: Mapping[str, Any], limits: Limits) -> tuple[int, str] | None:
    """How many parts the lab of this view has more after a checked command, and the field that says so; None
    for a command that adds nothing."""
    command = command_from_json(body, limits)
    if not command.GROWS:
        return None
    try:
        growth = command.growth(facts_of_view(dict(view), limits))
    except CommandError:
        return None  # there is no such lane: the worker says it
    return (growth, command.GROWS) if growth > 0 else None
