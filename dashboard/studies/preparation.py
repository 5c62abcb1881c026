"""What every study would otherwise do again, done once: Java's classes in an archive, the kernels compiled.

    small studies, by the short way and by the long one ─► the classes that Java loaded ─► java -Xshare:dump ─► var/java/….jsa
                                                       └► numba's cache beside the sources

`make install` starts it in the background; a study that does not find the archive works without, a few
CPU-seconds slower.
"""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from django.conf import settings

from broker_core.pipeline.java import SparkUnavailable, java_found
from broker_core.pipeline.java_classes import QUIET, SUFFIX, archive_path

DUMP_S_MAX = 600
ROWS = 200
SERVICE = {"rate": 50, "consumer_rate": 30, "records_max": 1_000}
HISTORY = {"kind": "given", "start": 2, "changes": [{"kind": "join", "consumer": None, "at": None}]}


def prepare(folder: Path | None = None) -> Path | None:
    """Make the archive if it is missing, and compile what is not compiled. Returns it; None: another process
    is at it, or there is no Java.

    folder: of the archives, by default the settings'. Older archives in it go. Raises SparkUnavailable,
    OSError, subprocess.CalledProcessError where Java cannot write one.
    """
    folder = folder or settings.SPARK_CLASSES
    folder.mkdir(parents=True, exist_ok=True)
    java = java_found(configured=os.environ.get("JAVA_HOME"), path=os.environ.get("PATH"))
    archive = archive_path(folder, java)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if archive.is_file():
            return archive
        with tempfile.TemporaryDirectory(prefix="highwater-prepare-") as work:
            classes = Path(work) / "classes"
            class_path = _studies(Path(work), classes)
            made = folder / "made.part"
            command = [
                str(java.home / "bin" / "java"),
                "-Xshare:dump",
                "-XX:+UseSerialGC",
                QUIET,
                f"-XX:SharedClassListFile={classes}",
                f"-XX:SharedArchiveFile={made}",
                "-cp",
                class_path,
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=DUMP_S_MAX)
        for old in folder.glob(f"*{SUFFIX}"):
            old.unlink()
        made.replace(archive)
    return archive


def _studies(work: Path, classes: Path) -> str:
    """Run two small studies; Java lists its classes. Returns its class path."""
    from broker_core.pipeline.session import spark_open, spark_stop
    from broker_core.pipeline.strategies import strategies_offered
    from broker_core.pipeline.study import study_check, study_run

    rows = "".join(f"2026-01-01T00:00:{row % 60:02d}Z,k{row % 40},{row}\n" for row in range(ROWS))
    # A study of one task needs no shuffle; one of more does.
    for name, count in (("one", 1), ("many", 2)):
        (work / name).mkdir()
        for number in range(count):
            (work / name / f"{number}.csv").write_text("at,key,size\n" + rows)
    spark = spark_open(
        work_dir=work / "spark",
        master="local[2]",
        java_configured=os.environ.get("JAVA_HOME"),
        path=os.environ.get("PATH"),
        java_options=(f"-XX:DumpLoadedClassList={classes}",),
        is_short=True,
    )
    try:
        class_path: str = spark.sparkContext._jvm.java.lang.System.getProperty("java.class.path")
        for name in ("one", "many"):
            source = {"kind": "csv", "path": str(work / name), "key": "key", "time": "at", "size": "size"}
            strategies = [f"{each['model']}.{each['algorithm']}" for each in strategies_offered()]
            wanted = {"source": source, "strategies": strategies, "history": HISTORY, "service": SERVICE}
            study_run(spark, study_check(wanted), work / f"{name}-result", lambda _: None, lambda: False)
    finally:
        spark_stop(spark)
    return class_path


__all__ = ["SparkUnavailable", "prepare"]
