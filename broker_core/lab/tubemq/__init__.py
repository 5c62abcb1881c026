"""A TubeMQ lane: a master, brokers and clients that share partitions among themselves; `operator.py` runs the group,
`views/` holds what the Stage draws."""
