"""Studies: a visitor's own messages through every strategy, on Spark.

    uploads folders sources   a person's data: files kept for a while, folders of this machine, and what the pipeline learns of them
    kinds owner               what a file of messages is, by its first bytes; whose an upload or a study is
    reader reader_child       the process with limits in which the web has files and sources read
    services selectors        every write and every read of the web side; turns says whose study is next
    waking tasks              how the web wakes the analysis worker, and the Celery task that starts its runner
    runner job engine         the analysis worker: one batch study at a time in a thread; what it needs of whatever runs studies
    spark executors live      its warm Spark and whether a cluster's executors are there; live queries beside the batch study
    preparation               what every study would do again, done once: Java's classes in an archive, the kernels compiled
    progress writes           how far a study is; what the worker writes, each write conditional on its lease
    api urls downloads        the HTTP interface          consumers watch   progress on /ws/studies/<id>/
    reasons live_reasons      why one failed, in sentences
    presentation opening      a result as words and figures; a study as a lab on the Stage

Web processes never import pyspark: `spark` in the analysis worker and `preparation` reach it through the pipeline.
"""
