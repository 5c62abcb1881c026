"""The Spark of a bench: of its own, so that it finds nothing warm. In a smoke all benches of a process have one, as
each start takes ten seconds of processor time."""

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from broker_core.pipeline.session import spark_open, spark_stop
from tests.bench.smoke import is_smoke


@contextmanager
def bench_spark(
    folder: Path, *, master: str = "local[2]", driver_memory: str = "2g"
) -> Iterator[SparkSession]:
    """folder: where it may write."""
    if is_smoke():
        yield _of_the_process()
        return
    spark = _opened(folder, master, driver_memory)
    try:
        yield spark
    finally:
        spark_stop(spark)


@cache
def _of_the_process() -> SparkSession:
    folder = tempfile.TemporaryDirectory(prefix="highwater-bench-")
    spark = _opened(Path(folder.name), "local[2]", "1g")
    atexit.register(folder.cleanup)
    atexit.register(spark_stop, spark)  # before its folder goes
    return spark


def _opened(folder: Path, master: str, driver_memory: str) -> SparkSession:
    return spark_open(
        work_dir=folder / "spark",
        master=master,
        driver_memory=driver_memory,
        path=os.environ.get("PATH"),
        java_configured=os.environ.get("JAVA_HOME"),
    )
