"""Consumer groups as their coordinator sees them, twice: docs/decisions/two-group-coordinators.md says which
one the Stage runs.

The lane's: `group`, `join`, `sync`, `heartbeat`, `leave`, `offsets`. Compared with all recorded answers:
`group_coordinator` and what it imports.
"""
