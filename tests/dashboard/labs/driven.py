"""A lab's runner with a clock of its own."""

from typing import Any

from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from dashboard.labs import writes
from dashboard.labs.driver import LabDriver
from dashboard.models import Lab, StoredCommand

SMALL = {
    "workload": {"kind": "uniform", "keys": 5, "rate": 5},
    "lanes": [{"model": "rabbitmq"}],
    "consumers": 2,
}


SCENARIO = scenario_to_json(scenario_from_json(SMALL))


class Clock:
    """Wall time. step_s: how much passes each time it is asked, as if the work in between had taken it."""

    def __init__(self) -> None:
        self.now_s, self.step_s = 1_000.0, 0.0

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


class Driven:
    """A lab with its driver, loaded, playing from virtual time 0; nothing is written but what the test
    writes."""

    def __init__(self, clock: Clock, **columns: Any) -> None:
        self.clock = clock
        self.row = Lab.objects.create(
            **{"scenario": SCENARIO, "owner_hash": "", "shard": 0, "epoch": 3} | columns
        )
        self.driver = LabDriver(self.row, clock.now_s)
        assert self.driver.load(clock, 10.0)

    def order(self, kind: str, consumer: str | None = None, **args: Any) -> StoredCommand:
        self.row.position += 1
        self.row.save(update_fields=["position"])
        body = {
            "command_id": f"t{self.row.position}",
            "kind": kind,
            "lane": "all",
            "consumer": consumer,
            "args": args,
        }
        return StoredCommand.objects.create(
            lab=self.row, command_id=body["command_id"], position=self.row.position, body=body
        )

    def handle(self, *commands: StoredCommand, budget_s: float = 10.0) -> tuple[int, list[Any]]:
        return whole(self.driver.handle(list(commands), self.clock, budget_s))

    def play(self, **args: Any) -> "Driven":
        assert self.handle(self.order("play", **args))[1] == []
        self.store()
        return self

    def store(self) -> tuple[Any, Any]:
        frame, commit = whole(self.driver.frame(self.clock.now_s))
        if commit is not None:
            assert writes.commit_all([commit]) == {}
        return frame, commit

    def advance(self, seconds: float, budget_s: float = 10.0) -> bool:
        self.clock.now_s += seconds
        return whole(self.driver.advance(self.clock, budget_s))
