"""A topic's entries: appended, trimmed, found by time, and the same again from a checkpoint that does not
hold their hashes."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from broker_core.pulsar.entry import Entry
from broker_core.pulsar.managed_ledger import ManagedLedger


def hash_of(key: int) -> int:
    return (key + 2) * 2_654_435_761 & 0xFFFF_FFFF


def ledger_of(published: list[int], trimmed: int = 0) -> ManagedLedger:
    ledger = ManagedLedger()
    for place, at_us in enumerate(published):
        key, number = place % 3 - 1, 10 * place
        ledger.append(
            Entry(
                hash_of(key),
                number,
                key,
                at_us,
                (number, number + 1) if place % 4 == 3 else (),
                place % 2 * 7,
            )
        )
    ledger.trim(trimmed)
    return ledger


def test_trim_forgets_what_is_before_a_position_and_never_goes_back() -> None:
    ledger = ledger_of([5, 6, 7, 8], trimmed=2)
    assert (ledger.first, ledger.end, list(ledger.entries)) == (2, 4, [2, 3])
    ledger.trim(1)
    assert (ledger.first, list(ledger.entries)) == (2, [2, 3])


def test_first_at_is_the_first_entry_that_was_not_published_before() -> None:
    ledger = ledger_of([5, 6, 6, 9], trimmed=1)
    assert [ledger.first_at(at_us) for at_us in (0, 6, 7, 9, 10)] == [1, 1, 3, 3, 4]


@given(st.lists(st.integers(0, 10**9), max_size=30).map(sorted), st.integers(0, 30))
def test_a_checkpoint_gives_back_every_entry_with_its_hash(published: list[int], trimmed: int) -> None:
    ledger = ledger_of(published, min(trimmed, len(published)))
    again = ManagedLedger.from_json(
        msgspec.msgpack.decode(msgspec.msgpack.encode(ledger.to_json()), strict=False)
    )
    again.know_hashes(hash_of)
    assert (again.first, again.end, list(again.entries.items())) == (
        ledger.first,
        ledger.end,
        list(ledger.entries.items()),
    )
