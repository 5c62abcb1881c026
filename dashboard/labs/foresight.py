"""What is known of a command before the worker has it: so that an impossible one is refused at once, at its
field.

Asked is the command's own check, with the facts that the worker stored beside the lab's last view
(`broker_core/lab/facts.py`). They may be a second old in what time changes, never in what commands change;
and the worker's answer counts.
"""

from broker_core.errors import CommandError
from broker_core.lab.commands.base import Command
from broker_core.lab.facts import LabFacts
from dashboard.errors import fields_of


def refusal_known(facts: LabFacts, command: Command) -> dict[str, str]:
    """The fields and reasons for which the lab would refuse the command; {} when it may well take it."""
    try:
        command.check_all(facts)
    except CommandError as error:
        return fields_of(error)
    return {}


def growth_known(facts: LabFacts, command: Command) -> tuple[int, str] | None:
    """How many parts the lab has more after the command, and the field that says so; None for a command that
    adds nothing."""
    try:
        growth = command.growth(facts)
    except CommandError:
        return None  # there is no such lane: the worker says it
    return (growth, command.GROWS) if growth > 0 else None
