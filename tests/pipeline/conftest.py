"""One Spark for all tests of the pipeline: it takes seconds to start. It runs on the Java that a study would find,
with the classes that `make install` has prepared for it where they are."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from broker_core.pipeline.session import spark_open, spark_stop
from mqsite.keeper import ROOT
from tests.quick_java import QUICK_JAVA


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        session = spark_open(
            work_dir=tmp_path_factory.mktemp("spark"),
            master="local[2]",
            driver_memory="2g",
            shuffle_partitions=2,
            java_configured=os.environ.get("JAVA_HOME"),
            path=os.environ.get("PATH"),
            class_archives=ROOT / "var" / "java",
        )
    yield session
    spark_stop(session)
