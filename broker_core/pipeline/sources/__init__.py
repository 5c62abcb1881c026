"""Where a study's messages come from: files of people's own, Kafka's log folders, a lab, the flights, or made-up keys.

`source_check` and `source_preview` do bounded work without Spark (the web process calls them); `source_read` gives the DataFrames.
docs/analyze/sources.md tells what a source may say.
"""

from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.read import source_failure, source_read
from broker_core.pipeline.sources.rows import REASONS, SourceFailed
from broker_core.pipeline.sources.spec import source_check
from broker_core.pipeline.sources.workload import Workload

__all__ = ["REASONS", "SourceFailed", "Workload", "source_check", "source_failure", "source_preview", "source_read"]
