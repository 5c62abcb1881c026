"""The default workload is the real data: its known numbers, its order, its payload."""

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from broker_core.errors import CommandError, HighwaterError
from broker_core.lab.workload import flights_table as flights
from broker_core.lab.workload.parse import workload_from_json


def test_the_table_has_the_numbers_of_the_package() -> None:
    table = flights.open_flights()
    assert len(table.columns["year"]) == 336_776
    assert len(table.texts["tailnum"]) == 4_043
    assert int(np.count_nonzero(table.columns["tailnum"] == flights.NO_CODE)) == 2_512


def test_rows_are_the_package_s_in_stable_order_of_schedule() -> None:
    with zipfile.ZipFile(flights.package_file()) as archive:
        rows = list(csv.DictReader(io.TextIOWrapper(archive.open("flights.csv"), encoding="utf-8")))
    rows.sort(key=lambda row: tuple(int(row[name]) for name in ("year", "month", "day", "sched_dep_time")))
    workload = workload_from_json({})
    for index in [*range(0, len(rows), 997), len(rows) - 1]:
        payload = json.loads(workload.payload(index))
        assert list(payload) == list(rows[index])
        shown = {name: "" if value is None else str(value) for name, value in payload.items()}
        assert shown == {name: "" if value == "NA" else value for name, value in rows[index].items()}


def test_whole_numbers_are_integers_and_missing_is_null() -> None:
    workload = workload_from_json({})
    first = json.loads(workload.payload(0))
    assert (first["dep_delay"], first["tailnum"], first["time_hour"]) == (2, "N14228", "2013-01-01T10:00:00Z")
    keyless = workload.key_codes(0, 20_000).index(-1)
    assert json.loads(workload.payload(keyless))["tailnum"] is None


@pytest.mark.parametrize(
    ("key", "first", "count"),
    [("tail_number", "N14228", 4043), ("carrier", "UA", 16), ("route", "EWR-IAH", 224), ("origin", "EWR", 3)],
)
def test_each_choice_of_key_names_its_keys(key: str, first: str, count: int) -> None:
    workload = workload_from_json({"key": key})
    assert workload.key(workload.key_code(0)) == first
    assert workload.key_count == count


def test_after_the_last_flight_the_data_starts_over_and_the_index_runs_on() -> None:
    workload = workload_from_json({})
    size = flights.ROW_COUNT
    assert workload.key_codes(size, size + 500) == workload.key_codes(0, 500)
    assert workload.key_codes(size - 3, size + 3) == workload.key_codes(size - 3, size) + workload.key_codes(
        0, 3
    )
    assert workload.payload(size + 7) == workload.payload(7)
    assert workload.arrival_us(size) > workload.arrival_us(size - 1)
    assert [workload.view(count)["loop"] for count in (0, size - 1, size, 2 * size)] == [0, 0, 1, 2]
    assert len(workload.distinct_until(2 * size)[0]) == flights.TAIL_NUMBER_COUNT


def test_the_strip_shows_a_flight_as_a_person_reads_it() -> None:
    assert workload_from_json({}).row(0) == {
        "carrier": "UA",
        "flight": 1545,
        "origin": "EWR",
        "dest": "IAH",
        "date": "2013-01-01",
        "time": "05:15",
    }


def test_flights_that_were_not_installed_are_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="make install"):
        flights.open_flights(tmp_path)


def test_a_table_of_another_format_asks_for_a_new_install(tmp_path: Path) -> None:
    (tmp_path / "tables.json").write_text('{"format": 0}')
    with pytest.raises(CommandError, match="another version"):
        flights.open_flights(tmp_path)


def test_a_file_that_is_not_the_package_s_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "flights.csv.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr(
            "flights.csv", ",".join(flights.COLUMNS) + "\n" + ",".join(["1"] * len(flights.COLUMNS)) + "\n"
        )
    with pytest.raises(HighwaterError, match="336776"):
        flights.convert(source, tmp_path / "flights")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
