"""How a partition's replicas follow their leader: docs/kafka/replication.md. Begin with partition.py, then
fetcher.py."""
