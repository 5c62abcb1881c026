"""A lane of either kind, while the models move from rigs onto worlds one after the other (issue 13)."""

from broker_core.lab.lanes.lane import Lane
from broker_core.lab.rig import Rig

AnyLane = Rig | Lane
