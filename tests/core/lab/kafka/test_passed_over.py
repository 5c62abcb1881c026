"""What a group has passed over: counted once, taken back when somebody reads it, and begun again where the
log was cut."""

from broker_core.lab.kafka.passed_over import PassedOver


def test_what_is_jumped_over_counts_until_it_is_read() -> None:
    passed = PassedOver()
    assert [passed.read("t-0", offset) for offset in (0, 1, 2)] == [False] * 3
    assert passed.jump("t-0", 10, [(3, 6), (7, 10)]) == 6
    assert passed.read("t-0", 10) is False and passed.count("t-0") == 6
    assert [passed.read("t-0", offset) for offset in (4, 4, 3, 1)] == [True, False, True, False]
    assert passed.runs["t-0"] == [(5, 6), (7, 10)] and passed.count("t-0") == passed.total() == 4


def test_a_jump_back_or_to_where_it_is_passes_nothing_over() -> None:
    passed = PassedOver()
    passed.read("t-0", 9)
    assert passed.jump("t-0", 10, []) == passed.jump("t-0", 3, [(0, 3)]) == 0
    assert passed.jump("t-1", 4, [(0, 4)]) == 4 and passed.jump("t-1", 4, [(0, 4)]) == 0, (
        "two members meet the same gap"
    )


def test_after_a_cut_the_same_offsets_are_other_records() -> None:
    passed = PassedOver()
    passed.jump("t-0", 20, [(0, 20)])
    passed.cut("t-0", 12)
    assert passed.count("t-0") == 12 and passed.jump("t-0", 15, [(12, 15)]) == 3
    passed.cut("t-0", 40)
    assert passed.reached["t-0"] == 15
