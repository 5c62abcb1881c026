"""One warm Spark session: opened when the first study needs it, kept for the next, opened again when its Java
has died.

    master   "local[*]" (default: this machine), "spark://host:7077", "yarn", ...    what a user's SPARK_MASTER says
    remote   "sc://host:15002": a Spark Connect server                               what a user's SPARK_REMOTE says

Everything that Spark writes stays under `work_dir`, everything that it listens on is the loopback (unless it
drives a cluster, which must reach it), and its memory has a bound. The core reads no environment: the caller
passes what the user said.
"""

import os
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from py4j.protocol import Py4JError
from pyspark import Accumulator, SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from broker_core.pipeline.java import SparkUnavailable, java_found, java_home
from broker_core.pipeline.java_classes import archive_options
from broker_core.pipeline.masters import master_addresses, master_check, no_master

__all__ = [
    "SparkUnavailable",
    "core_archive",
    "java_home",
    "row_counter",
    "spark_is_alive",
    "spark_kill",
    "spark_open",
    "spark_stop",
]

DEFAULT_MASTER = "local[*]"
DEFAULT_DRIVER_MEMORY = "2g"
SHUFFLE_PARTITIONS = 8
"""Enough for the cores of one machine; a study's groups are few once keys are counted."""
ARROW_BATCH_ROWS = 65_536
ARROW_BATCH_BYTES = 64 << 20
"""Rows with keys of a megabyte must not make a batch of 64 GB."""
REMOTE_WAIT_S = 10
"""How long a Spark Connect server may take to answer when a session is opened; its client on its own would
try for ten minutes."""
REMOTE_RETRIES_MAX = 5
"""Of a call to a server that fell silent, within about 20 s."""
SHORT_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Java's second compiler takes half of the CPU time of its first ten seconds, and earns it back over
minutes."""
SHORT_SQL = {"spark.sql.codegen.wholeStage": "false"}
"""Java source for each query, compiled as it comes, pays where a query sees many rows in Spark; ours hand
them to Python."""
_PACKAGE = Path(__file__).resolve().parent.parent
_LOOPBACK_MASTER = re.compile(r"local(\W|$)|spark://(127\.0\.0\.1|localhost)[:,]?")
KERNEL_PLACES = "broker_core.hashing.archive_cache.ArchiveCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator"
"""Where numba keeps what it compiled: ours for the archive, then its own for sources that lie in none (numba
0.68)."""
_LOG4J = """rootLogger.level = error
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p spark %c{1}: %m%n%ex{3}
"""


def spark_open(
    *,
    work_dir: Path,
    master: str | None = None,
    remote: str | None = None,
    app: str = "highwater",
    driver_memory: str = DEFAULT_DRIVER_MEMORY,
    shuffle_partitions: int = SHUFFLE_PARTITIONS,
    java_configured: str | None = None,
    path: str | None = None,
    options: Mapping[str, str] | None = None,
    class_archives: Path | None = None,
    is_short: bool = False,
    java_options: Sequence[str] = (),
) -> SparkSession:
    """The session of this process; the one that is open already, if it is alive.

    work_dir: made if missing; holds what Spark spills and its small files. remote wins over master.
    java_configured, path: the user's JAVA_HOME and PATH. options: Spark settings that win over ours.
    class_archives: the folder where Java may find its classes ready (java_classes.py). is_short: for a study
    of a few seconds, too short to earn back what Java compiles a second time. java_options: more of them.
    Raises SparkUnavailable: no Java, no cluster, no server.
    """
    work_dir = work_dir.resolve()
    work_dir.mkdir(parents=True, exist_ok=True)
    if remote:
        return _open_remote(remote, app, shuffle_partitions, options or {}, work_dir)
    master = master or DEFAULT_MASTER
    master_check(master)
    open_already = SparkSession._instantiatedSession
    if open_already is not None and spark_is_alive(open_already):
        return open_already
    _forget_dead_session()
    home = java_home(work_dir, configured=java_configured, path=path)
    archive = archive_options(class_archives, java_found(configured=java_configured, path=path))
    java_options = [*(SHORT_JAVA if is_short else ()), *archive, *java_options]
    is_here = _LOOPBACK_MASTER.match(master) is not None
    # The Java process is started by pyspark, which hands on this process's environment: there is no other way
    # to tell it.
    os.environ["JAVA_HOME"] = str(home)  # noqa: TID251
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable  # noqa: TID251
    os.environ.pop("SPARK_REMOTE", None)  # noqa: TID251  (pyspark takes an empty one for a server, too)
    if is_here:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # noqa: TID251
    conf = SparkConf(loadDefaults=False)
    settings = (
        _settings(work_dir, driver_memory, shuffle_partitions, is_here, java_options)
        | (SHORT_SQL if is_short else {})
        | dict(options or {})
    )
    for name, value in settings.items():
        conf.set(name, value)
    try:
        spark = SparkSession.builder.config(conf=conf).appName(app).master(master).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        _forget_dead_session()
        raise _did_not_start(master, str(error) or type(error).__name__) from error
    _expect_lost_java(spark.sparkContext)
    if not master.startswith("local"):
        # Other machines run the rules: they need the core and nothing else of this project.
        spark.sparkContext.addPyFile(str(core_archive(work_dir)))
    return spark


def spark_is_alive(spark: SparkSession) -> bool:
    """Whether the session can still run something: its Java process lives and its context was not stopped."""
    try:
        context = spark.sparkContext
    except (PySparkException, AttributeError):  # Spark Connect has no local context
        return _remote_answers(spark)
    process = getattr(context._gateway, "proc", None)
    if context._jsc is None or (process is not None and process.poll() is not None):
        return False
    try:
        return not context._jsc.sc().isStopped()
    except (Py4JError, OSError):
        return False


def row_counter(spark: SparkSession) -> Accumulator[int] | None:
    """A number that tasks add to; None on a Spark Connect server, which has none."""
    return spark.sparkContext.accumulator(0) if hasattr(spark, "_jsparkSession") else None


def spark_stop(spark: SparkSession) -> None:
    """End the session and its Java process, dead or alive. The next `spark_open` starts a new one."""
    with suppress(PySparkException, Py4JError, OSError), catch_warnings():  # what is dead needs no goodbye
        simplefilter("ignore", RuntimeWarning)  # that it may be dead
        spark.stop()
    _end_gateway()
    _forget_dead_session()


def spark_kill() -> None:
    """End this process's Java at once, whatever it does: who opens a session in another thread hears that
    there is none."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()
        process.wait(timeout=30)


