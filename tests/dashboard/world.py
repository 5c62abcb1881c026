"""A shard that runs in the test's own process: its clock is stopped until the test moves it, its Redis is a
few lists."""

import itertools
import json
from collections.abc import Iterable
from typing import Any

from dashboard.access import token_hash
from dashboard.labs import services
from dashboard.labs.shard import Shard
from dashboard.labs.transport import Frame
from dashboard.models import Lab

OWNER = "the-owner-of-all-labs-in-these-tests"
OWNER_HASH = token_hash(OWNER)
LANES = [{"model": "pulsar"}, {"model": "tubemq"}, {"model": "rabbitmq"}]
"""Of a lab that is about no lane. A Kafka cluster would take most of the time of such a test."""


class FakeClock:
    """Wall time that moves when it is told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class FakeTransport:
    """Redis without Redis. watching: the labs that browsers watch; panels: of which lab whose page is open.
    lost: every call fails, as when the server is gone."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.frames: list[Frame] = []
        self.watching: set[str] = set()
        self.panels: dict[str, set[str]] = {}
        self.elsewhere = False
        self.lost = False

    @property
    def is_down(self) -> bool:
        return self.lost

    def wait_for_wake(self, shard: int, timeout_s: float) -> list[str]:
        entries, self.entries = self.entries, []
        return [] if self.lost else entries

    def wake(self, shard: int, entry: str) -> bool:
        self.entries.append(entry)
        return not self.lost

    def publish(self, frames: Iterable[Frame]) -> set[str]:
        if self.lost:
            return {frame.lab_id for frame in frames}
        self.frames.extend(frames)
        return set()

    def watched(self, lab_ids: list[str]) -> dict[str, frozenset[str]] | None:
        if self.lost:
            return None
        return {
            lab_id: frozenset(self.panels.get(lab_id, ())) for lab_id in lab_ids if lab_id in self.watching
        }

    def beat(self, shard: int) -> bool:
        return not self.lost

    def is_driven_elsewhere(self, shard: int, within_s: float) -> bool:
        return self.elsewhere and not self.lost


class World:
    """One lab's surroundings: the shard that drives it, and what browsers would have been sent."""

    def __init__(self) -> None:
        self.clock, self.transport = FakeClock(), FakeTransport()
        self.ids = (f"t{number}" for number in itertools.count())
        self.shard = self.shard_new()

    def shard_new(self) -> Shard:
        return Shard(0, self.transport, self.clock)  # type: ignore[arg-type]

    def open(self, watched: bool = True, **request: Any) -> Lab:
        """A new lab; its lanes are LANES where the request names neither lanes nor a scenario."""
        if not request.keys() & {"scenario", "lanes"}:
            request["lanes"] = LANES
        lab = services.lab_open(request=request).lab
        if watched:
            self.transport.watching.add(lab.pk)
        return lab

    def order(self, lab: Lab, kind: str, **rest: Any) -> dict[str, Any]:
        """Submit as the lab's owner, through the row's own hash: these tests are not about tokens."""
        Lab.objects.filter(pk=lab.pk).update(visitor_hash=OWNER_HASH)
        self.transport.entries.append(lab.pk)
        return services.lab_submit(
            lab_id=lab.pk, request={"command_id": next(self.ids), "kind": kind, **rest}, visitor=OWNER
        )

    def run(self, seconds: float, shard: Shard | None = None) -> None:
        """Let the wall clock run in steps of 50 ms."""
        shard = shard or self.shard
        for _step in range(round(seconds / 0.05)):
            shard.turn()
            self.clock.now_s += 0.05
        shard.turn()

    def messages(self, lab: Lab) -> list[dict[str, Any]]:
        return [json.loads(frame.text) for frame in self.transport.frames if frame.lab_id == lab.pk]
