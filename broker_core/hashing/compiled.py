"""Functions over arrays, compiled by numba at their first call. What a process compiled is kept on disk for
the next one.

@inlined    a few operations with a name, written into each loop that uses them: a call would cost more than they do
@compiled   a loop over whole arrays, called from Python
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """`kernel`, compiled; it holds no lock while it runs.

    Where nothing can be kept (no folder is writable: neither beside the source nor in the user's cache) each
    process compiles again.
    """
    machine_code: Any  # numba's own type would hide the kernel's signature
    try:
        machine_code = njit(cache=True, nogil=True)(kernel)
        _try_to_keep(Path(machine_code.stats.cache_path))
    except (RuntimeError, OSError):  # RuntimeError is numba's answer when it knows no place at all
        machine_code = njit(nogil=True)(kernel)
    made: Kernel = machine_code
    return made


def inlined(helper: Kernel) -> Kernel:
    """`helper`, for the kernels of the same file (numba looks at no other file's time when it asks whether
    what it kept is still good)."""
    written_in: Any = njit(inline="always")(helper)
    made: Kernel = written_in
    return made


def _try_to_keep(folder: Path) -> None:
    """Raise OSError if `folder` does not accept a new file: numba would find out at the first call, and fail
    there."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass
