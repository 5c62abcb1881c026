"""A result's tables as files, and a live study's windows. Parquet goes out as stored; CSV is written while it
is sent, a batch of rows at a time.

Keys are data: a key that begins like a formula would be run by a spreadsheet, so in CSV, and only there, such
a text gets a ' before it. Binary columns are hexadecimal.
"""

import csv
import io
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused

TABLES = ("consumers", "steps", "strategies", "lag", "hot_keys", "bad_rows")
FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
BATCH_ROWS = 8_192
PIECE_BYTES = 256 * 1024
WINDOWS = "windows"
WINDOW_COLUMNS = {
    "start_us": "int64",
    "end_us": "int64",
    "lane": "string",
    "throughput": "double",
    "lag": "int64",
    "skew": "double",
    "hw_lag": "int64",
    "rebalance_cost": "double",
    "late": "int64",
    "damaged": "int64",
}
"""Those of broker_core/pipeline/live.py."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def download(
    *, folder: Path, study_id: str, study_name: str, table: str, file_format: str
) -> HttpResponseBase:
    """One table of the result in `folder` as a response. Raises Refused 404 for a table or a format that
    there is not."""
    if table not in TABLES or file_format not in FORMATS:
        raise Refused(404, {"table": _("is not a table of a study")})
    path = folder / f"{table}.parquet"
    if not path.exists():
        raise Refused(404, {"table": _("this study has no such table")})
    pieces = csv_rows(path) if file_format == "csv" else _file_pieces(_one_file(path))
    return _attachment(pieces, study_id=study_id, study_name=study_name, table=table, file_format=file_format)


def download_windows(
    *, rows: list[Json], study_id: str, study_name: str, table: str, file_format: str
) -> HttpResponseBase:
    """A live study's windows as a response. Raises Refused 404 for another table, or a format that there is
    not."""
    if table != WINDOWS or file_format not in FORMATS:
        raise Refused(404, {"table": _("this study has no such table")})
    pieces = iter([_windows_csv(rows) if file_format == "csv" else _windows_parquet(rows)])
    return _attachment(pieces, study_id=study_id, study_name=study_name, table=table, file_format=file_format)


def _attachment(
    pieces: Iterator[bytes], *, study_id: str, study_name: str, table: str, file_format: str
) -> HttpResponseBase:
    label = _NOT_IN_NAMES.sub("-", study_name).strip("-.")[:48] or study_id
    name = f"{label}-{table}.{file_format}"
    response = StreamingHttpResponse(_sent(pieces), content_type=FORMATS[file_format])
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


async def _sent(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces one by one: what Django is given as an ordinary iterator it would gather in memory first."""
    while (piece := await sync_to_async(next)(pieces, None)) is not None:
        yield piece


def _file_pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def csv_rows(path: Path) -> Iterator[bytes]:
    """The table as CSV in UTF-8, a piece for each batch of rows: the header, then numbers and texts; null is
    nothing."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(path, format="parquet")
    yield _csv([table.schema.names])
    for batch in table.to_batches(batch_size=BATCH_ROWS):
        columns = [column.to_pylist() for column in batch.columns]
        yield _csv([[cell(value) for value in row] for row in zip(*columns, strict=True)])


def _windows_csv(rows: list[Json]) -> bytes:
    return _csv([list(WINDOW_COLUMNS), *([cell(row.get(name)) for name in WINDOW_COLUMNS] for row in rows)])


def _windows_parquet(rows: list[Json]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [(name, pa.type_for_alias(kind)) for name, kind in WINDOW_COLUMNS.items()]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns)), sink)
    return bytes(sink.getvalue())


def _csv(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def cell(value: Any) -> Any:
    """A value as CSV shows it.

    >>> cell("=1+1"), cell(-5), cell(b"\\x00k"), cell(None)
    ("'=1+1", -5, '006b', None)
    """
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _one_file(path: Path) -> IO[bytes]:
    """The table as one open file; Spark writes large ones as a folder of parts, which are put together
    first."""
    if path.is_file():
        return path.open("rb")
    import pyarrow.dataset
    import pyarrow.parquet

    table = pyarrow.dataset.dataset(path, format="parquet")
    if shutil.disk_usage(settings.RUN_DIR).free < settings.DISK_SPARE_BYTES:
        raise Refused(507, {"table": _("the disk is full")})
    whole = tempfile.TemporaryFile(dir=settings.RUN_DIR)  # noqa: SIM115 (the response closes it)
    with pyarrow.parquet.ParquetWriter(whole, table.schema) as writer:
        for batch in table.to_batches(batch_size=BATCH_ROWS):
            writer.write_batch(batch)
    whole.seek(0)
    return whole
