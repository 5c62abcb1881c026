"""The lab's plan for sticky ranges: nobody's slots are lost or given twice, whoever comes and however many
come at once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.pulsar.sticky import make_room, overlap
from broker_core.lab.pulsar.sticky_join import plan_join

WHOLE = {False: [(0, 65_535)], True: [(0, 65_536)]}


def slots(ranges: dict[str, list[tuple[int, int]]], half_open: bool) -> int:
    return sum(end - start + (not half_open) for pairs in ranges.values() for start, end in pairs)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.booleans())
def test_newcomers_take_from_the_widest_and_the_space_stays_whole(waves: list[int], half_open: bool) -> None:
    owned: dict[str, list[tuple[int, int]]] = {}
    for wave, count in enumerate(waves):
        names = [f"w{wave}-{number}" for number in range(count)]
        plan = make_room(owned, names, None, half_open)
        assert list(plan.given) == names and plan.kept.keys() <= owned.keys()
        owned = owned | plan.kept | plan.given
        assert slots(owned, half_open) == 65_536
        for name, pairs in owned.items():
            assert not any(
                overlap(pairs, others, half_open) for other, others in owned.items() if other != name
            )


def test_of_several_newcomers_each_asks_once_though_a_later_one_takes_of_an_earlier() -> None:
    plan = make_room({}, ["a", "b", "c"], None, False)
    assert plan.kept == {} and plan.sources == {"b": "a", "c": "a"}
    assert plan.given == {"a": [(0, 16_383)], "b": [(32_768, 65_535)], "c": [(16_384, 32_767)]}


def test_one_who_comes_back_gets_what_it_had_and_nobody_makes_room() -> None:
    plan = make_room({"a": [(0, 99)]}, ["b"], [(100, 200)], False)
    assert plan.given == {"b": [(100, 200)]} and plan.kept == {} and plan.sources == {}


def test_where_somebody_else_has_a_part_of_that_by_now_it_is_a_newcomer_as_any_other() -> None:
    plan = make_room({"a": [(0, 150)]}, ["b"], [(100, 200)], False)
    assert plan.sources == {"b": "a"} and plan.kept == {"a": [(0, 75)]} and plan.given == {"b": [(76, 150)]}


def test_owned_ranges_are_left_as_they_were_given() -> None:
    owned = {"a": [(0, 65_535)]}
    make_room(owned, ["b", "c"], None, False)
    assert owned == {"a": [(0, 65_535)]}


def test_ranges_that_only_touch_share_a_slot_where_both_ends_are_in() -> None:
    for one, other, closed, half_open in (
        ((0, 9), (10, 12), False, False),
        ((0, 9), (9, 12), True, False),
        ((5, 5), (0, 9), True, True),
        ((9, 12), (0, 9), True, False),
    ):
        assert (overlap([one], [other], False), overlap([one], [other], True)) == (closed, half_open)
        assert overlap([], [other], False) is False


def test_of_an_odd_number_of_slots_the_owner_keeps_one_more() -> None:
    assert plan_join({"a": [(0, 2)]}, "b") == ("a", [(0, 1)], [(2, 2)])
    assert plan_join({"a": [(0, 3)]}, "b", half_open=True) == ("a", [(0, 2)], [(2, 3)])


def test_of_equals_the_first_makes_room_and_a_range_is_cut_where_the_half_ends() -> None:
    assert plan_join({"b": [(0, 9)], "a": [(10, 19)]}, "c")[0] == "b"
    assert plan_join({"a": [(20, 23), (0, 9)]}, "b") == ("a", [(0, 6)], [(7, 9), (20, 23)])


def test_newcomer_that_is_known_already_is_not_asked_to_share_with_itself() -> None:
    assert plan_join({"a": [(0, 65_535)]}, "a") == (None, [], [(0, 65_535)])
