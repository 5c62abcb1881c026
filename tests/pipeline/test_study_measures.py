"""Measures: what each makes of a step's facts, and that a file more is a measure more."""

import pytest

from broker_core.errors import InvariantError
from broker_core.pipeline import measures
from broker_core.pipeline.measures import MEASURES, measure, step_columns, total_columns
from broker_core.pipeline.measures.base import WHOLE, Facts, Measure, Share, worst
from broker_core.pipeline.timed import TimedStep


def timed(step, **changes):
    return TimedStep(
        **(
            {
                "step": step,
                "records": 100,
                "waited": 10,
                "redelivered": 3,
                "order_at_risk": 1,
                "pause_partition_us": 5_000_000,
                "pause_longest_us": 2_000_000,
                "lag_before": 4,
                "lag": [(0.0, 4), (1.0, 12), (2.0, 3)],
                "waits": [4, 2],
                "weights": {"c1": 1},
                "skew_milli": 1000,
            }
            | changes
        )
    )


def facts(step, moved, **changes):
    shares = {
        "c1": Share(12, 120, 3, 500_000),
        "c2": Share(8, 80, 2, 333_333),
        "c3": Share(4, 40, 1, 166_666),
    }
    return Facts(
        **(
            {
                "step": step,
                "shares": shares,
                "skew_milli": 1500,
                "keys_moved": moved,
                "keys_total": None if moved is None else 6,
                "bytes_moved": moved,
                "partitions_moved": None if moved is None else 2,
                "partitions_total": 12,
                "space_moved": None,
                "unowned": 0,
                "timed": timed(step),
            }
            | changes
        )
    )


def test_a_history_of_two_changes_in_figures():
    rows, totals = measure([facts(0, None), facts(1, 3), facts(2, 2, skew_milli=1250)])
    assert set(rows[0]) == {"step", *step_columns()} and set(totals) == set(total_columns())
    assert [row["keys_moved_share"] for row in rows] == [None, 0.5, pytest.approx(1 / 3)]
    assert totals["churn"] == pytest.approx(5 / 6) and totals["partitions_moved"] == 4
    assert totals["skew"] == 1.5 and rows[2]["skew"] == 1.25
    # The start forms a group; it is no change.
    assert (
        rows[0]["pause_partition_s"] is None
        and totals["pause_partition_s"] == 10
        and totals["pause_longest_s"] == 2
    )
    assert totals["waited"] == 20 and totals["waited_share"] == 0.1 and totals["redelivered"] == 6
    assert totals["order_at_risk"] == 3 and totals["order_share"] == 0.01
    assert (
        rows[0]["drain_s"] is None
        and rows[1]["drain_s"] == 2
        and (totals["lag_peak"], totals["undrained"]) == (12, 0)
    )


def test_what_does_not_apply_is_null_all_the_way():
    unknown = ("keys_moved", "partitions_moved", "partitions_total", "timed", "skew_milli", "unowned")
    nothing = dict.fromkeys(unknown) | {"shares": {}}
    _, totals = measure([facts(0, None, **nothing), facts(1, 1, **nothing)])
    assert {name for name, value in totals.items() if value is not None} == {"bytes_moved"}


def test_records_that_nobody_owns_are_told_beside_the_even_shares_of_the_rest():
    rows, totals = measure([facts(0, None), facts(1, 3, unowned=8), facts(2, 0, unowned=0)])
    assert [(row["unowned"], row["unowned_share"]) for row in rows] == [(0, 0), (8, 0.25), (0, 0)]
    assert totals["unowned_share"] == 0.25 and totals["skew"] == 1.5


def test_a_backlog_that_stays_is_counted_and_not_timed():
    stuck = timed(1, lag=[(0.0, 4), (1.0, 50), (2.0, 40)])
    rows, totals = measure([facts(0, None), facts(1, 1, timed=stuck)])
    assert rows[1]["drain_s"] is None and totals["undrained"] == 1 and totals["drain_s"] is None


def test_a_measure_is_one_file_and_no_two_share_a_column(monkeypatch):
    idle = Measure(
        {"idle": WHOLE}, {"idle": WHOLE},
        lambda facts: [{"idle": sum(not share.records for share in fact.shares.values())} for fact in facts],
        lambda _, rows: {"idle": worst(rows, "idle")},
    )  # fmt: skip
    monkeypatch.setattr(measures, "MEASURES", {**MEASURES, "idle": idle})
    rows, totals = measure([facts(0, None)])
    assert rows[0]["idle"] == totals["idle"] == 0 and "idle" in step_columns()
    monkeypatch.setattr(measures, "MEASURES", {**MEASURES, "idle": idle, "again": idle})
    with pytest.raises(InvariantError):
        step_columns()
