"""How the small log is kept that the tests look into: short segments, an index row for each few batches."""

from broker_core.kafka.log.settings import LogSettings

SETTINGS = LogSettings(segment_bytes=2000, index_interval_bytes=200)
