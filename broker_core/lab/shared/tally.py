"""The running bill of a lane since the lab began: what all changes together have cost.

One change's bill (`bill.py`) says how many keys moved now; a lane that moves few and leaves a third of them
dark for a minute is not the better one. So four figures are side by side: keys moved, darkness, redelivered,
out of order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.messages import FIRST_SENT
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.change import Change
from broker_core.lab.shared.darkness import Darkness
from broker_core.lab.shared.hero import Subject
from broker_core.lab.shared.key_order import KeyOrder


@dataclass(slots=True)
class Tally:
    """keys_moved: by the changes before the present bill's; a key that moves twice counts twice. subject:
    what the lane's large figure speaks of, None before the first change. lost: changes that have left
    something without service, until all is served again. began: those that began the present darkness, and
    that have added to it. finished: records
    that the folds have not seen yet, in the order in which programs finished them. is_stale: who serves what
    has changed since the last report of darkness; at first there was none."""

    keys_moved: int = 0
    darkness: Darkness = field(default_factory=Darkness)
    order: KeyOrder = field(default_factory=KeyOrder)
    subject: Subject | None = None
    lost: list[Change] = field(default_factory=list)
    began: list[Change] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    is_stale: bool = True

    def take_over(self, bill: Bill) -> None:
        """Another bill takes the place of this one, which has come to rest."""
        if bill.position:  # those who are there from the start moved nothing
            self.keys_moved += bill.keys_moved

    def fold_finished(self, codes_of: Callable[[Sequence[int]], Sequence[int]]) -> None:
        """Take in what programs finished in a stretch. codes_of: key codes of records. What a person sent has no
        place in the order of the workload's records."""
        records = self.finished
        if max(records, default=0) >= FIRST_SENT:
            records = [record for record in records if record < FIRST_SENT]
        self.order.finish(records, codes_of(records))
        self.finished.clear()

    def to_view(
        self,
        now_us: int,
        bill: Bill | None,
        redelivered: int,
        keys_have_owners: bool,
        partitions: int | None,
        lost: int | None = None,
    ) -> Json:
        """keys_moved: null where keys have no owner. dark_us: mean over the lane. dark_partition_us: its sum,
        null without partitions. lost: as the reading has it."""
        moved = self.keys_moved + (bill.keys_moved if bill is not None and bill.position else 0)
        return {
            "keys_moved": moved if keys_have_owners else None,
            "dark_us": self.darkness.mean_us_at(now_us),
            "dark_partition_us": None if partitions is None else self.darkness.unit_us_at(now_us),
            "redelivered": redelivered,
            "out_of_order": self.order.count,
            "lost": lost,
        }
