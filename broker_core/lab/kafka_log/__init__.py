"""Kafka's log as a lab shows it: a replica's own, as Kafka's files (`replica_log.py`), looked at as the page asks
(`opened.py` and what builds on it).

The log itself is `broker_core/kafka/log/`; nothing here knows the format.
"""
