"""Which keys the workload has shown so far, and in what order: the *live keys* that a change can move."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

NO_KEY = -1


@dataclass(slots=True)
class LiveKeys:
    """Distinct key codes by first appearance. codes[i] was first seen in record first_seen[i]; keyless
    records do not count."""

    codes: list[int] = field(default_factory=list)
    first_seen: list[int] = field(default_factory=list)
    known: set[int] = field(default_factory=lambda: {NO_KEY})

    def note(self, first: int, codes: Sequence[int]) -> None:
        """Take in the records `first`, `first` + 1, ... with these key codes."""
        known = self.known
        if all(map(known.__contains__, codes)):
            return
        for index, code in enumerate(codes, first):
            if code not in known:
                known.add(code)
                self.codes.append(code)
                self.first_seen.append(index)

    def count_at(self, record_count: int) -> int:
        """How many keys had appeared when `record_count` records had arrived."""
        return bisect_left(self.first_seen, record_count)

    def restore(self, codes: Sequence[int], first_seen: Sequence[int]) -> None:
        """Become what `note` would have made of all records so far."""
        self.codes, self.first_seen = list(codes), list(first_seen)
        self.known = {NO_KEY, *self.codes}
