"""A file that states a case: what is wrong is said at its line and field."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.breaking.case import case_from_json
from broker_core.lab.breaking.faults import FAULTS, faults_of
from broker_core.lab.breaking.file import cases, stated_in
from broker_core.lab.breaking.promise import ALL_MODELS, KINDS, promises_of
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.scenario import scenario_from_json

TEXT = cases()["kafka_min_insync_1_two_crashes"].read_text()


@pytest.mark.parametrize(
    ("was", "now", "where"),
    [
        ("lasts_s = 60", "lasts_s = 1", "lasts_s: must be a whole number"),
        ("lasts_s = 60\n", "", "lasts_s: is missing"),
        ("lasts_s = 60", "lasts = 60", "lasts: is unknown"),
        ('expect = "broken"', 'expect = "perhaps"', "expect: must be one of broken, kept"),
        ("partitions = 1", "partitions = 0", "lane 1, partitions: must be"),
        ('kind = "nothing_lost"', 'kind = "no_luck"', "promise.kind: must be one of"),
        ('kind = "nothing_lost"', 'kind = "nothing_lost"\nat_most = 4', "promise.at_most: does not belong"),
        ('kind = "nothing_lost"', 'kind = "queue_at_most"', "promise.at_most: must be"),
        (
            'kind = "nothing_lost"',
            'kind = "nothing_lost"\nlane = "other"',
            "promise.lane: must be one of kafka",
        ),
        ('do = "cluster_cut_power"', 'do = "rabbitmq_crash"', "may 2, do: must be one of"),
        ('do = "cluster_cut_power"', 'do = "cluster_crash"', "may 2, do: cluster_crash is listed twice"),
        ("most = 2", "most = 9", "may 3, most: must be a whole number from 1 to 5"),
        ("from_s = 30", "from_s = 90", "may 3, from_s: must be"),
        ("from_s = 30", "broker = 90", "may 3, broker: must be"),
        ("from_s = 30", "wheel = 90", "may 3, wheel: is unknown"),
        ("title.zh", "title.fr", "title.fr: is unknown"),
        ("rate = 5", "rate = -5", "workload.rate: must be"),
    ],
)
def test_what_is_wrong_is_said_at_its_line_and_field(was: str, now: str, where: str) -> None:
    text = TEXT.replace(was, now, 1)
    assert text != TEXT
    with pytest.raises(FileError) as error:
        stated_in(text)
    assert where in str(error.value)
    written = now.split("\n")[-1].split(" =")[0] or "#"
    assert error.value.line == 1 or text.splitlines()[error.value.line - 1].startswith((written, "[")), (
        error.value
    )


@pytest.mark.parametrize("model", ALL_MODELS)
def test_each_promise_of_a_model_can_be_measured_in_it(model: str) -> None:
    lab = Lab(scenario_from_json({"lanes": [{"model": model}], "consumers": 2}))
    lab.advance_to(3_000_000)
    assert promises_of(model) and all(
        KINDS[kind].measure(lab.lanes[model]) >= 0 for kind in promises_of(model)
    )


@pytest.mark.parametrize("model", ALL_MODELS)
def test_each_fault_of_a_model_may_be_allowed(model: str) -> None:
    for kind in faults_of(model):
        raw = {
            "scenario": {"lanes": [{"model": model}]}, "promise": {"kind": "key_order"},
            "may": [{"do": kind, "most": 1}], "lasts_us": 10_000_000,
        }  # fmt: skip
        assert case_from_json(raw).may[0].do == kind


def test_a_repair_ends_what_the_same_models_may_suffer() -> None:
    for kind in FAULTS.values():
        assert all(set(FAULTS[ended].models) == set(kind.models) for ended in kind.ends)


def test_a_promise_and_a_fault_that_are_wrong_are_refused_together() -> None:
    raw = {"scenario": {}, "promise": {"kind": "?"}, "may": [], "lasts_us": 10_000_000}
    with pytest.raises(CommandError) as error:
        case_from_json(raw)
    assert [error.value.field, *(other.field for other in error.value.others)] == ["promise.kind", "may"]
