"""Whom each partition of a TubeMQ lane falls to: by the lane's rule, by the lists of a person, or to whoever is registered."""

from __future__ import annotations

from broker_core.lab.tubemq.nodes import MODULO, NOT_USED, TubeMqNodes
from broker_core.tubemq.assigners import ASSIGNERS
from broker_core.tubemq.assignment import node_of
from broker_core.tubemq.client_id import host_of


class TubeMqShares(TubeMqNodes):
    """plan_of: whom each partition falls to, until something changes."""

    def planned(self) -> list[str | None]:
        """Of each partition the consumer that it falls to, whether or not that one holds it just now, or is alive at
        all. Where the master balances: whoever is registered for it."""
        if self.plan_of is None:
            self.plan_of = self._planned()
        return self.plan_of

    def _planned(self) -> list[str | None]:
        takers = self.ruled()
        self._give(takers, self.notes.by_hand)
        return takers

    def ruled(self) -> list[str | None]:
        """`planned`, by the rule alone."""
        notes = self.notes
        takers: list[str | None] = [None] * len(self.partition_keys)
        if self.by_master:
            owners = (host_of(self.place(key).owner) for key in self.partition_keys)
            return [name if name in notes.plan else None for name in owners]
        if self.algorithm in ASSIGNERS or notes.own_rule is not None:
            self._give(takers, notes.shares)
        else:
            by_count: dict[int, dict[int, str]] = {}
            for name in notes.plan:
                if name not in notes.by_hand:
                    count, node_id = notes.started_with(name)
                    by_count.setdefault(count, {}).setdefault(node_id, name)
            for count, names in by_count.items():
                for place, node_id in enumerate(self.nodes_of(count) if count > 0 else ()):
                    takers[place] = takers[place] or names.get(node_id)
        return takers

    def _give(self, takers: list[str | None], shares: dict[str, list[str]]) -> None:
        for name, keys in reversed(shares.items()):  # of two lists with one partition the older one counts
            for key in keys:
                if key in self.place_of and name in self.notes.plan:
                    takers[self.place_of[key]] = name

    def shares_now(self) -> dict[str, list[str]]:
        """What the rule gives each consumer of the plan that a person gave no list."""
        shares: dict[str, list[str]] = {
            name: [] for name in self.notes.plan if name not in self.notes.by_hand
        }
        for key, name in self.units().items():
            if name in shares:
                shares[name].append(key)
        return shares

    def nodes_of(self, source_count: int) -> list[int]:
        """Node id of each partition."""
        nodes = self.nodes.get(source_count)
        if nodes is None:
            nodes = self.nodes[source_count] = [node_of(key, source_count) for key in self.partition_keys]
        return nodes

    def counted(self) -> int:
        """The source count that the group's clients start with, NOT_USED where rules deal partitions out."""
        is_counted = self.algorithm == MODULO and self.notes.own_rule is None and self.source_count is None
        return len(self.notes.plan) if is_counted else NOT_USED

    def group_count(self) -> int:
        """The source count that the active master checks; while it knows no member, the one to start with."""
        group = self.group()
        if self.counted() == NOT_USED or group is None or not group.members:
            return self.counted()
        return max(group.terms.source_count, NOT_USED)

    def units(self) -> dict[str, str | None]:
        return dict(zip(self.partition_keys, self.planned(), strict=True))
