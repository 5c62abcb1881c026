"""Functions over arrays, compiled by numba at their first call. What a process compiled is kept on disk for the next one."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """`kernel`, compiled; it holds no lock while it runs.

    Where nothing can be kept (no folder is writable: neither beside the source nor in the user's cache) each process compiles anew.
    """
    machine_code: Any  # numba's own type would hide the kernel's signature
    try:
        machine_code = njit(cache=True, nogil=True)(kernel)
    except RuntimeError:  # numba's answer when it finds no place for its cache
        machine_code = njit(nogil=True)(kernel)
    made: Kernel = machine_code
    return made
