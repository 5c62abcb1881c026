"""What the view already rules out is refused at once, just as the lab itself would refuse it."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.command import KINDS, check_command
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.foresight import refusal_known


@pytest.fixture
def lab() -> Lab:
    """c1 works, c2 is paused, c3 is slow, c4 has crashed unnoticed, c5 has left."""
    lab = Lab(scenario_from_json({"consumers": 5, "workload": {"kind": "uniform", "keys": 20, "rate": 20}}))
    lab.advance_to(9_000_000)
    for number, (kind, consumer) in enumerate([("pause", "c2"), ("slow", "c3"), ("crash", "c4"), ("leave", "c5")]):
        lab.submit({"command_id": f"x{number}", "kind": kind, "consumer": consumer})
    return lab


@pytest.mark.parametrize("consumer", ["c1", "c2", "c3", "c4", "c5", "c6"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in ("join", "leave", "crash", "rejoin", "pause", "resume", "slow")])
def test_foresight_and_lab_agree(lab: Lab, kind: str, consumer: str) -> None:
    command = check_command({"command_id": "y1", "kind": kind, "consumer": consumer})
    foreseen = refusal_known(lab.view(), command, 512)
    try:
        lab.submit({**command, "position": lab.position + 1})
        refused = None
    except CommandError as error:
        refused = error.field
    assert list(foreseen) == ([refused] if refused else [])
