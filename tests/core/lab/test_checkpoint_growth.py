"""A checkpoint grows with what waits, and not with the age of a lab: what all have read leaves the logs, and what is
drawn over time has a window."""

from broker_core.lab.checkpoint import pack
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

MINUTE_US = 60_000_000
WINDOWS_FULL_US = 11 * MINUTE_US
"""The longest window is ten minutes."""


def test_a_checkpoint_of_a_lab_whose_consumers_keep_up_does_not_grow_with_its_age() -> None:
    lab = Lab(
        scenario_from_json(
            {
                "workload": {"kind": "uniform", "keys": 40, "rate": 3},
                "consumer_rate": 30,
                "lanes": [{"model": model} for model in ("pulsar", "kafka", "tubemq", "rabbitmq")],
            }
        )
    )
    lab.advance_to(WINDOWS_FULL_US)
    young = len(pack(lab.checkpoint()))
    lab.advance_to(4 * WINDOWS_FULL_US)
    assert sum(lane.reads.lag() for lane in lab.lanes.values()) < 40, "they keep up"
    assert len(pack(lab.checkpoint())) < 1.05 * young
