"""Groups of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; a file per step.

They belong to `group_coordinator.py`, which is compared with the recorded answers; a cluster's brokers host
it.
"""
