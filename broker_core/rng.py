"""Named random streams from one seed. The only module of the core that may import `random`.

Each draw depends on (seed, stream name, number of the draw) alone, so a stream's whole state is one counter:
a checkpoint holds it as a number, and a draw added to one stream never shifts another.
"""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class SeededRandom:
    """Streams of random integers. seed: any integer. draws: stream name -> how many were drawn.

    >>> a, b = SeededRandom(7), SeededRandom(7)
    >>> a.below("kafka.member", 100) == b.below("kafka.member", 100)
    True
    """

    seed: int
    draws: dict[str, int] = field(default_factory=dict)

    def bits(self, stream: str, count: int) -> int:
        """The next draw of `stream`: `count` random bits as an integer of 0 or more."""
        number = self.draws.get(stream, 0)
        self.draws[stream] = number + 1
        # Seeding with a text goes through SHA-512, the same in every process and Python release.
        return random.Random(f"{self.seed}/{stream}/{number}").getrandbits(count)

    def below(self, stream: str, limit: int) -> int:
        """The next draw of `stream`, from 0 to limit - 1. The bias of taking 64 bits modulo a limit below
        2**32 is under 2**-32."""
        return self.bits(stream, 64) % limit
