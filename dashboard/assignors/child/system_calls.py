"""The kernel's own lock on this process: a filter of system calls (seccomp) that lets through what computing
and answering need.

    write to the answer ─ memory that holds no program ─ locks, signals' returns, the clock, random bytes, the end          all else: EPERM

It stays for good, for root, too. Set through ctypes, as it is one call; a program of the kernel's small
filter machine, without jumps back.
Source: Linux seccomp(2), asm/unistd_64.h, asm-generic/unistd.h.
"""

import ctypes
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

_KILL, _REFUSE, _ALLOW = 0x8000_0000, 0x0005_0001, 0x7FFF_0000  # the process; EPERM
_LOAD, _EQUAL, _HAS_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_PROT_EXEC, _ANSWER = 4, 1


class Machine(NamedTuple):
    """arch: AUDIT_ARCH. calls: those that are let through, by name."""

    arch: int
    calls: dict[str, int]


MACHINES = {
    "x86_64": Machine(
        0xC000_003E,
        {
            "write": 1,
            "mmap": 9,
            "mprotect": 10,
            "munmap": 11,
            "brk": 12,
            "rt_sigprocmask": 14,
            "rt_sigreturn": 15,
            "sched_yield": 24,
            "mremap": 25,
            "madvise": 28,
            "exit": 60,
            "sigaltstack": 131,
            "futex": 202,
            "restart_syscall": 219,
            "clock_gettime": 228,
            "exit_group": 231,
            "getrandom": 318,
        },
    ),
    "aarch64": Machine(
        0xC000_00B7,
        {
            "write": 64,
            "mmap": 222,
            "mprotect": 226,
            "munmap": 215,
            "brk": 214,
            "rt_sigprocmask": 135,
            "rt_sigreturn": 139,
            "sched_yield": 124,
            "mremap": 216,
            "madvise": 233,
            "exit": 93,
            "sigaltstack": 132,
            "futex": 98,
            "restart_syscall": 128,
            "clock_gettime": 113,
            "exit_group": 94,
            "getrandom": 278,
        },
    ),
}


class NoFilter(Exception):  # noqa: N818  # what the page says is the machine's, not the program's
    """This kernel, or this kind of machine, has no filter of system calls."""


def filter_program(machine: Machine) -> bytes:
    """The filter, instruction by instruction: what, where to if so, where to if not, with what."""
    return b"".join(struct.pack("HBBI", *instruction) for instruction in _instructions(machine))


def _instructions(machine: Machine) -> Iterator[tuple[int, int, int, int]]:
    yield (_LOAD, 0, 0, _ARCH_AT)
    yield (_EQUAL, 1, 0, machine.arch)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER_AT)
    for name, number in machine.calls.items():
        if name == "write":
            yield (_EQUAL, 0, 4, number)
            yield (_LOAD, 0, 0, _ARGUMENTS_AT)
            yield (_EQUAL, 0, 1, _ANSWER)
            yield (_RETURN, 0, 0, _ALLOW)
            yield (_RETURN, 0, 0, _REFUSE)
        elif name in ("mmap", "mprotect"):
            yield (_EQUAL, 0, 4, number)
            yield (_LOAD, 0, 0, _ARGUMENTS_AT + 2 * 8)
            yield (_HAS_BITS, 1, 0, _PROT_EXEC)
            yield (_RETURN, 0, 0, _ALLOW)
            yield (_RETURN, 0, 0, _REFUSE)
        else:
            yield (_EQUAL, 0, 1, number)
            yield (_RETURN, 0, 0, _ALLOW)
    yield (_RETURN, 0, 0, _REFUSE)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def shut() -> None:
    """From here on this process can only compute and answer. Raises NoFilter."""
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise NoFilter
    program = filter_program(machine)
    libc = ctypes.CDLL(None)
    wanted = _Program(len(program) // 8, program)
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _SET_SECCOMP, _MODE_FILTER, ctypes.byref(wanted), 0, 0
    ):
        raise NoFilter
