"""Groups of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; a file per step."""
