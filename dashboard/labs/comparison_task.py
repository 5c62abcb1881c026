"""Works a comparison out, in the worker of queue `default`: the lab at its moment from the nearest
checkpoint, then variant by variant."""

import time
from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext_noop

from broker_core.errors import HighwaterError
from broker_core.held import Held
from broker_core.lab import journal
from broker_core.lab.kafka.group_comparison import Progress, compare
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import comparisons, selectors, writes
from dashboard.limits import core_limits
from dashboard.logs.places import write_json
from dashboard.models import Lab
from dashboard.stored import intact

SAY_EVERY_S = 0.5
TOO_LONG = gettext_noop("it took too long: this lab is too large or too old to be compared")


def work_out(lab_id: str, lane: str, until_us: int) -> None:
    """Write what comes of it as it comes. What goes wrong is written, too, and that it took longer than
    COMPARISON_S_MAX."""
    row = selectors.lab_get(lab_id=lab_id)
    if not comparisons.is_waiting(row, lane):
        return
    path = comparisons.path_of(row, lane)
    found = {**comparisons.known(path), "state": comparisons.RUNNING, "until_us": until_us}
    write_json(path, found)
    began_s = said_s = time.monotonic()
    try:
        for step in _steps(row, lane, until_us):
            now_s = time.monotonic()
            if now_s - began_s > settings.COMPARISON_S_MAX:
                write_json(path, found | {"state": comparisons.FAILED, "now": None, "reason": TOO_LONG})
                return
            row_found = None
            if isinstance(step, Progress):
                found |= {"now": step.variant.name, "share": round(step.share, 3)}
                row_found = step.row
            if row_found is not None:
                found["rows"].append(row_found)
            if row_found is not None or now_s - said_s > SAY_EVERY_S:
                said_s = now_s
                write_json(path, found)
        write_json(path, found | {"state": comparisons.DONE, "now": None, "share": 1.0})
    except HighwaterError as error:
        write_json(path, found | {"state": comparisons.FAILED, "reason": str(error)})


def _steps(row: Lab, lane: str, until_us: int) -> Iterator[Progress | Held | None]:
    """The comparison piece by piece; None, or what it waits for: the lab is still on its way to the moment."""
    scenario = scenario_from_json(intact(row.scenario), core_limits())
    checkpoint = writes.checkpoint_before(row, until_us)
    stored = [
        command
        for command in writes.commands_after(row, 0)
        if command.at_us is not None and command.at_us <= until_us
    ]
    lab = yield from journal.sought(
        scenario,
        map(writes.entry, stored),
        writes.state_of(checkpoint),
        until_us,
        core_limits(),
        {command.position for command in stored},
    )
    yield from compare(lab, lane)
