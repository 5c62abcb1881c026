"""The promises of the articles that come along: each has the verdict that its file expects."""

import pytest

from broker_core.lab.breaking.attempt import attempted
from broker_core.lab.breaking.file import BROKEN, KEPT, cases, stated_in
from broker_core.lab.breaking.search import Search
from broker_core.lab.pieces import whole

SEED = 7
TRIES = {BROKEN: 40, KEPT: 8}


@pytest.mark.parametrize("name", cases())
def test_a_case_has_its_verdict(name: str) -> None:
    stated = stated_in(cases()[name].read_text())
    search = Search(stated.case, SEED)
    while search.broken is None and search.tries < TRIES[stated.expect]:
        whole(search.trying())
    assert (search.broken is not None) == (stated.expect == BROKEN)


def test_there_are_at_least_ten_and_each_verdict_is_among_them() -> None:
    expected = [stated_in(path.read_text()).expect for path in cases().values()]
    assert len(expected) >= 10 and {BROKEN, KEPT} == set(expected)


FOUND = {
    "kafka_acks_1": ["cluster_slow_link", "cluster_crash"],
    "pulsar_out_of_order_allowed": ["join"],
    "rabbitmq_prefetch_unlimited": ["slow"],
    "tubemq_wrong_source_count": ["tubemq_restart"],
}


@pytest.mark.parametrize("name", FOUND)
def test_the_shortest_schedule_is_what_the_article_tells(name: str) -> None:
    case = stated_in(cases()[name].read_text()).case
    search = Search(case, SEED)
    while search.moment_us is None:
        whole(search.trying())
    schedule = search.broken.schedule
    assert [fault.kind for fault in schedule] == FOUND[name]
    assert all(fault.at_us % 1_000_000 == 0 for fault in schedule), "at whole seconds"
    for place in range(len(schedule)):
        fewer = whole(attempted(case, schedule[:place] + schedule[place + 1 :]))
        assert fewer.broken_us is None, "each fault of it is needed"
