"""Measures as laws: what a history's totals are of its steps, whichever figures are missing; and the tables
that hold them."""

import json

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.measures import measure, step_columns, total_columns
from broker_core.pipeline.measures.base import WHOLE, Facts, Share, summed, worst
from broker_core.pipeline.result import (
    MANIFEST,
    TABLES,
    VERSION,
    ResultMissing,
    manifest_json,
    result_json,
    table_schemas,
    write_result,
)
from broker_core.pipeline.timed import TimedStep

FEW = settings(max_examples=40, deadline=None)
COUNT = st.integers(0, 1_000)


def timed_steps(step):
    return st.builds(
        lambda records, waited, redelivered, risk, pause, lag: TimedStep(
            step,
            records,
            min(waited, records),
            redelivered,
            min(risk, records),
            3 * pause,
            pause,
            2,
            [(0.0, 2), (1.0, lag), (2.0, 1)],
            [],
            {"c1": 1},
            1_000,
        ),
        COUNT,
        COUNT,
        COUNT,
        COUNT,
        st.integers(0, 10**8),
        st.integers(0, 99),
    )


@st.composite
def histories(draw):
    has_units, has_timed = draw(st.booleans()), draw(st.booleans())
    facts = []
    for step in range(draw(st.integers(1, 5))):
        loads = draw(st.lists(COUNT, min_size=1, max_size=4))
        shares = {f"c{place}": Share(load, 10 * load, load, 0) for place, load in enumerate(loads)}
        total = draw(st.integers(1, 50))
        facts.append(
            Facts(
                step,
                shares,
                draw(st.none() | st.integers(1_000, 9_000)),
                draw(st.integers(0, total)) if step else None,
                total if step else None,
                draw(COUNT) if step else None,
                draw(st.integers(0, 12)) if step and has_units else None,
                12 if has_units else None,
                None,
                draw(st.none() | COUNT),
                draw(timed_steps(step)) if has_timed else None,
            )
        )
    return facts


@FEW
@given(histories())
def test_every_step_has_every_column_and_whole_ones_are_whole(facts):
    rows, totals = measure(facts)
    assert [row["step"] for row in rows] == [fact.step for fact in facts]
    for row, kinds in [(row, {"step": WHOLE} | step_columns()) for row in rows] + [(totals, total_columns())]:
        assert row.keys() == kinds.keys()
        assert all(
            value is None or isinstance(value, int) for name, value in row.items() if kinds[name] == WHOLE
        )
        assert all(value is None or value >= 0 for value in row.values())


@FEW
@given(histories())
def test_totals_are_of_the_changes_and_shares_of_all_that_there_was(facts):
    _, totals = measure(facts)
    changes = [fact.timed for fact in facts[1:] if fact.timed]
    all_timed = [fact.timed for fact in facts if fact.timed]
    if changes:
        assert totals["timed_records"] == sum(each.records for each in changes)
        assert totals["waited"] == sum(each.waited for each in changes) <= totals["timed_records"]
        assert totals["waited_share"] == (
            totals["waited"] / totals["timed_records"] if totals["timed_records"] else None
        )
        assert totals["lag_peak"] == max(each.lag_peak for each in changes)
        assert totals["undrained"] == sum(each.drain_s is None for each in changes)
    else:
        assert {
            totals[name]
            for name in (
                "timed_records",
                "waited",
                "waited_share",
                "redelivered",
                "lag_peak",
                "undrained",
                "drain_s",
            )
        } == {None}
    if all_timed:
        assert totals["order_at_risk"] == sum(each.order_at_risk for each in all_timed), (
            "the start counts for the order"
        )
        assert totals["order_share"] is None or 0 <= totals["order_share"] <= 1


@FEW
@given(histories())
def test_churn_grows_by_what_each_change_moves_and_never_falls(facts):
    rows, totals = measure(facts)
    so_far = [row["churn_so_far"] for row in rows[1:]]
    shares = [row["keys_moved_share"] for row in rows[1:]]
    assert so_far == pytest.approx([sum(shares[: place + 1]) for place in range(len(shares))])
    assert totals["churn"] == rows[-1]["churn_so_far"]
    assert all(0 <= share <= 1 for share in shares)


@FEW
@given(histories())
def test_a_pause_is_of_partitions_and_of_changes(facts):
    rows, totals = measure(facts)
    assert rows[0]["pause_longest_s"] is None
    for row, fact in list(zip(rows, facts, strict=True))[1:]:
        if fact.timed is None or fact.partitions_total is None:
            assert row["pause_partition_s"] is None
        else:
            assert (
                row["pause_longest_s"]
                <= row["pause_partition_s"]
                == fact.timed.pause_partition_us / 1_000_000
            )
    assert totals["pause_longest_s"] == worst(rows, "pause_longest_s")


