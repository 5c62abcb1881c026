"""Kafka's recorded answers against our rules: partitioner and assignors. How strictly:
assignment_match.py."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from broker_core.conformance.assignment_match import (
    Asked,
    Owners,
    differences,
    movement_figures,
    name,
    owners,
    partition_of,
    spread,
)
from broker_core.conformance.result import CaseResult, case, compare, passed
from broker_core.hashing.java_hash import string_hash
from broker_core.hashing.murmur2 import murmur2
from broker_core.kafka.assignors import ASSIGNORS, Assignment, StickyUserData, Subscription
from broker_core.kafka.producer.partitioner import (
    POSITIVE_MASK,
    PartitionLoads,
    coordinator_partition,
    next_partition,
    partition_for_key,
    positive_or_zero,
)

Json = dict[str, Any]


def run_partitioner(document: Json) -> Iterator[CaseResult]:
    """`murmur2`: keys; `groups`: hash codes and coordinator partitions; `sticky`: draws for keyless records.
    Exact."""
    for index, row in enumerate(document.get("murmur2", [])):
        case_id = f"murmur2/{index}/{row['hex']}"
        yield case(case_id, partial(_key, case_id, row, document["partition_counts"]))
    for index, row in enumerate(document.get("groups", [])):
        case_id = f"groups/{index}/{row['group']}"
        yield case(case_id, partial(_group, case_id, row))
    for index, row in enumerate(document.get("sticky", [])):
        case_id = f"sticky/{index}"
        yield case(case_id, partial(_draws, case_id, row))


def run_assignors(document: Json) -> Iterator[CaseResult]:
    """Single assignments, each by several assignors; the scenario is the case."""
    for scenario in document["scenarios"]:
        yield case(scenario["id"], partial(_scenario, scenario))


def run_assignors_rack(document: Json) -> Iterator[CaseResult]:
    """The same with racks."""
    return run_assignors(document)


def run_assignor_sequences(document: Json) -> Iterator[CaseResult]:
    """Histories of a group, every round given its exact input; the sequence is the case."""
    for sequence in document["sequences"]:
        yield case(sequence["id"], partial(_sequence, sequence))


def _key(case_id: str, row: Json, partition_counts: list[int]) -> CaseResult:
    key = bytes.fromhex(row["hex"])
    got: Json = {
        "murmur2": murmur2(key),
        "positive": murmur2(key) & POSITIVE_MASK,
        "partitions": [partition_for_key(key, count) for count in partition_counts],
    }
    if "text" in row:
        got["text"] = key.decode()
    return compare(case_id, {part: row.get(part) for part in got}, got)


def _group(case_id: str, row: Json) -> CaseResult:
    got: Json = {"hash_code": string_hash(row["group"]), "abs": positive_or_zero(string_hash(row["group"]))}
    for part in row:
        if part.startswith("partition_"):
            got[part] = coordinator_partition(row["group"], int(part.removeprefix("partition_")))
    return compare(case_id, {part: row[part] for part in got}, got)


def _draws(case_id: str, row: Json) -> CaseResult:
    loads = PartitionLoads.of(row["queue_sizes"], row["partition_ids"], row["length"])
    count = row["partitions_in_topic"]
    got: Json = {
        "uniform": loads is None,
        "range_end": None if loads is None else loads.range_end,
        # In the recorded topics every partition has a leader; only the statistics may be of fewer.
        "picks": [[random, next_partition(random, range(count), count, loads)] for random, _ in row["picks"]],
    }
    return compare(case_id, {part: row[part] for part in got}, got)


def _scenario(scenario: Json) -> CaseResult:
    expected: Json = {}
    got: Json = {}
    for assignor_id, recorded in scenario["results"].items():
        asked = _asked(
            assignor_id, scenario["members"], scenario["topics"], scenario.get("partition_racks"), None
        )
        assignment = ASSIGNORS[assignor_id].assign(
            asked.subscriptions, asked.partition_counts, scenario.get("partition_racks")
        )
        wanted, seen = differences(asked, recorded, assignment, scenario["kind"].startswith("prior-shrunk"))
        if wanted:
            expected[assignor_id], got[assignor_id] = wanted, seen
    return CaseResult(scenario["id"], "failed", expected, got) if expected else passed(scenario["id"])


def _sequence(sequence: Json) -> CaseResult:
    expected: Json = {}
    got: Json = {}

    def note(where: str, wanted: Json, seen: Json) -> None:
        if wanted:
            expected[where], got[where] = wanted, seen

    at_start: Owners = {}  # the recorded ownership before the step's event
    compared: dict[str, Owners] = {assignor_id: {} for assignor_id in ("range", "roundrobin")}
    for index, step in enumerate(sequence["steps"]):
        for round_index, recorded in enumerate(step["rounds"]):
            asked = _asked(sequence["assignor"], recorded["members"], step["topics"], None, at_start)
            assignment = ASSIGNORS[sequence["assignor"]].assign(asked.subscriptions, asked.partition_counts)
            where = f"step {index} round {round_index}"
            note(where, *differences(asked, recorded, assignment, has_to_be_safe_only=False))
            if "lower_bound_moves" in recorded:
                moved = movement_figures(asked.prior, assignment)["moved"]
                if moved != recorded["lower_bound_moves"]:
                    note(
                        f"{where} lower_bound_moves",
                        {"moved": recorded["lower_bound_moves"]},
                        {"moved": moved},
                    )
            if "revoked" in recorded:
                note(f"{where} revoked", *_revoked(asked, recorded, assignment))
        last = step["rounds"][-1]
        note(f"step {index} final", *_final(step, at_start, assignment, is_exact=_is_exact(last)))
        for assignor_id, before in compared.items():
            figures, after = _compared(assignor_id, before, last["members"], step["topics"])
            recorded_figures = step["comparison"][assignor_id]
            if figures != recorded_figures:
                note(f"step {index} {assignor_id}", recorded_figures, figures)
            compared[assignor_id] = after
        at_start = _owners_in_file(last["assignment"])
    return CaseResult(sequence["id"], "failed", expected, got) if expected else passed(sequence["id"])


def _asked(
    assignor_id: str,
    members: Json,
    partition_counts: Mapping[str, int],
    racks: Json | None,
    prior: Owners | None,
) -> Asked:
    """Read what the leader was given. prior: who had what; None: as the members claim."""
    subscriptions = {member: _subscription(asked) for member, asked in members.items()}
    is_cooperative = ASSIGNORS[assignor_id].cooperative
    claims = {}
    for member, subscription in subscriptions.items():
        had = subscription.user_data.partitions if subscription.user_data else ()
        claims[member] = subscription.owned if is_cooperative else had
    # Of a partition that two members claim, the file does not tell which of them it takes for the owner.
    claim_counts = Counter(partition for claimed in claims.values() for partition in claimed)
    undisputed = {
        partition: member for partition, member in owners(claims).items() if claim_counts[partition] == 1
    }
    return Asked(
        subscriptions=subscriptions,
        partition_counts=partition_counts,
        has_racks=racks is not None,
        is_cooperative=is_cooperative,
        prior=undisputed if prior is None else prior,
        claims=claims,
    )


def _subscription(asked: Json) -> Subscription:
    data = asked.get("sticky_user_data")
    return Subscription(
        topics=tuple(asked["topics"]),
        owned=tuple(map(partition_of, asked.get("owned", ()))),
        generation=asked.get("generation", -1),
        user_data=StickyUserData(tuple(map(partition_of, data["owned"])), data["generation"])
        if data
        else None,
        instance_id=asked.get("instance_id"),
        rack=asked.get("rack"),
    )


def _owners_in_file(assignment: Mapping[str, list[str]]) -> Owners:
    return owners({member: map(partition_of, listed) for member, listed in assignment.items()})


def _is_exact(recorded: Json) -> bool:
    return recorded["match"] in ("exact_list", "exact_set")


def _revoked(asked: Asked, recorded: Json, assignment: Assignment) -> tuple[Json, Json]:
    """Compare what members must let go of; by number alone where the choice among equals is free."""
    let_go = sorted(
        name(partition)
        for member, subscription in asked.subscriptions.items()
        for partition in subscription.owned
        if partition not in assignment[member]
    )
    wanted: Json = {"revoked": sorted(recorded["revoked"]), "rejoin_needed": recorded["rejoin_needed"]}
    seen: Json = {"revoked": let_go, "rejoin_needed": bool(let_go)}
    if not _is_exact(recorded):
        wanted["revoked"], seen["revoked"] = len(wanted["revoked"]), len(let_go)
    return (wanted, seen) if wanted != seen else ({}, {})


def _final(step: Json, at_start: Owners, assignment: Assignment, is_exact: bool) -> tuple[Json, Json]:
    """Compare what the step as a whole cost."""
    wanted = dict(step["final"])
    seen = {"rounds": len(step["rounds"]), "spread": spread(assignment)} | movement_figures(
        at_start, assignment
    )
    if not is_exact and seen["moved"] <= wanted["moved"] and seen["spread"] == wanted["spread"]:
        return {}, {}
    seen = {figure: seen[figure] for figure in wanted}
    return (wanted, seen) if wanted != seen else ({}, {})


def _compared(
    assignor_id: str, before: Owners, members: Json, partition_counts: Mapping[str, int]
) -> tuple[dict[str, int], Owners]:
    """Run an assignor without memory over the same history: what it moved, and who has what now."""
    subscriptions = {member: Subscription(tuple(asked["topics"])) for member, asked in members.items()}
    assignment = ASSIGNORS[assignor_id].assign(subscriptions, partition_counts)
    moved = movement_figures(before, assignment)["moved"]
    return {"moved": moved, "spread": spread(assignment)}, owners(assignment)
