"""Where numba keeps what it compiled of a source inside an archive, as it does on Spark's executors.

numba's own place depends on the archive's path, which differs for each executor of each application: all
would compile again, and leave the results behind. Here the place depends on the content of the source.
NUMBA_CACHE_LOCATOR_CLASSES names the class (pipeline/session.py).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import ZipCacheLocator


class ArchiveCacheLocator(ZipCacheLocator):  # numba has no types
    """A place for each text of a source, in the user's cache."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]
        stamp: bytes = self.get_source_stamp()  # type: ignore[no-untyped-call]
        self._cache_path = str(Path(self._cache_path).parent / f"highwater_{stamp.hex()[:40]}")
