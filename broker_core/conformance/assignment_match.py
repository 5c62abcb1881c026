"""How an assignment of ours is held against a recorded one.

    exact_list        each member's list, in order
    exact_set         each member's set
    hash_order        the list again, where Java's map order is reproduced; else quality
    insertion_order   quality: the original itself changes with the order in which members were listed
    no match, or a claim of a partition that is gone     safety

Quality: every partition given once, to a member that asked for it, as even as recorded, moving no more.
Safety: none that does not exist, none given twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from broker_core.kafka.assignors import Assignment, Subscription, TopicPartition

Json = dict[str, Any]
Owners = dict[TopicPartition, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What one assignor was asked.

    prior: who had what before, as far as the file tells without doubt. claims: what each member says it had.
    """

    subscriptions: Mapping[str, Subscription]
    partition_counts: Mapping[str, int]
    has_racks: bool
    is_cooperative: bool
    prior: Owners
    claims: Mapping[str, tuple[TopicPartition, ...]]

    def partitions(self) -> list[TopicPartition]:
        asked = dict.fromkeys(
            topic for subscription in self.subscriptions.values() for topic in subscription.topics
        )
        return [(topic, number) for topic in asked for number in range(self.partition_counts.get(topic, 0))]

    def claim_count(self, partition: TopicPartition) -> int:
        return sum(partition in claimed for claimed in self.claims.values())

    def has_double_claims(self) -> bool:
        claimed = [partition for partitions in self.claims.values() for partition in partitions]
        return len(set(claimed)) < len(claimed)

    def has_phantoms(self) -> bool:
        return any(
            number >= self.partition_counts.get(topic, number + 1)
            for partitions in self.claims.values()
            for topic, number in partitions
        )


def name(partition: TopicPartition) -> str:
    """Write a partition as the files do.

    >>> name(("orders-v1", 3))
    'orders-v1-3'
    """
    return f"{partition[0]}-{partition[1]}"


def partition_of(text: str) -> TopicPartition:
    """Read a partition; its number follows the last dash.

    >>> partition_of("orders-v1-3")
    ('orders-v1', 3)
    """
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def owners(assignment: Mapping[str, Iterable[TopicPartition]]) -> Owners:
    """Give who has what."""
    return {partition: member for member, partitions in assignment.items() for partition in partitions}


def spread(assignment: Mapping[str, list[Any]]) -> int:
    """Give the difference between the longest and the shortest list."""
    sizes = [len(partitions) for partitions in assignment.values()]
    return max(sizes) - min(sizes) if sizes else 0


def movement_figures(prior: Owners, assignment: Mapping[str, list[TopicPartition]]) -> dict[str, int]:
    """Count what became of the partitions that had an owner: see `fields` in the vector files."""
    after = owners(assignment)
    figures = {"moved": 0, "kept": 0, "released": 0, "from_departed": 0}
    for partition, old_owner in prior.items():
        new_owner = after.get(partition)
        if old_owner in assignment:
            figures["released" if new_owner is None else "kept" if new_owner == old_owner else "moved"] += 1
        elif new_owner is not None:
            figures["from_departed"] += 1
    return figures


def differences(
    asked: Asked, recorded: Json, got: Assignment, has_to_be_safe_only: bool
) -> tuple[Json, Json]:
    """Give what was expected and what came instead, part by part; both empty when the result matches."""
    if has_to_be_safe_only or "error" in recorded:
        return _complaints(asked, got, must_be_complete=False)
    match recorded["match"]:
        case "exact_list":
            return _unlike(_exact(recorded, asked), _seen(got, asked))
        case "exact_set":
            return _unlike(_as_sets(_exact(recorded, asked)), _as_sets(_seen(got, asked)))
        case "hash_order" if _has_java_order(asked):
            return _unlike(_exact(recorded, asked), _seen(got, asked))
        case "hash_order" | "insertion_order":
            return _quality(recorded, asked, got)
        case unknown:
            return {"match": "a known match class"}, {"match": unknown}


def _has_java_order(asked: Asked) -> bool:
    """Say whether our answer must equal Java's although it depends on the order of its maps."""
    return not (asked.has_racks or asked.has_double_claims() or asked.has_phantoms())


def _exact(recorded: Json, asked: Asked) -> Json:
    expected: Json = {"assignment": recorded["assignment"], "spread": recorded["spread"]}
    if "moved" in recorded and not asked.has_double_claims():
        expected |= {
            figure: recorded.get(figure, 0) for figure in ("moved", "kept", "released", "from_departed")
        }
    return expected


def _seen(got: Assignment, asked: Asked) -> Json:
    listed = {member: [name(partition) for partition in partitions] for member, partitions in got.items()}
    return {"assignment": listed, "spread": spread(got)} | movement_figures(asked.prior, got)


def _as_sets(result: Json) -> Json:
    return result | {
        "assignment": {member: sorted(listed) for member, listed in result["assignment"].items()}
    }


def _unlike(expected: Json, got: Json) -> tuple[Json, Json]:
    parts = [part for part in expected if expected[part] != got.get(part)]
    return {part: expected[part] for part in parts}, {part: got.get(part) for part in parts}


def _quality(recorded: Json, asked: Asked, got: Assignment) -> tuple[Json, Json]:
    expected, seen = _complaints(asked, got, must_be_complete=True)
    spread_max = max(recorded.get("spread_range", [recorded["spread"]]))
    is_even = spread(got) <= spread_max if "spread_range" in recorded else spread(got) == spread_max
    if not is_even:
        expected["spread"], seen["spread"] = spread_max, spread(got)
    moved_max = max(recorded.get("moved_range", [recorded.get("moved", 0)]))
    moved = movement_figures(asked.prior, got)["moved"]
    if moved > moved_max:
        expected["moved_max"], seen["moved_max"] = moved_max, moved
    return expected, seen


def _complaints(asked: Asked, got: Assignment, must_be_complete: bool) -> tuple[Json, Json]:
    """Give what breaks safety and, if asked for, completeness, each beside the empty list it should be."""
    given = [partition for partitions in got.values() for partition in partitions]
    wanted = asked.partitions()
    seen: Json = {
        "members": sorted(asked.subscriptions.keys() ^ got.keys()),
        "given twice": sorted(name(partition) for partition in set(given) if given.count(partition) > 1),
        "do not exist": sorted(map(name, set(given).difference(wanted))),
    }
    if must_be_complete:
        # A cooperative round leaves out what a living member has to let go of first.
        missing = [
            p for p in wanted if p not in set(given) and not (asked.is_cooperative and asked.claim_count(p))
        ]
        seen["nobody has"] = sorted(map(name, missing))
        seen["not asked for"] = sorted(
            f"{name(partition)} -> {member}"
            for member, partitions in got.items()
            for partition in partitions
            if partition[0] not in asked.subscriptions[member].topics
        )
    wrong = [part for part, found in seen.items() if found]
    return {part: [] for part in wrong}, {part: seen[part] for part in wrong}
