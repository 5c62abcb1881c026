"""A small deterministic world: nodes that know only what reaches them, a network that joins them, disks, and
one order of time."""