def core_archive(work_dir: Path) -> Path:
    """The core's Python files as one archive, the same bytes for the same files."""
    archive = work_dir / "broker_core.zip"
    beside = archive.with_suffix(".new")
    with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(_PACKAGE.rglob("*.py")):
            out.writestr(
                zipfile.ZipInfo(str(file.relative_to(_PACKAGE.parent))),
                file.read_bytes(),
                zipfile.ZIP_DEFLATED,
            )
    beside.replace(archive)
    return archive


def _settings(
    work_dir: Path, driver_memory: str, shuffle_partitions: int, is_here: bool, java: Sequence[str]
) -> dict[str, str]:
    log4j = work_dir / "log4j2.properties"
    log4j.write_text(_LOG4J)
    settings = {
        "spark.driver.memory": driver_memory,
        "spark.driver.maxResultSize": "512m",
        "spark.driver.extraJavaOptions": " ".join(
            f'"{option}"' for option in (f"-Dlog4j2.configurationFile={log4j.as_uri()}", *java)
        ),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(work_dir / "local"),
        "spark.sql.warehouse.dir": (work_dir / "warehouse").as_uri(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_BATCH_ROWS),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(ARROW_BATCH_BYTES),
        # Without it a source that offers to prune by offset and time is refused.
        "spark.sql.python.filterPushdown.enabled": "true",
        # A live study's small batches go between the tasks of a long one.
        "spark.scheduler.mode": "FAIR",
        # Python workers find the core wherever the process that started them was started.
        "spark.executorEnv.PYTHONPATH": str(_PACKAGE.parent),
        "spark.executorEnv.NUMBA_CACHE_LOCATOR_CLASSES": KERNEL_PLACES,
    }
    if is_here:
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return settings


