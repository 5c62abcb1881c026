"""How a study ends early, and what Spark and the disk throw, in sentences for a person."""

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from broker_core.errors import CommandError, HighwaterError, SentenceError

FAULT = "Highwater itself failed: {reason}"
"""Template of a failure that no other request and no better data would mend: it comes from our code in
Spark's Python workers."""
_FAULT_CHARACTERS_MAX = 300

IsCancelled = Callable[[], bool]


class StudyCancelled(HighwaterError):
    """The person who asked for the study no longer wants it."""


class StudyFailed(SentenceError):
    """The study cannot be finished."""


@contextmanager
def explained(is_cancelled: IsCancelled) -> Iterator[None]:
    """Turn what Spark and the disk throw into our own errors; what is neither's goes on as it is."""
    try:
        yield
    except (CommandError, StudyCancelled, StudyFailed):
        raise
    except Exception as error:
        if is_cancelled():
            # A cancelled Spark job ends in many ways; whichever it is, that is what was asked for.
            raise StudyCancelled("the study was cancelled") from error
        failed = _failure(error)
        if failed is None:
            raise
        raise failed from error


def _failure(error: Exception) -> StudyFailed | None:
    from broker_core.pipeline.sources.read import source_failure

    text, is_spark = str(error), type(error).__module__.startswith(("pyspark.", "py4j."))
    if said := source_failure(error):
        return StudyFailed("the source cannot be read: {reason}", reason=said)
    if (isinstance(error, OSError) and error.errno == errno.ENOSPC) or "No space left on device" in text:
        return StudyFailed("the disk is full: free some space, then run the study again")
    if "MemoryError" in text or "Cannot allocate memory" in text or isinstance(error, MemoryError):
        return StudyFailed("Spark ran out of memory: give it more, or study fewer records")
    if (
        isinstance(error, ConnectionError)
        or _UNANSWERED.fullmatch(text)
        or any(sign in text for sign in _LOST)
    ):
        return StudyFailed("Spark was lost while the study ran: run it again")
    if isinstance(error, OSError):
        return StudyFailed("the result cannot be written: {reason}", reason=error.strerror or text[:200])
    if is_spark and (said := _worker_said(text)):
        return StudyFailed(FAULT, reason=said)
    if is_spark and "ExecutorLostFailure" in text:
        return StudyFailed(
            "a Spark executor ended while it worked, often because memory ran out: give it more, or "
            "study fewer records"
        )
    if is_spark and (said := _java_said(text)):
        return StudyFailed("Spark failed: {reason}", reason=said)
    if is_spark:
        return StudyFailed("Spark failed and gave no reason: see the log of the analysis worker")
    return None


def _java_said(text: str) -> str | None:
    """What Java gave as the reason: the message of the innermost cause, without its package, its task and its
    stack; None if there is none.

    Source: the text of py4j 0.10.9's Py4JJavaError ("An error occurred while calling o1.f." and then Java's
    own print of the exception), and Spark 4's DAGScheduler and TaskSetManager for "Job aborted due to stage
    failure: ... Lost task ... (host executor 1): ...".
    """
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not _CALLED.fullmatch(line.strip())
    ]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    if not lines:
        return None
    said = (causes[-1] if causes else lines[0]).removeprefix("Caused by: ").removeprefix(": ")
    said = said.removeprefix("org.apache.spark.SparkException: ").removeprefix(
        "Job aborted due to stage failure: "
    )
    said = _PACKAGE.sub("", _LOST_TASK.sub("", said))
    return said[:300] or None


def _worker_said(text: str) -> str | None:
    """What a Python worker of Spark broke off with: the last line of its traceback; None if there is none.

    Source: the text of pyspark 4.3's PythonException: an introduction, the traceback, "SQLSTATE: 38000", the
    JVM's stack.
    """
    _, found, traceback = text.partition("Traceback (most recent call last):")
    lines = [
        line.strip()
        for line in traceback.partition("SQLSTATE:")[0].partition("JVM stacktrace:")[0].splitlines()
    ]
    return next((line[:_FAULT_CHARACTERS_MAX] for line in reversed(lines) if line), None) if found else None


_LOST = (
    "SparkContext was shut down",
    "Connection refused",
    "Answer from Java side is empty",
    "Error while sending or receiving",
    "An error occurred while trying to connect to the Java server",
    "StatusCode.UNAVAILABLE",
)
_UNANSWERED = re.compile(r"An error occurred while calling \S+|\S+ does not exist in the JVM")
"""Java hung up in the middle of a call, or while a class was looked up. What it refuses has a full stop and a
trace, and each class that is asked for exists in the Spark that is installed. Source: py4j 0.10.9
GatewayClient.send_command, which answers a lost call with a bare error, and its readers
protocol.get_return_value, JavaClass.__getattr__, JavaPackage.__getattr__ and JVMView.__getattr__."""
_CALLED = re.compile(r"An error occurred while calling \S+?\.(?: Trace:)?")
_LOST_TASK = re.compile(r"Task \S+ in stage .*?: Lost task .*? executor \S+\): ")
_PACKAGE = re.compile(r"(?:[a-z]\w*\.)+(?=[A-Z]\w*: )")
