"""Whose study is next: nobody waits for all of somebody else's."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard.studies.turns import RUNS_OF_ADDRESS, turns

OWNERS = st.sampled_from(["ann", "bob", "cy"])
QUEUES = st.lists(OWNERS, max_size=30).map(
    lambda owners: [(f"s{place}", owner) for place, owner in enumerate(owners)]
)
RECENT = st.dictionaries(OWNERS, st.integers(0, 5))


@given(QUEUES, RECENT)
def test_everybody_has_a_turn_and_each_owner_keeps_their_own_order(
    waiting: list[tuple[str, str]], recent: dict[str, int]
) -> None:
    order = turns(waiting, recent)
    assert sorted(order) == sorted(study for study, _owner in waiting)
    for owner in {owner for _study, owner in waiting}:
        mine = [study for study, whose in waiting if whose == owner]
        assert [study for study in order if study in mine] == mine


@given(QUEUES, RECENT)
def test_nobody_who_waits_falls_more_than_one_run_behind_another(
    waiting: list[tuple[str, str]], recent: dict[str, int]
) -> None:
    owner_of = dict(waiting)
    runs = {owner: recent.get(owner, 0) for owner in ("ann", "bob", "cy")}
    left = turns(waiting, recent)
    while left:
        still_waiting = {owner_of[study] for study in left}
        owner = owner_of[left.pop(0)]
        assert runs[owner] == min(runs[other] for other in still_waiting)
        runs[owner] += 1


def test_who_has_waited_longest_comes_first_among_equals() -> None:
    assert turns([("b1", "bob"), ("a1", "ann")], {}) == ["b1", "a1"]


def test_one_who_ran_lately_lets_a_newcomer_pass() -> None:
    assert turns([("a1", "ann"), ("a2", "ann"), ("b1", "bob")], {"ann": 1}) == ["b1", "a1", "a2"]


def test_invented_owners_of_one_address_do_not_make_a_newcomer_wait_for_all_of_them() -> None:
    waiting = [(f"x{number}", f"token-{number}") for number in range(40)] + [("b1", "bob")]
    addresses = {study: "here" for study, _owner in waiting} | {"b1": "there"}
    assert turns(waiting, {}, addresses, {}).index("b1") == RUNS_OF_ADDRESS
    assert turns(waiting, {}).index("b1") == 40, "which is what the tokens alone would say"


@given(
    QUEUES,
    RECENT,
    st.dictionaries(st.sampled_from(["here", "there"]), st.integers(0, 9)),
    st.integers(0, 2**30),
)
def test_addresses_change_the_order_and_lose_nobody(
    waiting: list[tuple[str, str]], recent: dict[str, int], runs: dict[str, int], bits: int
) -> None:
    addresses = {
        study: "there" if bits >> place & 1 else "here" for place, (study, _owner) in enumerate(waiting)
    }
    order = turns(waiting, recent, addresses, runs)
    assert sorted(order) == sorted(study for study, _owner in waiting)
