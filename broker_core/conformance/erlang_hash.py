"""Recorded numbers of Erlang's term hash, and of the jump by its generator, against ours. All exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.result import CaseResult, case, compare
from broker_core.hashing.jump_hash import jump_hash
from broker_core.hashing.phash2 import Atom, phash2
from broker_core.rabbitmq.terms import typed

Json = dict[str, Any]


def run_erlang_hash(document: Json) -> Iterator[CaseResult]:
    """One case per term, and one per key with a number of buckets."""
    for index, row in enumerate(document.get("phash2", [])):
        yield case(f"phash2[{index}]", partial(_phash2, index, row))
    for index, row in enumerate(document.get("jump", [])):
        yield case(f"jump[{index}]", partial(_jump, index, row))


def _phash2(index: int, row: Json) -> CaseResult:
    return compare(f"phash2[{index}]", row["hash"], phash2(_term(row["kind"], row["value"])))


def _jump(index: int, row: Json) -> CaseResult:
    return compare(f"jump[{index}]", row["bucket"], jump_hash(row["key"], row["buckets"]))


def _term(kind: str, value: Any) -> Any:
    match kind:
        case "octets":
            return bytes.fromhex(value)
        case "atom":
            return Atom(value)
        case "header":
            return typed(value)
    return value
