"""/fidelity/ says what the conformance command counted, of every algorithm and every file of recorded answers."""

from pathlib import Path

import pytest
from django.test import Client

from broker_core.conformance.fidelity import RECORDINGS, Recording
from broker_core.lab.scenario import LANE_KINDS
from dashboard.fidelity.answers import DIFFERENCES, lane_line, lane_lines, products, results
from dashboard.sentences import SENTENCES

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
QUICK = (
    "pulsar/consistent_hash",
    "kafka/assignors_rack",
    "kafka/partitioner",
    "tubemq/mod_assign",
    "rabbitmq/topic_routing",
)
"""Files whose every recording is run again here; `tests/vectors` compares each file that is one recording."""


def named(recording: Recording) -> str:
    return f"{recording.file}-{'-'.join(recording.algorithms)}"


@pytest.mark.parametrize("recording", [each for each in RECORDINGS if each.file in QUICK], ids=named)
def test_the_committed_counts_are_what_the_command_counts(recording: Recording) -> None:
    assert recording.row(VECTORS) in results(), "stale: make fidelity"


def test_every_recorded_file_has_its_counts_and_no_other() -> None:
    files = {str(path.relative_to(VECTORS)).removesuffix(".json.gz") for path in VECTORS.rglob("*.json.gz")}
    assert files == {each.file for each in RECORDINGS} == {row["file"] for row in results()}
    told = [(each.file, each.product, list(each.versions), list(each.algorithms)) for each in RECORDINGS]
    assert told == [(row["file"], row["product"], row["versions"], row["algorithms"]) for row in results()]
    assert all(
        row["failed"] == 0 and row["recorded"] == row["met"] + len(row["skipped"]) for row in results()
    )


def test_a_rule_without_recorded_answers_is_one_that_no_product_runs() -> None:
    own = {(row["product"], algorithm) for row in results() for algorithm in row["algorithms"]}
    for model, kind in LANE_KINDS.items():
        for entry in kind.algorithms():
            if model != "rabbitmq":  # its algorithms are one rule with another number
                assert entry["document"] != ((model, entry["id"]) in own), entry["id"]
    assert lane_line("kafka", "range")["code"] == "fidelity.lane"
    assert lane_line("kafka", "range_global")["code"] == "fidelity.lane_rest"


def test_a_lane_counts_its_own_rule_and_what_all_lanes_of_its_model_run() -> None:
    rows = {(row["file"], *row["algorithms"]): row["met"] for row in results()}
    shared = sum(row["met"] for row in results() if row["product"] == "kafka" and not row["algorithms"])
    own = rows["kafka/assignors", "range"] + rows["kafka/assignors_rack", "range"]
    assert lane_line("kafka", "range")["params"] == {"count": own + shared, "product": "Kafka 3.9"}
    assert lane_line("pulsar", "consistent_hash_current")["params"]["product"] == "Pulsar 4.3"
    assert lane_lines()["kafka"]["server_uniform"]["params"]["count"] > shared


def test_every_row_and_difference_has_its_words() -> None:
    for product in products():
        assert product["recorded"] >= product["met"] > 0
        for row in product["rows"]:
            assert {row["of"], *row["algorithms"]} <= set(SENTENCES), row["file"]
    for product, differences in DIFFERENCES.items():
        for each in differences:
            code = f"fidelity.differs.{product}.{each}"
            assert {code, f"{code}.why"} <= set(SENTENCES)


@pytest.mark.parametrize(("language", "says"), [("en", "Known differences"), ("zh-hans", "已知差异")])
def test_the_page_shows_every_recording(client: Client, language: str, says: str) -> None:
    page = client.get("/fidelity/", headers={"accept-language": language}).content.decode()
    assert says in page and all(f'id="{product}"' in page for product in LANE_KINDS)
    assert page.count("data-recording=") == len(RECORDINGS)
