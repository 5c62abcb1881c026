"""A study's tables and windows as files by the API, and what is shown of a study that has none."""

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asgiref.sync import async_to_sync

from broker_core.pipeline import result
from dashboard.models import Study, StudyWindow
from dashboard.studies import selectors
from dashboard.studies.job import study_folder
from tests.dashboard.studies import OWNER, SOURCE, call, start, waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    return tmp_path


ROWS = {
    "key": ["=1+1", "+x", "-x", "@x", "\tx", 'plain, "quoted"\n', "键", None],
    "raw": [b"\xff\x00", *[None] * 7],
    "n": [-1, *range(7)],
}


@pytest.fixture
def done() -> Study:
    study = waiting(OWNER, state=Study.State.DONE)
    Study.objects.filter(pk=study.pk).update(name="flights / 2013: <b>")
    folder = study_folder(study.pk)
    folder.mkdir(parents=True)
    pq.write_table(pa.table(ROWS), folder / "hot_keys.parquet")
    (folder / "bad_rows.parquet").mkdir()
    for part in range(2):
        pq.write_table(pa.table({"line": [part]}), folder / "bad_rows.parquet" / f"part-{part}.parquet")
    return study


def content(response: Any) -> bytes:
    """What a streamed response sends."""

    async def gather() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(gather)()


def test_csv_gives_keys_as_data_and_never_as_formulas(done: Study) -> None:
    answer = call("GET", f"/api/studies/{done.pk}/data/hot_keys.csv", token=None)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="flights-2013-b-hot_keys.csv"'
    header, *rows = csv.reader(io.StringIO(content(answer).decode(), newline=""))
    assert header == ["key", "raw", "n"]
    assert [row[0] for row in rows] == ["'=1+1", "'+x", "'-x", "'@x", "'\tx", 'plain, "quoted"\n', "键", ""]
    assert rows[0][1:] == ["ff00", "-1"]


def test_parquet_goes_out_as_it_lies_and_parts_as_one(done: Study) -> None:
    answer = call("GET", f"/api/studies/{done.pk}/data/hot_keys.parquet")
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert pq.read_table(io.BytesIO(content(answer))).to_pydict() == ROWS
    parts = content(call("GET", f"/api/studies/{done.pk}/data/bad_rows.parquet"))
    assert sorted(pq.read_table(io.BytesIO(parts)).to_pydict()["line"]) == [0, 1]


@pytest.mark.parametrize("file", ["secret.csv", "hot_keys.exe", "steps.csv", "..%2fhot_keys.csv"])
def test_there_are_no_other_files(done: Study, file: str) -> None:
    answer = call("GET", f"/api/studies/{done.pk}/data/{file}")
    assert answer.status_code == 404


@pytest.mark.parametrize("state", [Study.State.RUNNING, Study.State.CANCELLED])
def test_windows_of_a_live_study_are_a_file_while_it_runs_and_afterwards(state: Study.State) -> None:
    study = waiting(OWNER, state=state, live=True)
    known = {
        "start_us": 1_000_000,
        "end_us": 2_000_000,
        "lane": "=kafka",
        "throughput": 36.0,
        "lag": 4,
        "skew": 1.5,
        "hw_lag": None,
    }
    known |= {"rebalance_cost": 0.25, "late": 0, "damaged": 0}
    before = {name: value for name, value in known.items() if name != "damaged"} | {
        "start_us": 0,
        "end_us": 1_000_000,
    }
    for version, row in enumerate((known, before), 1):
        StudyWindow.objects.create(
            study=study, start_us=row["start_us"], lane="=kafka", version=version, row=row
        )
    table = pq.read_table(
        io.BytesIO(content(call("GET", f"/api/studies/{study.pk}/data/windows.parquet", token=None)))
    )
    assert table.to_pylist() == [before | {"damaged": None}, known]
    header, *rows = csv.reader(
        io.StringIO(content(call("GET", f"/api/studies/{study.pk}/data/windows.csv")).decode())
    )
    assert header == list(known) and [row[0] for row in rows] == ["0", "1000000"]
    assert rows[1] == ["1000000", "2000000", "'=kafka", "36.0", "4", "1.5", "", "0.25", "0", "0"]
    for file in ("steps.csv", "windows.exe"):
        assert call("GET", f"/api/studies/{study.pk}/data/{file}").status_code == 404


