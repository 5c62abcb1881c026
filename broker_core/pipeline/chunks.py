"""A lab's rows of each virtual second, as its worker leaves them for a live study, and where.

    <run dir>/chunks/<lab>/000000000012-000000000013.parquet     seconds 12 and 13, whole; put in place in one step
                           wanted                                touched by each viewer; the worker writes while it is fresh

    kind lane       the lane in that second: arrived, finished, lag at its end, skew (max / mean) at its end
         owner     one consumer: what it finished
         turning   a change came to rest: partitions moved; paused partitions, times the longest pause

hw_lag is null where the lane has no replicas. Times are the lab's own: second k begins at k * 1,000,000 us.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from broker_core.events import Json

SPARK_SCHEMA = (
    "lab string, lane string, kind string, at_us bigint, owner string, arrived bigint, finished bigint, "
    "lag bigint, skew double,"
    " hw_lag bigint, units_moved bigint, stopped_us bigint"
)
CHUNKS_KEPT = 600
"""Ten minutes at a chunk a second: longer than a live study's query may fall behind and still be called
live."""
WANTED = "wanted"
WANTED_FOR_S = 30.0
_NAME = re.compile(r"(\d{12})-(\d{12})\.parquet")


def chunk_write(folder: Path, first: int, last: int, rows: Iterable[Json]) -> None:
    """Leave the rows of seconds first..last in the folder, and remove the oldest chunks beyond CHUNKS_KEPT.
    Raises OSError."""
    # Only here: a lab that nobody studies shall not wait for Arrow.
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64()}
    schema = pa.schema(
        [(column, types[kind]) for column, kind in (field.split() for field in SPARK_SCHEMA.split(","))]
    )
    name = f"{first:012d}-{last:012d}.parquet"
    beside = folder / f".{name}"  # Spark passes over names that begin with a dot
    pq.write_table(pa.Table.from_pylist(list(rows), schema), beside)
    beside.replace(folder / name)
    for old in chunk_names(folder)[:-CHUNKS_KEPT]:
        (folder / old).unlink(missing_ok=True)


def chunk_names(folder: Path) -> list[str]:
    """The chunks in the folder, the oldest first; none if there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))  # noqa: PTH208
    except FileNotFoundError:
        return []


def last_second(folder: Path) -> int:
    """The last second that is in a chunk; -1 without any."""
    names = chunk_names(folder)
    return int(names[-1][13:25]) if names else -1


def want(folder: Path) -> None:
    """Ask the lab's worker to write for the next WANTED_FOR_S seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WANTED).touch()


def wanted_mark(folder: Path) -> int | None:
    """When somebody last asked, in a clock that only compares with itself; None: nobody ever did."""
    try:
        return (folder / WANTED).stat().st_mtime_ns
    except OSError:
        return None
