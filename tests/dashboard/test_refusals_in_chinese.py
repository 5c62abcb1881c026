"""Every refusal that a person can meet has its Chinese sentence: the dashboard's own and those of the
core."""

import ast
import json
import pickle
from pathlib import Path

import pytest
from django.utils import translation

from broker_core.errors import CommandError, Names
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.replica_placer import TOO_FEW_BROKERS
from dashboard.errors import in_words
from dashboard.studies import reasons
from mqsite.messages import read_po

ROOT = Path(__file__).parents[2]
CATALOGUE = read_po(ROOT / "locale/zh_Hans/LC_MESSAGES/django.po")


def calls(folder, names, place):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") in names
                and len(node.args) > place
            ):
                yield path, node.args[place]


def texts(expression):
    """The constant texts that an argument can be."""
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return [branch.value for branch in branches if isinstance(branch, ast.Constant)]


FROM_FILES = {"definitions.py", "json_table.py"}
"""Where the RabbitMQ model reads what a person uploads."""


def test_every_refusal_of_the_core_is_a_template_with_a_translation():
    found = 0
    core = [
        *calls("broker_core/lab", {"CommandError"}, 1),
        *calls("broker_core/wire/faults", {"CommandError"}, 1),
        *(
            (path, each)
            for path, each in calls("broker_core/rabbitmq", {"CommandError"}, 1)
            if path.name in FROM_FILES
        ),
    ]
    for path, argument in core:
        constants = texts(argument)
        assert constants, f"{path.name}:{argument.lineno} builds its text, so it cannot be translated"
        for text in constants:
            assert CATALOGUE.get(text), f"{path.name}: {text}"
            found += 1
    assert found > 40


ONLY_PROGRAMS_HEAR = {
    "register_broker",
    "unregister_broker",
    "alter_partition",
    "_registered",
    "_check_alter_partition",
}


def test_every_refusal_of_the_controller_to_an_operator_is_a_template_with_a_translation():
    found = 0
    for path in (
        "controller/controller.py",
        "controller/cluster_metadata.py",
        "cluster/foreseen.py",
        "replication/replica_placer.py",
        "replication/reassignment.py",
    ):
        tree = ast.parse((ROOT / "broker_core/kafka" / path).read_text())
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name not in ONLY_PROGRAMS_HEAR
        ]
        for node in (node for function in functions for node in ast.walk(function)):
            if (
                not isinstance(node, ast.Call)
                or getattr(node.func, "id", "") != "Refused"
                or isinstance(node.args[1], ast.Name)
            ):
                continue
            for text in texts(node.args[1]) or [f"{node.lineno} builds its text, so it cannot be translated"]:
                assert CATALOGUE.get(text), f"{path}: {text}"
                found += 1
    assert found > 15 and CATALOGUE[TOO_FEW_BROKERS]


@pytest.mark.parametrize(
    ("language", "words"), [("en", "broker 7 is not registered"), ("zh-hans", "Broker 7 未注册")]
)
def test_the_controllers_refusal_is_a_sentence_within_ours(language, words):
    refused = Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker {broker} is not registered", broker=7)
    error = CommandError(
        "args.replicas", "{error}: {reason}", error=refused.code.name, reason=refused.sentence
    )
    assert str(error) == "args.replicas: INVALID_REPLICA_ASSIGNMENT: broker 7 is not registered"
    with translation.override(language):
        assert in_words(error).startswith("INVALID_REPLICA_ASSIGNMENT") and in_words(error).endswith(words)


def test_every_refusal_of_the_dashboard_has_a_translation():
    for path, argument in calls("dashboard", {"_", "gettext"}, 0):
        for text in texts(argument):
            assert CATALOGUE.get(text), f"{path.name}: {text}"


def test_every_reason_of_the_pipeline_is_a_template_with_a_translation():
    found = 0
    for names, place in (({"CommandError"}, 1), ({"StudyFailed", "SparkUnavailable", "SourceFailed"}, 0)):
        for path, argument in calls("broker_core/pipeline", names, place):
            for text in texts(argument):
                assert CATALOGUE.get(text), f"{path.name}: {text}"
                # Of a file that is alone the request's refusal leaves the name out.
                if path.name in ("rows.py", "csv_rows.py", "parquet_rows.py") and text != "{file}: {reason}":
                    assert CATALOGUE.get(text.removeprefix("{file}: ")), f"{path.name}: {text}"
                found += 1
    assert found > 40


@pytest.mark.parametrize(
    ("language", "words"), [("en", "must be one of csv, jsonl"), ("zh-hans", "只能是其中之一：csv、jsonl")]
)
def test_names_in_a_refusal_are_listed_as_the_language_lists_them(language, words):
    error = pickle.loads(pickle.dumps(Names(["csv", "jsonl"])))
    with translation.override(language):
        assert in_words(CommandError("source.kind", "must be one of {choices}", choices=error)) == words
        kept = json.loads(json.dumps(reasons.reason("must be one of {choices}", choices=error)))
        assert reasons.in_words(kept) == words


def test_no_refusal_joins_names_by_a_comma_of_its_own():
    """`Names` in the core and `listed` on the page are the only ones."""
    raised = {"CommandError", "Refused", "SentenceError", "SourceFailed", "FileError", "_Wrong"}
    for folder in ("broker_core", "dashboard"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in raised:
                    assert "', '.join" not in ast.unparse(node), f"{path.name}:{node.lineno}"
