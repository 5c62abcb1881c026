"""The consumer program of a group: settings, membership, positions, fetches and the poll loop, a file each;
`consumer.py` is the node."""
