"""Partitions of one topic do not swap members for nothing."""

from broker_core.kafka.assignors.movements import PartitionMovements


def test_a_partition_that_took_the_opposite_way_goes_back_instead() -> None:
    movements = PartitionMovements()
    movements.move(("t", 0), "c0", "c1")
    assert movements.partition_to_move(("t", 5), "c1", "c0") == ("t", 0)
    assert movements.partition_to_move(("u", 5), "c1", "c0") == ("u", 5)
    assert movements.partition_to_move(("t", 5), "c0", "c1") == ("t", 5)


def test_a_partition_that_came_home_has_not_moved() -> None:
    movements = PartitionMovements()
    movements.move(("t", 0), "c0", "c1")
    movements.move(("t", 0), "c1", "c0")
    assert movements.partition_to_move(("t", 5), "c1", "c0") == ("t", 5)


def test_a_partition_that_moved_twice_came_from_its_first_member() -> None:
    movements = PartitionMovements()
    movements.move(("t", 0), "c0", "c1")
    movements.move(("t", 0), "c1", "c2")
    assert movements.partition_to_move(("t", 5), "c2", "c0") == ("t", 0)
    movements.move(("t", 7), "c2", "c1")
    # Where t-0 stands it counts as coming from c0, so it is from there that the opposite way is looked for.
    assert movements.partition_to_move(("t", 0), "c2", "c1") == ("t", 0)