def _open_remote(
    remote: str, app: str, shuffle_partitions: int, options: Mapping[str, str], work_dir: Path
) -> SparkSession:
    # Both need gRPC, which only those who name a server need to load.
    from grpc import FutureTimeoutError, channel_ready_future
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy

    try:
        channel = DefaultChannelBuilder(remote).toChannel()
        try:
            channel_ready_future(channel).result(timeout=REMOTE_WAIT_S)
        finally:
            channel.close()
        builder = SparkSession.builder.remote(remote).appName(app)
        builder = builder.config("spark.sql.shuffle.partitions", str(shuffle_partitions)).config(
            "spark.sql.session.timeZone", "UTC"
        )
        builder = builder.config("spark.sql.python.filterPushdown.enabled", "true")
        for name, value in options.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.client.set_retry_policies([DefaultPolicy(max_retries=REMOTE_RETRIES_MAX)])
        # The server's workers run the rules: they need the core and nothing else of this project.
        spark.addArtifacts(str(core_archive(work_dir)), pyfile=True)
        return spark
    except FutureTimeoutError as error:
        reason = f"{REMOTE_WAIT_S} s"
        raise SparkUnavailable(
            "Spark Connect at {remote} does not respond: {reason}", remote=remote, reason=reason
        ) from error
    except (PySparkException, RuntimeError, ValueError, OSError) as error:
        raise SparkUnavailable(
            "Spark Connect at {remote} does not respond: {reason}", remote=remote, reason=_first_line(error)
        ) from error


def _expect_lost_java(context: SparkContext) -> None:
    """pyspark's server of accumulators prints a traceback when Java hangs up on it; the next call to Java
    reports the loss."""
    server = context._accumulatorServer
    told = server.handle_error

    def handle_error(request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), EOFError | OSError):
            told(request, client_address)

    server.handle_error = handle_error  # type: ignore[method-assign]


def _remote_answers(spark: SparkSession) -> bool:
    try:
        return bool(spark.version)
    except Exception:  # whatever a lost server looks like, the answer is no
        return False


def _end_gateway() -> None:
    """End the Java process, which otherwise outlives its context until this process ends."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    try:
        gateway.shutdown()
    except (Py4JError, OSError):
        pass  # it is dead already
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # what it waits on
        process.wait(timeout=30)


def _forget_dead_session() -> None:
    """pyspark keeps a dead Java's address for good; without it the next session starts another."""
    context = SparkContext._active_spark_context
    if context is not None and context._jsc is not None:
        with suppress(Py4JError, OSError), catch_warnings():  # the Java that it would tell is the dead one
            simplefilter("ignore", RuntimeWarning)
            context.stop()
    SparkContext._active_spark_context = None
    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or process.poll() is not None:
        SparkContext._gateway = None
        SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def _did_not_start(master: str, text: str) -> SparkUnavailable:
    """What Spark said, for a person. Where a listener is not a master, its context gives up after a minute
    and is found stopped."""
    if master_addresses(master) and "stopped SparkContext" in text:
        return no_master(master)
    lines = [
        line.removeprefix(": ")
        for line in text.splitlines()
        if line.strip() and not line.startswith("An error occurred while calling")
    ]
    return SparkUnavailable(
        "Spark did not start on {master}: {reason}", master=master, reason=(lines or [text])[0][:300]
    )


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
