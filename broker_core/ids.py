"""Names for the plain values that travel between parts, so that a signature says which is which."""

from typing import NewType

ConsumerName = NewType("ConsumerName", str)
"""What a person calls a consumer. It survives a restart; a *session* does not."""
SessionId = NewType("SessionId", str)
"""One life of a consumer at a broker: `c4` for the first, `c4~2` after a restart."""
RigId = NewType("RigId", str)
RecordIndex = NewType("RecordIndex", int)
"""Place of a record in the lab's workload, from 0. It runs on when the data loops."""
KeyCode = NewType("KeyCode", int)
"""Small integer for a key of the workload; -1: the record has none."""
Microseconds = NewType("Microseconds", int)
