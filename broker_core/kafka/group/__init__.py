"""Consumer groups as their coordinator sees them, compared with all recorded answers. A cluster's brokers
host it (`kafka/cluster/groups.py`).

`group_coordinator` takes requests and timers; `classic/`, `consumer/` and `offset/` have a file per protocol
step, which runs in the coordinator's `runtime`; `records` and what reads them is what `__consumer_offsets`
holds.
"""
