"""A consuming program, the same in all four lanes."""

from dataclasses import dataclass, field

from broker_core.events import Json

RATE_WINDOW_S = 5
LIVE, PAUSED, CRASHED, GONE = "live", "paused", "crashed", "gone"
FROZEN, STUCK = "frozen", "stuck"
"""Of a consumer on a Kafka cluster: its process is frozen, heartbeats too; its program does not come back
from a record, heartbeats go on."""


@dataclass(slots=True)
class Consumer:
    """One consuming program: takes a record, works `service_us` on it, acknowledges, takes the next.

    incarnation: the node of its present life; a program that comes back after a crash has a new one
    (`incarnation_name`).
    acked: virtual second -> records finished in it. held_by: the command that froze it or made it stuck.
    set_to: settings of its program that a person changed, for its next lives, too.
    """

    name: str
    color: int
    service_us: int
    normal_us: int
    incarnation: str
    joined_us: int
    state: str = LIVE
    acked: dict[int, int] = field(default_factory=dict)
    deadline_us: int | None = None
    deadline_from_us: int | None = None
    held_by: int = 0
    set_to: Json = field(default_factory=dict)

    def acked_between(self, from_second: int, to_second_exclusive: int) -> int:
        count = 0
        for second, handled in self.acked.items():
            if from_second <= second < to_second_exclusive:
                count += handled
        return count

    def rate_tenths(self, second: int) -> int:
        """Tenths of a record that it finished a second in the last seconds before this one; 0 of one that has
        crashed."""
        window = min(max(second, 1), RATE_WINDOW_S)
        return (
            0 if self.state in (CRASHED, GONE) else self.acked_between(second - window, second) * 10 // window
        )


def incarnation_name(consumer: str, number: int) -> str:
    """The node of a consumer's life. number: of the life, from 1.

    >>> incarnation_name("c4", 1), incarnation_name("c4", 2)
    ('c4', 'c4~2')
    """
    return consumer if number == 1 else f"{consumer}~{number}"