@FEW
@given(histories())
def test_the_worst_of_a_history_counts_its_start(facts):
    rows, totals = measure(facts)
    for column in ("skew", "gini", "p99", "unowned_share"):
        given_values = [row[column] for row in rows if row[column] is not None]
        assert totals[column] == (max(given_values) if given_values else None)
    assert all(row["unowned_share"] is None or 0 <= row["unowned_share"] <= 1 for row in rows)


def test_sums_leave_the_start_out_and_worsts_do_not():
    rows = [{"x": 9}, {"x": None}, {"x": 2}, {"x": 3}]
    assert (summed(rows, "x"), worst(rows, "x")) == (5, 9)
    assert (summed(rows[:2], "x"), worst([{"x": None}], "x"), worst([], "x")) == (None, None, None)


# -- the result's folder -------------------------------------------------------------------------------------

STRATEGY = {
    "id": "kafka.range:partitions=12",
    "model": "kafka",
    "algorithm": "range",
    "params": {"partitions": 12},
    "document": False,
    "config": [],
}
MANIFEST_HERE = {
    "version": VERSION,
    "name": "订单",
    "steps": [{"step": 0, "label": "4"}, {"step": 1, "label": "+c5"}],
    "strategies": [STRATEGY],
}


def tables():
    totals = dict.fromkeys(total_columns())
    step = dict.fromkeys(step_columns())
    here = {"strategy": STRATEGY["id"]}
    return {
        "strategies": [
            here
            | {"model": "kafka", "algorithm": "range", "document": False}
            | totals
            | {"skew": 1.5, "waited": 3}
        ],
        "steps": [here | {"step": number, "label": "x"} | step | {"skew": 1.0 + number} for number in (0, 1)],
        "consumers": [
            here | {"step": 1, "consumer": name, "records": 5, "bytes": None, "keys": 2, "share": 0.5}
            for name in ("c2", "c1")
        ],
        "lag": [here | {"step": 1, "second": second, "records": 7} for second in (0.0, 1.5)],
        "hot_keys": [
            {
                "key": "a",
                "key_hex": "61",
                "key_bytes": 1,
                "records": 4,
                "error": 0,
                "share": 0.4,
                "owner kafka.range:partitions=12": "c2",
            }
        ],
    }


def test_a_result_is_read_back_as_one_document(tmp_path):
    write_result(tmp_path, MANIFEST_HERE, tables(), {"kind": "keys"})
    result = result_json(tmp_path)
    (strategy,) = result["strategies"]
    assert (result["name"], strategy["id"], strategy["totals"]["skew"], strategy["totals"]["churn"]) == (
        "订单",
        STRATEGY["id"],
        1.5,
        None,
    )
    assert strategy["totals"].keys() == total_columns().keys()
    assert [
        (step["step"], step["skew"], list(step["consumers"]), step["lag"]) for step in strategy["steps"]
    ] == [
        (0, 1.0, [], []),
        (1, 2.0, ["c2", "c1"], [[0.0, 7], [1.5, 7]]),
    ]
    assert strategy["steps"][1]["consumers"]["c1"] == {"records": 5, "bytes": None, "keys": 2, "share": 0.5}
    (hot,) = result["hot_keys"]
    assert (hot["key"], hot["records"], hot["owners"]) == ("a", 4, {STRATEGY["id"]: "c2"})


def test_a_table_without_rows_is_there_with_its_columns_and_its_version(tmp_path):
    write_result(tmp_path, MANIFEST_HERE, {"strategies": tables()["strategies"]}, {})
    for name, schema in table_schemas([STRATEGY["id"]]).items():
        found = pq.read_schema(tmp_path / f"{name}.parquet")
        assert found.names == schema.names
        assert found.metadata[b"highwater.study"] == str(VERSION).encode()
    assert {path.stem for path in tmp_path.glob("*.parquet")} == set(TABLES)
    assert not list(tmp_path.glob("*.part"))


def test_the_manifest_is_written_last_so_that_a_folder_without_it_holds_no_result(tmp_path):
    rows = tables()
    rows["lag"] = [{"strategy": "x", "step": "one", "second": 0.0, "records": 1}]
    with pytest.raises(Exception, match="one"):
        write_result(tmp_path, MANIFEST_HERE, rows, {})
    assert not (tmp_path / MANIFEST).exists()
    with pytest.raises(ResultMissing, match="holds no result"):
        result_json(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"), [(None, "holds no result of a study"), ("{", "holds no result"),
    (json.dumps({"version": VERSION + 1}), "another version"), ("{}", "another version")]
)  # fmt: skip
def test_a_folder_without_a_result_of_this_version_says_so(tmp_path, content, said):
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(ResultMissing, match=said):
        manifest_json(tmp_path)
