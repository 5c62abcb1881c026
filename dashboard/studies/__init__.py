"""Studies: a visitor's own messages through every strategy, on Spark.

    uploads folders sources   a person's data: files kept for a while, folders of this machine, and what the pipeline learns of them
    reader reader_child       the process with limits in which the web has files and sources read
    services selectors        every write and every read of the web side; turns says whose study is next
    ledger runner spark live  the analysis worker: one batch study at a time in a thread of its warm Spark, live queries beside it
    api downloads             the HTTP interface          consumers watch   progress on /ws/studies/<id>/
    reasons live_reasons      why one failed, in sentences   opening   a study as a lab on the Stage

The web processes never import pyspark: only `spark` and `live` do, inside the analysis worker.
"""
