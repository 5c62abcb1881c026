"""Which column a form proposes as the key: by how its values repeat, then by its name."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.pipeline.sources.key_choice import column_use, key_proposed, time_proposed
from broker_core.pipeline.sources.preview import source_preview

ROWS = 400
ORDERS = [
    {
        "order_id": f"o-{number}",
        "created_at": f"2026-05-01T10:{number % 7:02d}:00Z",
        "amount": f"{number % 90}.5",
        "shop": "one",
        "country": ("DE", "FR", "CN")[number % 3],
        "buyer": f"b-{number * number % 97}",
    }
    for number in range(ROWS)
]


def columns(rows):
    return [
        {"name": name, "type": "text", "use": column_use([row[name] for row in rows])} for name in rows[0]
    ]


def test_a_column_that_repeats_is_proposed_and_one_that_is_called_id_but_is_unique_is_not():
    found = {column["name"]: column["use"]["code"] for column in columns(ORDERS)}
    assert found == {
        "order_id": "unique",
        "created_at": "few",
        "amount": "repeats",
        "shop": "constant",
        "country": "few",
        "buyer": "repeats",
    }
    assert key_proposed(columns(ORDERS)) == "buyer"


def test_a_name_decides_only_between_columns_whose_values_are_as_good():
    rows = [
        {"city": f"c-{number % 50}", "device_id": f"d-{number % 40}", "id": str(number)}
        for number in range(ROWS)
    ]
    assert key_proposed(columns(rows)) == "device_id"
    assert key_proposed(columns([{**row, "device_id": "d-1"} for row in rows])) == "city"


def test_where_no_column_repeats_none_is_proposed():
    assert (
        key_proposed(columns([{"id": str(number), "shop": "one", "note": ""} for number in range(9)])) is None
    )
    assert key_proposed([]) is None and key_proposed([{"name": "a", "type": "text"}]) is None


def test_a_moment_or_a_measured_figure_is_the_last_resort():
    rows = [{"amount": f"{number % 30}.25", "state": ("open", "paid")[number % 2]} for number in range(ROWS)]
    assert key_proposed(columns(rows)) == "state"
    assert key_proposed(columns([{"amount": row["amount"]} for row in rows])) == "amount"


def test_an_export_of_excel_has_its_customer_as_the_key_and_its_date_as_the_time(tmp_path):
    rows = [
        f"{1 + number % 28:02d}.10.2025 08:{number % 60:02d};Weiß & Söhne {number % 30};{number % 90},50;{number % 9}"
        for number in range(ROWS)
    ]
    path = tmp_path / "export.csv"
    path.write_text("\n".join(["Datum;Kunde;Betrag;Menge", *rows]), encoding="cp1252")
    shown = source_preview({"kind": "csv", "path": str(path)})
    assert (shown["key"], shown["time"]) == ("Kunde", "Datum")
    assert [column["type"] for column in shown["columns"]] == ["time", "text", "text", "number"]


def test_of_a_change_the_row_after_it_is_proposed_before_the_former_one():
    rows = [
        {
            "payload.before.customer_id": "" if number % 9 == 0 else f"c{number % 61}",
            "payload.after.customer_id": "" if number % 5 == 0 else f"c{number % 60}",
        }
        for number in range(ROWS)
    ]
    assert key_proposed(columns(rows)) == "payload.after.customer_id"
    assert time_proposed([*columns(rows), {"name": "payload.ts_ms", "type": "number"}]) == "payload.ts_ms"


def test_use_counts_the_values_that_are_there():
    assert column_use(["a", None, "", "b", "a"]) == {
        "code": "few",
        "params": {"rows": 3, "values": 2, "per_value": 1.5},
        "is_decimal": False,
    }
    assert column_use([None, ""])["code"] == "empty"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_preview_of_every_kind_of_file_says_which_column_and_why(tmp_path, kind):
    path = tmp_path / f"orders.{kind}"
    if kind == "parquet":
        pq.write_table(
            pa.Table.from_pylist([row | {"tags": ["a"], "payload": b"x" * 2_000} for row in ORDERS]), path
        )
    elif kind == "csv":
        path.write_text("\n".join([",".join(ORDERS[0]), *(",".join(row.values()) for row in ORDERS)]))
    else:
        path.write_text("\n".join(str(row).replace("'", '"') for row in ORDERS))
    shown = source_preview({"kind": kind, "path": str(path)})
    uses = {column["name"]: column.get("use") for column in shown["columns"]}
    assert shown["key"] == "buyer" and len(shown["rows"]) == 20
    assert uses["buyer"]["params"]["rows"] == ROWS and uses["order_id"]["code"] == "unique"
    assert uses.get("payload") is None and uses.get("tags") is None, (
        "a payload is not read through to be no key"
    )
