"""How much a call may use. The steps are the limit that counts: they end at the same place on every machine.

They take a fortieth of the CPU time, so that limit ends only what is one step and works for ever, such as
sum(range(10**12)).
"""

import os
import resource

STEPS_MAX = 300_000
INSTRUCTIONS_MAX = 10 * STEPS_MAX
"""More than so many lines take."""
CPU_S = 20
MEMORY_BYTES = 256 << 20
STACK_BYTES = 8 << 20
ANSWER_BYTES_MAX = 4 << 20
NICE = 5
"""Behind the brokers of other labs; further back, a busy machine would not run it at all."""


def limit() -> None:
    """Have the kernel count. A second lies between the signal that says so and the end; the one file is the
    answer."""
    os.nice(NICE)
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, CPU_S, CPU_S + 1),
        (resource.RLIMIT_AS, MEMORY_BYTES, MEMORY_BYTES),
        (resource.RLIMIT_STACK, STACK_BYTES, STACK_BYTES),
        (resource.RLIMIT_FSIZE, ANSWER_BYTES_MAX, ANSWER_BYTES_MAX),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        resource.setrlimit(kind, (soft, hard))
