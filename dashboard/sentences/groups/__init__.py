"""Words of the Group page, by its panels."""

from dashboard.sentences.groups.health import HEALTH
from dashboard.sentences.groups.members import MEMBERS
from dashboard.sentences.groups.protocol import PROTOCOL

GROUPS = {**PROTOCOL, **MEMBERS, **HEALTH}
