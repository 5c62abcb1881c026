"""Where a study's messages come from: files of people's own, Kafka's log folders, a lab, the flights, or
made-up keys.

`spec.source_check` and `preview.source_preview` do bounded work without Spark (the web process calls them);
`read.source_read` gives the DataFrames. docs/analyze/sources.md tells what a source may say. Nothing is
imported here: Spark starts a Python process for each reading of a log folder, and would wait for all of it
each time.
"""
