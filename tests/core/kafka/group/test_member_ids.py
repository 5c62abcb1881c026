"""The random part of a member's id: 16 bytes of the node's draws, written as each protocol writes them."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.group.member_ids import draw_member_id
from tests.core.playbook import Played

WORDS = st.tuples(*[st.integers(0, 2**32 - 1)] * 4)


def drawn(words: tuple[int, ...], is_classic: bool) -> str:
    out: Any = Played(draws=words)
    return draw_member_id(out, is_classic)


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_law_both_writings_are_of_the_same_version_4_uuid(words: tuple[int, ...]) -> None:
    classic = uuid.UUID(drawn(words, is_classic=True))
    assert (classic.version, classic.variant) == (4, uuid.RFC_4122)
    short = drawn(words, is_classic=False)
    assert len(short) == 22 and base64.urlsafe_b64decode(short + "==") == classic.bytes


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((0, 0, 0, 0), "00000000-0000-4000-8000-000000000000"),
        ((2**32 - 1,) * 4, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
        ((1, 2, 3, 4), "00000001-0000-4002-8000-000300000004"),
    ],
)
def test_draws_fill_it_from_the_left(words: tuple[int, ...], text: str) -> None:
    """Of the second half, `0000 0003` and `0000 0004`, the first two bits are the variant's."""
    assert drawn(words, is_classic=True) == text
