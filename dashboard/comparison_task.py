"""Works a comparison out, in the worker of queue `default`: the lab at its moment from the nearest checkpoint, then variant by variant."""

import time

from broker_core.errors import HighwaterError
from broker_core.events import Json
from broker_core.lab import journal
from broker_core.lab.group_comparison import compare
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from dashboard import comparisons, ledger, selectors
from dashboard.limits import core_limits
from dashboard.logs.places import write_json

SAY_EVERY_S = 0.5


def work_out(lab_id: str, lane: str, until_us: int) -> None:
    """Write what comes of it as it comes. What goes wrong is written, too."""
    row = selectors.lab_get(lab_id=lab_id)
    path = comparisons.path_of(row, lane)
    found: Json = {"state": comparisons.RUNNING, "until_us": until_us, "rows": [], "now": None, "share": 0.0, "reason": ""}
    write_json(path, found)
    said_s = time.monotonic()
    try:
        scenario = scenario_from_json(row.scenario, core_limits())
        checkpoint = ledger.checkpoint_before(row, until_us)
        lab, _error = journal.begin(scenario, bytes(checkpoint.state) if checkpoint is not None else None, core_limits())
        stored = [command for command in ledger.commands_after(row, lab.position) if command.at_us is not None and command.at_us <= until_us]
        Replay(lab, map(ledger.entry, stored), until_us, {command.position for command in stored}).finish()
        for step in compare(lab, lane):
            found |= {"now": step.variant.name, "share": round(step.share, 3)}
            if step.row is not None:
                found["rows"].append(step.row)
            if step.row is not None or time.monotonic() - said_s > SAY_EVERY_S:
                said_s = time.monotonic()
                write_json(path, found)
        write_json(path, found | {"state": comparisons.DONE, "now": None, "share": 1.0})
    except HighwaterError as error:
        write_json(path, found | {"state": comparisons.FAILED, "reason": str(error)})
