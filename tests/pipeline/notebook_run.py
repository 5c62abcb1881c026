"""Run the cells of docs/analyze/study.ipynb as a notebook would, and write what they show under them.

python -m tests.pipeline.notebook_run     after the study's results or the notebook's cells have changed
"""

import ast
import contextlib
import io
import json
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "docs/analyze/study.ipynb"
PLOTLY = "application/vnd.plotly.v1+json"


def run_cell(source, name, scope):
    """The outputs of one code cell: what it prints, and what its last line shows: a DataFrame as text and table, a
    plotly figure as its JSON."""
    tree, said = ast.parse(source, name), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, name, "exec"), scope)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
    outputs = []
    if said.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "to_plotly_json"):
            figure = json.loads(value.to_json())
            figure["layout"].pop("template", None)  # plotly's own look: nine tenths of the text
            data = {PLOTLY: figure, "text/plain": ["Figure"]}
        elif hasattr(value, "to_html"):
            data["text/html"] = _lines(value.to_html())
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def _lines(text):
    return text.splitlines(keepends=True)


def main():
    notebook, scope = json.loads(NOTEBOOK.read_text(encoding="utf-8")), {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run_cell("".join(cell["source"]), cell["id"], scope)
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
