"""The sentence under a TubeMQ lane has all that its words name, whoever gives partitions out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dashboard.sentences import SENTENCES
from tests.core.lab.tubemq.test_commands import SMALL, unread
from tests.core.lab.tubemq.tubemq_lab import lab_of, lane_of, order, seen


@pytest.mark.parametrize("algorithm", ["modulo", "sticky", "server"])
def test_every_sentence_of_a_life_has_all_that_its_words_name(algorithm: str) -> None:
    lab = lab_of(algorithm=algorithm, **SMALL)
    said: dict[str, Any] = {}
    for second, kind, consumer in (
        (15, "join", None), (100, "leave", "c3"), (200, "crash", "c1"), (215, "rejoin", "c1"), (300, "crash", "c2"),
        (360, "rejoin", "c2"), (500, "leave", "c1"), (510, "leave", "c2"), (520, "join", None), (600, None, None),
    ):  # fmt: skip
        while lab.now_us < second * 1_000_000:
            lab.advance_to(lab.now_us + 1_000_000)
            said.setdefault(seen(lab)["sentence"]["code"], seen(lab)["sentence"]["params"])
        if kind is not None:
            order(lab, kind, consumer)
            said.setdefault(seen(lab)["sentence"]["code"], seen(lab)["sentence"]["params"])
    for code, params in said.items():
        words = str(SENTENCES[code])
        assert set(re.findall(r"\{(\w+)", words)) <= params.keys(), (code, params)
    assert not {"c1", "c2"} & lane_of(lab).consumers.keys() and unread(lab) == {}
