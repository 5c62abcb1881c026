"""Run the cells of a notebook of docs/ as Jupyter would, and write what they show under them.

python -m tests.notebook_run docs/lab.ipynb             after its cells, or what they come to, have changed
python -m tests.notebook_run docs/lab.ipynb --check     exit code 1 where something else comes than stands there
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path

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


def main(name, *options):
    path = Path(name)
    notebook, scope = json.loads(path.read_text(encoding="utf-8")), {}
    changed = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            before, cell["outputs"] = cell["outputs"], run_cell("".join(cell["source"]), cell["id"], scope)
            changed += [cell["id"]] if cell["outputs"] != before else []
    if "--check" in options:
        sys.exit(f"another output: {', '.join(changed)}" if changed else 0)
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
