"""How a file is recognised by its content, and how a difference is narrowed down to the place where two
answers part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.conformance.__main__ import main
from broker_core.conformance.kinds import KINDS, kind_of
from broker_core.conformance.report import (
    VALUE_CHARACTERS_SHOWN,
    failure_lines,
    narrowed,
    shown_id,
    skip_line,
)
from broker_core.conformance.result import CaseResult, case, compare, skipped
from tests.core.conformance.recorded import VECTORS, recorded

Json = dict[str, Any]
FEW = settings(max_examples=50, deadline=None)
FILES = {
    "kafka/partitioner": "partitioner",
    "kafka/assignors_rack": "assignors_rack",
    "kafka/consumer_protocol": "consumer_protocol",
    "kafka/group/offsets": "group_coordinator",
    "kafka/group/offsets_old_scala": "group_coordinator_old",
    "kafka/records/batches": "batches",
    "kafka/records/corrupt": "corrupt",
    "kafka/records/varint_crc": "varint_crc",
    "kafka/replication/epoch_cache": "epoch_cache",
    "kafka/replication/partition": "partition",
    "kafka/replication/unified_log": "unified_log",
    "kafka/replication/fetcher": "fetcher",
    "pulsar/murmur": "murmur",
    "pulsar/failover": "failover",
    "pulsar/shared_dispatch": "shared_dispatch",
    "pulsar/sticky_ranges": "sticky_ranges",
    "pulsar/key_shared_order_3_2": "key_shared_order_3_2",
    "tubemq/broker_register": "broker_register",
    "tubemq/master_register": "master_register",
    "tubemq/meta_expand": "meta_expand",
    "tubemq/mod_assign": "mod_assign",
    "tubemq/client_life": "client_life",
    "tubemq/server_cycles": "server_cycles",
    "tubemq/server_resource_rate": "server_resource_rate",
    "tubemq/server_start_assign": "server_start_assign",
    "tubemq/set_difference": "set_difference",
}


# -- kinds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "kind"), FILES.items(), ids=list(FILES.values()))
def test_a_file_under_any_name_is_of_its_own_kind(file: str, kind: str) -> None:
    found = kind_of(recorded(file), "mod_assign.json")
    assert found is not None and found.name == kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_list_without_rows_goes_by_the_name_of_its_file(kind: Any) -> None:
    for section in kind.sections:
        for name in kind.file_names:
            found = kind_of({section: []}, f"{name}.json.gz")
            assert found is not None and found.name == kind.name
        assert kind_of({section: []}, "another.json") is None


def test_content_is_believed_before_the_name() -> None:
    row: Json = {"topic_meta": [], "second_topic_meta": []}
    found = kind_of({"cases": [row]}, "set_difference.json")
    assert found is not None and found.name == "meta_expand"
    assert kind_of({"cases": [{"topic_meta": []}]}, "meta_expand.json") is None, (
        "and rows that lack a field are no kind, whatever the name"
    )


def test_steps_that_no_dispatcher_writes_are_of_no_kind() -> None:
    assert kind_of({"cases": [{"id": "x", "steps": [{"op": "add"}]}]}, "x.json") is None
    assert kind_of({"cases": [{"id": "x", "steps": []}]}, "x.json") is None


def test_every_recorded_file_that_the_command_knows_is_of_a_kind_by_its_name_too() -> None:
    names = {path.name.removesuffix(".json.gz") for path in VECTORS.rglob("*.json.gz")}
    assert {name for kind in KINDS for name in kind.file_names} <= names


# -- where two answers part ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "got", "place"),
    [
        ({"a": 1}, {"a": 2}, ("a", 1, 2)),
        ({"a": {"b": [0, {"c": 1}]}}, {"a": {"b": [0, {"c": 2}]}}, ("a.b[1].c", 1, 2)),
        ([1, 2], [1, 3], ("[1]", 2, 3)),
        ({"a": 1, "b": 1}, {"a": 2, "b": 2}, ("", {"a": 1, "b": 1}, {"a": 2, "b": 2})),
        ({"a": [1]}, {"a": [1, 2]}, ("a", [1], [1, 2])),
        ({"a": 1}, {"b": 1}, ("", {"a": 1}, {"b": 1})),
        (1, 2, ("", 1, 2)),
        ({"a": {"x": 1}}, {"a": [1]}, ("a", {"x": 1}, [1])),
        ({"a": None}, {"a": {}}, ("a", None, {})),
        ([], {}, ("", [], {})),
    ],
)
def test_a_difference_is_narrowed_as_long_as_it_is_in_one_place(
    expected: object, got: object, place: object
) -> None:
    assert narrowed(expected, got) == place


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)


@FEW
@given(JSON, JSON)
def test_what_is_shown_of_two_different_answers_is_never_the_same(expected: object, got: object) -> None:
    """Law: a report that says expected x, got x would be worse than none."""
    if expected == got:
        return
    _, wanted, seen = narrowed(expected, got)
    assert wanted != seen


@FEW
@given(JSON, JSON)
def test_a_case_passes_only_when_its_answers_are_equal(expected: object, got: object) -> None:
    result = compare("x", expected, got)
    assert (result.outcome == "passed") == (expected == got)
    assert result.outcome == "passed" or (result.expected, result.got) == (expected, got)


def test_an_exception_is_what_a_case_got_and_an_exit_is_not_caught() -> None:
    def broken() -> CaseResult:
        raise KeyError("steps")

    def ended() -> CaseResult:
        raise KeyboardInterrupt

    assert (case("x", broken).outcome, case("x", broken).got) == ("failed", "KeyError: 'steps'")
    with pytest.raises(KeyboardInterrupt):
        case("x", ended)


def test_a_long_value_is_cut_and_its_length_told() -> None:
    fits, long = "a" * (VALUE_CHARACTERS_SHOWN - 2), "a" * VALUE_CHARACTERS_SHOWN
    _, whole, cut = failure_lines(compare("x", fits, long))
    assert whole == f'    expected "{fits}"'
    assert (
        cut.endswith(f"… ({VALUE_CHARACTERS_SHOWN + 2} characters)")
        and len(cut) < VALUE_CHARACTERS_SHOWN + 60
    )


def test_a_value_that_json_does_not_know_is_shown_all_the_same() -> None:
    _, expected, got = failure_lines(compare("x", {1, 2}, b"\x00"))
    assert (expected, got) == ('    expected "{1, 2}"', "    got      \"b'\\\\x00'\"")


@pytest.mark.parametrize(
    ("case_id", "shown"),
    [("meta-1", "meta-1"), ("键", "键"), ("a\nb", '"a\\nb"'), ("\x1b[31m", '"\\u001b[31m"'), ("", "")],
)
def test_an_id_that_would_disturb_the_report_is_quoted(case_id: str, shown: str) -> None:
    assert shown_id(case_id) == shown


def test_a_skip_says_why() -> None:
    assert skip_line(skipped("a\tb", "no answer of 4.x")) == '  skipped "a\\tb": no answer of 4.x'


def test_one_wrong_value_in_a_whole_folder_is_found_and_fails_the_run(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    (tmp_path / "v").mkdir()
    for name in ("meta_expand", "set_difference"):
        document = json.loads(json.dumps(recorded(f"tubemq/{name}")))
        if name == "set_difference":
            document["cases"][-1]["registered_after"].append("9:x:0")
        (tmp_path / "v" / f"{name}.json").write_text(json.dumps(document))
    assert main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "v/meta_expand.json: 20 passed, 0 failed, 0 skipped"
    assert lines[1] == "v/set_difference.json: 59 passed, 1 failed, 0 skipped"
    assert lines[2].startswith(
        f"  failed {recorded('tubemq/set_difference')['cases'][-1]['id']} at registered_after"
    )
    assert lines[-1] == "79 passed, 1 failed, 0 skipped"
