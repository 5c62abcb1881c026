"""What `manage.py study` makes of a command line, without running anything: histories, columns, weights, and
each refusal at what was typed."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError, CommandParser

from broker_core.errors import CommandError as Refused
from dashboard.management import study_line
from dashboard.management.commands import study
from dashboard.management.commands.study import Command

CSV = "route,at,n\n" + "".join(f"r{number % 3},{number},{number}\n" for number in range(20))


def options(*words: str) -> dict[str, Any]:
    return vars(Command().create_parser("manage.py", "study").parse_args([*words, "--out", "out"]))


def request(*words: str) -> dict[str, Any]:
    return study_line.request_of(options(*words))


def refusal(*words: str) -> str:
    """As a person reads it: what was typed, and what is wrong with it."""
    given = options(*words)
    with pytest.raises(Refused) as refused:
        study_line.request_of(given)
    return f"{study_line.typed(refused.value.field, given)}: {refused.value.reason}"


@pytest.fixture
def csv(tmp_path: Path) -> str:
    path = tmp_path / "orders.csv"
    path.write_text(CSV)
    return str(path)


# -- who comes and goes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("4", []),
        ("4 +", [("join", None)]),
        ("4 + +c9", [("join", None), ("join", "c9")]),
        ("4 -c2 −c3", [("leave", "c2"), ("leave", "c3")]),
        ("4 c3x c1×", [("crash", "c3"), ("crash", "c1")]),
        ("4 c3x +c3 +c4", [("crash", "c3"), ("rejoin", "c3"), ("join", "c4")]),
        ("4 c3x +c3 -c3 +c3", [("crash", "c3"), ("rejoin", "c3"), ("leave", "c3"), ("join", "c3")]),
        ("4 c3x -c3 +c3", [("crash", "c3"), ("leave", "c3"), ("join", "c3")]),
        ("4 a.b-cx", [("crash", "a.b-c")]),
        ("4 c2~5 -c2", [("slow", "c2"), ("leave", "c2")]),
        ("4 c2@10s c3@5s+", [("restart", "c2"), ("restart", "c3")]),
        ("4 + deploy 10s deploy 9s+", [("join", None), ("restart", None), ("restart", None)]),
    ],
)
def test_a_history_is_a_number_and_the_changes_after_it(
    text: str, changes: list[tuple[str, str | None]]
) -> None:
    found = study_line.history_of(text)
    assert (found["kind"], found["start"]) == ("given", 4)
    assert [(change["kind"], change["consumer"]) for change in found["changes"]] == changes


@pytest.mark.parametrize(
    ("text", "history"),
    [
        ("2..64", {"kind": "autoscale", "from": 2, "to": 64}),
        (" 2 .. 64 ", {"kind": "autoscale", "from": 2, "to": 64}),
        ("rolling 8", {"kind": "rolling_restart", "consumers": 8}),
        ("rolling 8 10s", {"kind": "rolling_restart", "consumers": 8, "down_s": 10, "names": "own"}),
        ("rolling 8 10s+", {"kind": "rolling_restart", "consumers": 8, "down_s": 10, "names": "new"}),
        ("storm 16 8", {"kind": "crash_storm", "consumers": 16, "crashes": 8}),
        ('{"kind": "given", "start": 1}', {"kind": "given", "start": 1}),
    ],
)
def test_a_history_may_be_one_of_the_known_ones_or_json(text: str, history: dict[str, Any]) -> None:
    assert study_line.history_of(text) == history


NO_CHANGE = (
    "is not a change: + or +name joins, -name leaves, namex crashes, name~N slows, "
    "name@10s restarts (name@10s+ under a new name), deploy 10s restarts all"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'must be like "4 + + -c2", "4 deploy 10s", "2..64", "rolling 8" or "storm 16 8"'),
        ("four", 'must be like "4 + + -c2", "4 deploy 10s", "2..64", "rolling 8" or "storm 16 8"'),
        ("rolling", 'must be like "4 + + -c2", "4 deploy 10s", "2..64", "rolling 8" or "storm 16 8"'),
        ("4 ~c2", f"~c2 {NO_CHANGE}"),
        ("4 -", f"- {NO_CHANGE}"),
        ("4 c2@10", f"c2@10 {NO_CHANGE}"),
        ("4 deploy", f"deploy {NO_CHANGE}"),
        ("{4", "is not JSON"),
    ],
)
def test_a_history_that_is_none_says_what_one_looks_like(csv: str, text: str, said: str) -> None:
    assert refusal(csv, "--key", "route", "--members", text) == f"--members: {said}"


@pytest.mark.parametrize(
    ("words", "is_history"),
    [(["+", "-c2"], True), (["c3x"], True), (["+", "more"], False), (["--frob"], False), (["--max"], False)],
)
def test_a_history_without_quotes_is_told_to_be_quoted(words: list[str], is_history: bool) -> None:
    parser: CommandParser = Command().create_parser("manage.py", "study")
    with pytest.raises(CommandError) as refused:
        parser.parse_args(["flights", "--out", "out", "--members", "4", *words])
    assert (f'put the history in quotes: --members "4 {" ".join(words)}"' in str(refused.value)) == is_history


# -- what it is about ----------------------------------------------------------------------------------------


def test_the_flights_need_no_key_and_take_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert request("flights")["source"] == {"kind": "flights", "key": "tail_number"}
    assert request("flights", "--key", "carrier")["source"] == {"kind": "flights", "key": "carrier"}
    assert refusal("flights", "--time", "at") == "--time: does not apply to the flights"
    assert refusal("flights", "--kind", "csv") == "--kind: does not apply to the flights"
    (tmp_path / "flights").mkdir()
    assert refusal("flights", "--key", "route") == "FILE: say what flights is: --kind", (
        "a folder of that name comes first"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("orders.csv", "csv"),
        ("orders.TSV", "csv"),
        ("orders.csv.gz", "csv"),
        ("orders.jsonl", "jsonl"),
        ("orders.parquet", "parquet"),
    ],
)
def test_a_file_is_what_its_name_says(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"x") if name.endswith(".gz") else b"x")
    assert request(str(path), "--key", "route")["source"] == {
        "kind": kind,
        "path": str(path),
        "key": "route",
    }


def test_a_brokers_folder_is_a_log_although_it_holds_small_texts(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / "notes.csv").write_text("")
    (folder / f"{0:020}.log").write_bytes(b"")
    assert request(str(tmp_path))["source"] == {"kind": "kafka_log", "path": str(tmp_path)}
    assert refusal(str(tmp_path), "--key", "route") == "--key: does not apply to a Kafka log"


def test_a_file_that_is_missing_or_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "orders.dat").write_bytes(b"\0\1\2")
    assert refusal(str(tmp_path / "gone.dat"), "--key", "x") == f"FILE: {tmp_path}/gone.dat does not exist"
    assert (
        refusal(str(tmp_path / "orders.dat"), "--key", "x")
        == f"FILE: say what {tmp_path}/orders.dat is: --kind"
    )
    assert request(str(tmp_path / "orders.dat"), "--key", "x", "--kind", "csv")["source"]["kind"] == "csv"
    assert (
        refusal(str(tmp_path / "orders.dat"), "--key", "x", "--kind", "jsonl", "--delimiter", ";")
        == "--delimiter: does not apply to JSON lines"
    )


def test_a_folder_of_another_format_says_which(tmp_path: Path) -> None:
    (tmp_path / "a.avro").write_bytes(b"Obj\x01")
    assert refusal(str(tmp_path), "--key", "x").startswith(
        "FILE: a.avro is an Avro file: write it as Parquet"
    )


def test_a_key_that_was_left_out_is_proposed_by_how_values_repeat(csv: str, tmp_path: Path) -> None:
    assert (
        refusal(csv)
        == "--key: name the column with the key; route fits: 3 different values in the first 20 rows"
    )
    plain = tmp_path / "plain.csv"
    plain.write_text("a,b\n" + "".join(f"{number},{number + 100}\n" for number in range(20)))
    assert (
        refusal(str(plain))
        == "--key: name the column with the key; in the first rows of none do values repeat: a, b"
    )


# -- what matters --------------------------------------------------------------------------------------------


def test_what_is_left_out_is_left_to_the_pipeline(csv: str) -> None:
    asked = request(csv, "--key", "route")
    assert (
        set(asked) == {"source", "strategies", "history", "service"}
        and asked["service"] == {}
        and len(asked["strategies"]) > 4
    )
    asked = request(
        csv,
        "--key",
        "route",
        "--rate",
        "5",
        "--consumer-rate",
        "2",
        "--name",
        "mine",
        "--strategies",
        "kafka.range",
    )
    assert (
        asked["service"] == {"rate": 5, "consumer_rate": 2}
        and asked["name"] == "mine"
        and asked["strategies"] == ["kafka.range"]
    )


def test_weights_and_constraints_are_read_as_numbers_and_answers_where_they_are(csv: str) -> None:
    asked = request(
        csv,
        "--key",
        "route",
        "--weights",
        "skew=30, churn = 70",
        "--constraints",
        "keeps_order=false,wait_s_max=2,skew_max=many",
    )
    assert asked["weights"] == {"skew": 30, "churn": 70}
    assert asked["constraints"] == {"keeps_order": False, "wait_s_max": 2.0, "skew_max": "many"}
    assert request(csv, "--key", "route", "--weights", "skew=-1")["weights"] == {"skew": "-1"}, (
        "which the pipeline refuses"
    )


@pytest.mark.parametrize(
    ("option", "text"), [("weights", "skew=1,churn=2,skew=3"), ("constraints", "skew_max=1,skew_max=1")]
)
def test_what_is_given_twice_is_refused(csv: str, option: str, text: str) -> None:
    name = text.partition("=")[0]
    assert refusal(csv, "--key", "route", f"--{option}", text) == f"--{option} {name}: is given twice"


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("source.key", "--key"),
        ("source.path", "FILE"),
        ("source", "FILE"),
        ("service.consumer_rate", "--consumer-rate"),
        ("strategies.1", "--strategies b"),
        ("strategies", "--strategies"),
        ("weights.skew", "--weights skew"),
        ("constraints.skew_max", "--constraints skew_max"),
        ("history.changes.2", "--members"),
        ("name", "--name"),
        ("--key", "--key"),
    ],
)
def test_a_field_of_the_request_is_told_as_it_was_typed(field: str, typed: str) -> None:
    assert study_line.typed(field, {"strategies": ["a", "b"]}) == typed


@pytest.mark.parametrize(
    ("bad", "told"), [(2, "lines 3, 9"), (5, "lines 3, 9, 12, 14, 20"), (7, "lines 3, 9, 12, 14, 20, ...")]
)
def test_the_first_bad_rows_are_named_by_their_lines(tmp_path: Path, bad: int, told: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"line": [3, 9, 12, 14, 20, 31, 44][:bad]}), tmp_path / "bad_rows.parquet")
    assert study._first_lines(tmp_path, bad) == told


def test_the_size_of_a_source_is_that_of_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    for name in ("a.csv", "part/b.csv"):
        (tmp_path / name).write_text("12345")
    assert (
        study._size({"kind": "csv", "path": str(tmp_path)}) == 10
        and study._size({"kind": "csv", "path": str(tmp_path / "a.csv")}) == 5
    )
    assert study._size({"kind": "flights"}) == 0
