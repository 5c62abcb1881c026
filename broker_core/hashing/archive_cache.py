"""Where numba keeps what it compiled of a source that lies in an archive, as it does on Spark's executors.

numba's own place hangs on the archive's path, and each executor of each application has another: all would compile anew, and leave what they
compiled behind. Here the place hangs on what the source says. NUMBA_CACHE_LOCATOR_CLASSES names the class (pipeline/session.py).
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
