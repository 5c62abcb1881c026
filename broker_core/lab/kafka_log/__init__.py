"""Kafka's log as a lab shows it: a replica's own (`replica_log.py`), or derived from the workload while
nothing else acts on it (`lane.py`, `derivable.py`), looked at as the page asks (`opened.py` and what builds on it).

The log itself is `broker_core/kafka/log/`; nothing here knows the format.
"""
