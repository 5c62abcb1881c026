"""The process that reads people's files for the web: a fork for each question, with limits that the machine
keeps.

    web ─► a socket pair, handed over ─► fork: limits ─► preview | study | live ─► {"answer"} | {"refused"} | {"over": true} | {"broken"}

A row of 100 MB, a Parquet file that unpacks to 500 MB, a generator's slow corner: each ends its own fork, and
nothing else. What the readers need is imported and compiled before the first fork, so that one takes
milliseconds. Started by `reader.py`; ends when the web process does.
"""

import array
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

# Before pyarrow: its own pool reserves a gigabyte, and a limit on memory would count that.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

import pyarrow as pa

from broker_core.errors import CommandError, Names, SentenceError
from broker_core.pipeline.live import live_check
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.study import study_check

CPU_S, WALL_S = 10, 20
MEMORY_BYTES = 384 << 20  # more than the process has before the question
CALLS = {"preview": source_preview, "study": study_check, "live": live_check}


def main() -> None:
    """Serve until the other end is gone. argv[1]: the file descriptor on which sockets come."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    warm()
    while True:
        _mark, ancillary, _flags, _address = control.recvmsg(1, socket.CMSG_LEN(array.array("i").itemsize))
        if not ancillary:
            return
        connection = socket.socket(fileno=array.array("i", ancillary[0][2])[0])
        if not os.fork():
            control.close()
            os._exit(serve(connection))
        connection.close()


def warm() -> None:
    """Have the kernels compiled."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(b"key\na\n")
        file.flush()
        source_preview({"kind": "csv", "path": file.name})


def serve(connection: socket.socket) -> int:
    """Read one question, answer it within the limits."""
    limit()
    try:
        with connection, connection.makefile("rb") as lines, connection.makefile("wb") as out:
            out.write(json.dumps(answer(json.load(lines))).encode())
    except MemoryError:
        return 1
    return 0


def limit() -> None:
    """From here on this process has so much time and memory; whatever is over ends it."""
    data_bytes = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_DATA, data_bytes + MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
    os.nice(5)  # labs that people watch come first
    signal.alarm(WALL_S)


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """order: {call, arguments}."""
    try:
        return {"answer": CALLS[order["call"]](**order["arguments"])}
    except CommandError as error:
        return {"refused": packed(error)}
    except (MemoryError, pa.ArrowMemoryError):
        return {"over": True}
    except Exception as error:
        traceback.print_exc()
        return {"broken": f"{type(error).__name__}: {error}"[:300]}


def packed(error: SentenceError) -> dict[str, Any]:
    """A refusal as JSON, so that the web can put it into the reader's words."""
    values = {name: _packed(value) for name, value in error.values.items()}
    return {"field": getattr(error, "field", ""), "template": error.template, "values": values}


def _packed(value: object) -> Any:
    if isinstance(value, SentenceError):
        return packed(value)
    if isinstance(value, Names):
        return list(value.each)
    return value if isinstance(value, int | float | str) else str(value)


if __name__ == "__main__":
    main()
