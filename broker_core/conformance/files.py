"""Finding vector files and reading them: plain JSON, or the same gzipped."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

SUFFIXES = (".json", ".json.gz")
GZIP_MAGIC = b"\x1f\x8b"


class UnreadableFile(Exception):
    """A path that gives no vector document; the text says why in one sentence."""


def vector_files(path: Path) -> list[Path]:
    """Give the files to run: a file as it is; of a folder every .json and .json.gz at any depth, by path.

    Raises UnreadableFile for a path that does not exist or a folder that may not be listed.
    """
    try:
        if path.is_dir():
            return sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
        if path.exists():
            return [path]
    except OSError as error:
        raise UnreadableFile(f"{path}: cannot be listed ({error.strerror})") from None
    raise UnreadableFile(f"{path}: no such file or folder")


def read_document(path: Path) -> dict[str, Any]:
    """Read one vector file. Raises UnreadableFile: not readable, broken gzip, not UTF-8, not JSON, not an
    object."""
    try:
        raw = path.read_bytes()
        # By its first bytes, not its name: a renamed file is still the same file.
        text = (gzip.decompress(raw) if raw.startswith(GZIP_MAGIC) else raw).decode()
        document = json.loads(text)
    except OSError as error:
        raise UnreadableFile(f"cannot be read ({error.strerror or error})") from None
    except (EOFError, zlib.error) as error:
        raise UnreadableFile(f"broken gzip ({error})") from None
    except UnicodeDecodeError:
        raise UnreadableFile("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"is not JSON ({error})") from None
    except RecursionError:
        raise UnreadableFile("is not JSON of a sane depth") from None
    if not isinstance(document, dict):
        raise UnreadableFile("is not a JSON object")
    return document


def shown_name(path: Path) -> str:
    """Give the name that the report uses: folder/name, without .gz.

    >>> shown_name(Path("/any/where/tubemq/mod_assign.json.gz"))
    'tubemq/mod_assign.json'
    """
    resolved = path.resolve()
    return f"{resolved.parent.name}/{path.name.removesuffix('.gz')}"