@pytest.mark.parametrize("state", ["queued", "running", "failed", "cancelled"])
def test_study_that_is_not_done_shows_no_result(done: Study, state: str) -> None:
    Study.objects.filter(pk=done.pk).update(state=state)
    for path in ("result/", "ranking/", "data/hot_keys.csv"):
        answer = call("GET", f"/api/studies/{done.pk}/{path}")
        assert answer.status_code == 409 and list(answer.json()["fields"]) == ["study"]


ZERO = {"skew": 0, "churn": 0, "pause": 0, "order": 0}


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ({}, "skew=0&churn=0&pause=0&order=0"),
        (ZERO | {"skew": 100}, "skew=0"),
        ({"churn": 0, "pause": 0, "order": 0}, "skew=0"),
    ],
)
def test_ranking_in_which_nothing_would_matter_is_refused_as_at_a_start(
    done: Study, stored: Any, query: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        result,
        "result_json",
        lambda _: {
            "strategies": [],
            "workload": {"records": 9, "no_key": 0, "keys": 9},
            "steps": [{"members": ["c1"]}],
            "hot_keys": [],
        },
    )
    Study.objects.filter(pk=done.pk).update(request={"source": SOURCE, "weights": stored})
    answer = call("GET", f"/api/studies/{done.pk}/ranking/?{query}", token=None)
    refused = start(weights=ZERO)
    assert answer.status_code == refused.status_code == 400
    assert (
        answer.json()["fields"]
        == refused.json()["fields"]
        == {"weights": ["at least one weight must be above 0"]}
    )
    assert selectors.study_ranking(study=done, asked={"order": "7"})["weights"] == {
        "skew": 30,
        "churn": 30,
        "pause": 20,
        "order": 7,
    }


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ("skew_max=0.5", "skew_max", "must be a number from 1 to 4"),
        ("skew_max=x", "skew_max", "must be a number from 1 to 4"),
        ("wait_s_max=0", "wait_s_max", "must be a number from 1 to 600"),
        ("wait_s_max=1.5", "wait_s_max", "must be a whole number from 1 to 600"),
        ("wait_s_max=nan", "wait_s_max", "must be a number from 1 to 600"),
        ("keeps_order=maybe", "keeps_order", "must be true, false or null"),
        ("keeps=true", "keeps", "is unknown"),
    ],
)
def test_constraint_that_cannot_be_is_refused_at_its_field(
    done: Study, query: str, field: str, reason: str
) -> None:
    answer = call("GET", f"/api/studies/{done.pk}/ranking/?{query}", token=None)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field]
    assert answer.json()["fields"][field][0].startswith(reason)


DEFAULTS = {
    "keeps_order": True,
    "keeps_up": False,
    "no_idle": True,
    "wait_s_max": None,
    "wait_percent_max": 1,
    "drain_s_max": None,
    "skew_max": None,
}


def test_constraints_of_a_finished_study_change_without_another_run(done: Study, monkeypatch: Any) -> None:
    """A study stored before there were constraints: the defaults hold, and the address may ask for others."""
    totals = {
        "skew": 1.6,
        "churn": 0.5,
        "waited_share": 0.0,
        "order_share": 0.0,
        "order_at_risk": 0,
        "timed_records": 100,
    }
    strategy = {
        "id": "kafka.range:partitions=12",
        "totals": totals,
        "steps": [{"step": 0, "keys_moved_share": None, "consumers": {}}],
        "waits": [50, 40, 30, 20, 10],
    }
    stored = {
        "strategies": [strategy],
        "workload": {"records": 9, "no_key": 0, "keys": 3},
        "steps": [{"label": "4", "members": ["c1", "c2", "c3", "c4"]}],
        "hot_keys": [{"key": "a", "share": 0.75}],
    }
    monkeypatch.setattr(result, "result_json", lambda _: stored)
    Study.objects.filter(pk=done.pk).update(request={"source": SOURCE, "weights": {}})
    plain = call("GET", f"/api/studies/{done.pk}/ranking/", token=None).json()
    assert plain["constraints"] == DEFAULTS and plain["verdict"]["code"] == "only"
    bound = call(
        "GET", f"/api/studies/{done.pk}/ranking/?keeps_order=false&wait_s_max=5&skew_max=1.5", token=None
    ).json()
    assert bound["constraints"] == DEFAULTS | {"keeps_order": False, "wait_s_max": 5.0, "skew_max": 1.5}
    assert bound["feasibility"]["level"] == "limited" and bound["feasibility"]["skew_least"] == 3.0
    assert [each["code"] for each in bound["ranking"][0]["excluded"]] == ["wait_s_max", "skew_max"]
    assert bound["verdict"]["code"] == "none" and bound["ranking"][0]["place"] is None
