"""The notebook in docs/analyze: valid, without traces of a machine, and its cells still run and show the same:
lines, tables and plots."""

import json
import re
from pathlib import Path

import pytest

from broker_core.pipeline import session
from tests.notebook_run import PLOTLY, run_cell

NOTEBOOK = Path(__file__).parents[2] / "docs/analyze/study.ipynb"


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_the_notebook_is_nbformat_4_and_tells_nothing_of_a_machine(notebook):
    assert notebook["nbformat"] == 4 and notebook["nbformat_minor"] >= 5
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("markdown", "code") and isinstance(cell["source"], list)
        assert cell["cell_type"] == "markdown" or {"outputs", "execution_count"} <= set(cell)
    assert not re.search(r"/(home|tmp|work|Users|root)/", NOTEBOOK.read_text(encoding="utf-8"))
    assert len(NOTEBOOK.read_bytes()) < 50_000


def test_its_cells_show_what_stands_under_them(spark, notebook, monkeypatch):
    monkeypatch.setattr(session, "spark_open", lambda **_: spark)
    monkeypatch.setattr(session, "spark_stop", lambda _: None)
    scope = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert run_cell("".join(cell["source"]), cell["id"], scope) == cell["outputs"], cell["id"]


def test_it_shows_tables_and_plots(notebook):
    shown = [set(output.get("data", ())) for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert sum("text/html" in kinds for kinds in shown) >= 3 and sum(PLOTLY in kinds for kinds in shown) == 2
