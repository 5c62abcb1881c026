"""What the lab itself knows of a TubeMQ group: who is meant to take what, and who reads what."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.events import Json


@dataclass(slots=True)
class Notes:
    """plan: the group's consumers, by the modulo rule each with its place as node id; its length is the source count of
    the last restart. starts: consumer -> source count and node id that it was started with, of those for which they are
    others than the plan says. by_hand: consumer -> partitions that a person gave it instead of the rule's. shares: consumer ->
    partitions, as the operator dealt them out last. own_rule: text of the user's own rule; rule_failure: what it came to
    when it gave no answer the last time. map_id: the map of the last deal. uneven_looks: how many in a row found what waits
    uneven, below 0 while none are made (`sharing.look_at_lag`).
    count_at_rest: the source count when the lane last came to rest, None before the first time.
    readers: partition -> client that reads it, as the clients have told. stopped: partition -> since when no client
    that is alive has read it, of those that were read before. added: partitions beside those of the lane's options. down: brokers that
    are offline."""

    plan: list[str] = field(default_factory=list)
    starts: dict[str, tuple[int, int]] = field(default_factory=dict)
    by_hand: dict[str, list[str]] = field(default_factory=dict)
    shares: dict[str, list[str]] = field(default_factory=dict)
    own_rule: str | None = None
    rule_failure: Json | None = None
    map_id: int = 0
    uneven_looks: int = 0
    count_at_rest: int | None = None
    readers: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, int] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    down: list[int] = field(default_factory=list)

    def started_with(self, name: str) -> tuple[int, int]:
        """Source count and node id of a consumer of the plan."""
        return self.starts.get(name) or (len(self.plan), self.plan.index(name))

    def begin_reading(self, client_id: str, partitions: list[str], now_us: int) -> dict[str, int]:
        """The client reads these and no others. Gives those that nobody read lately, with since when."""
        lost = [key for key, reader in self.readers.items() if reader == client_id and key not in partitions]
        self.stop_reading(client_id, now_us, lost)
        self.readers |= dict.fromkeys(partitions, client_id)
        return {key: self.stopped.pop(key) for key in partitions if key in self.stopped}

    def stop_reading(self, client_id: str, now_us: int, partitions: list[str] | None = None) -> None:
        """The client reads these no longer; None: nothing at all."""
        if partitions is None:
            partitions = [key for key, reader in self.readers.items() if reader == client_id]
        for key in partitions:
            if self.readers.get(key) == client_id:
                del self.readers[key]
                self.stopped.setdefault(key, now_us)

    def stop_all(self, partitions: list[str], now_us: int) -> None:
        """Nobody reads these any more: their broker is gone."""
        for key in partitions:
            if self.readers.pop(key, None) is not None:
                self.stopped.setdefault(key, now_us)
