"""Time travel: a lab at any moment is its scenario, its commands up to there, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.errors import CommandError, ReplayError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.scenario import Scenario

CHECKPOINT_RECORDS = 2_000


def replay(scenario: Scenario, commands: Sequence[Json], until_us: int, *, lab: Lab | None = None, limits: Limits = DEFAULT_LIMITS) -> Lab:
    """The lab at `until_us`: each command carried out at its own time, those after `until_us` left out.

    commands: the journal, by position; each with "position" and "at_us". lab: go on from this one (a restored checkpoint) instead of from
    the start; commands that it has carried out are skipped. Raises ReplayError for a command that cannot be what was once accepted.
    """
    lab = lab or Lab(scenario, limits)
    for command in commands:
        if command["position"] <= lab.position:
            continue
        if command["at_us"] > until_us:
            break
        if command["at_us"] < lab.now_us:
            raise ReplayError(command["position"], command["kind"], f"is dated {command['at_us']} us, before the {lab.now_us} us it follows")
        lab.advance_to(command["at_us"])
        if command["kind"] == "step" and lab.next_arrival_us > until_us:
            break  # the step leads beyond the moment that is asked for
        try:
            lab.submit(command)
        except CommandError as error:
            raise ReplayError(command["position"], str(command.get("kind")), f"is refused: {error}") from error
    lab.advance_to(max(until_us, lab.now_us))
    return lab


@dataclass(slots=True)
class Journal:
    """What a lab's whole life is made of, with checkpoints so that seeking is quick. The save format, the share link and the bug report.

    commands: by position. checkpoints: virtual time -> state, ascending, one about every CHECKPOINT_RECORDS records.
    """

    scenario: Scenario
    commands: list[Json] = field(default_factory=list)
    checkpoints: dict[int, bytes] = field(default_factory=dict)
    checkpoint_records: int = 0

    def keep(self, lab: Lab) -> bool:
        """Take a checkpoint if it is time for one. Returns whether it was."""
        if lab.record_count - self.checkpoint_records < CHECKPOINT_RECORDS:
            return False
        self.checkpoints[lab.now_us] = lab.checkpoint()
        self.checkpoint_records = lab.record_count
        return True

    def seek(self, at_us: int, limits: Limits = DEFAULT_LIMITS) -> Lab:
        """The lab as it was at `at_us`, from the nearest checkpoint before it."""
        start = max((time for time in self.checkpoints if time <= at_us), default=None)
        lab = None if start is None else Lab.restore(self.scenario, self.checkpoints[start], limits)
        return replay(self.scenario, self.commands, at_us, lab=lab, limits=limits)

    def fork(self, at_us: int) -> "Journal":
        """A journal of its own that shares everything up to and including `at_us`."""
        commands = [command for command in self.commands if command["at_us"] <= at_us]
        kept = {time: blob for time, blob in self.checkpoints.items() if time <= at_us}
        return Journal(self.scenario, commands, kept)
