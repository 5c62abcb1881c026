"""Every refusal that a person can meet has its Chinese sentence: the dashboard's own and those of the core."""

import ast
from pathlib import Path

from mqsite.messages import read_po

ROOT = Path(__file__).parents[2]
CATALOGUE = read_po(ROOT / "locale/zh_Hans/LC_MESSAGES/django.po")


def calls(folder, names, place):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names and len(node.args) > place:
                yield path, node.args[place]


def texts(expression):
    """The constant texts that an argument can be."""
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return [branch.value for branch in branches if isinstance(branch, ast.Constant)]


def test_every_refusal_of_the_core_is_a_template_with_a_translation():
    found = 0
    for path, argument in calls("broker_core/lab", {"CommandError"}, 1):
        constants = texts(argument)
        assert constants, f"{path.name}:{argument.lineno} builds its text, so it cannot be translated"
        for text in constants:
            assert CATALOGUE.get(text), f"{path.name}: {text}"
            found += 1
    assert found > 40


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
