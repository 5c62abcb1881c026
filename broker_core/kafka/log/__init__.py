"""Kafka's log on disk, byte for byte: record batches, segments with their indexes, retention and compaction.

Where to begin: `record_batch.py` (what is stored), `segment.py` (one file and its two indexes),
`partition_log.py` (all of them together). docs/kafka/log.md has the pictures.
"""
