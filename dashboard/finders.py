"""Static files that a Python package brings along: Plotly's bundle, which is served as vendor/plotly.min.js
and never copied into the tree."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

VENDORED = {"vendor/plotly.min.js": ("plotly", "package_data/plotly.min.js")}


def _source(package: str, name: str) -> Path:
    return Path(str(files(package))) / name


class PackageFinder(BaseFinder):
    """Finds VENDORED: address under static -> (package, file in it)."""

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = [str(_source(*VENDORED[path]))] if path in VENDORED else []
        return found if find_all else (found[0] if found else [])

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, FileSystemStorage]]:
        for address, (package, name) in VENDORED.items():
            source = _source(package, name)
            storage = FileSystemStorage(location=source.parent)
            storage.prefix = str(Path(address).parent)  # type: ignore[attr-defined]
            yield source.name, storage

    def check(self, **kwargs: Any) -> Sequence[Any]:
        return []
