"""The page's own modules of static/js, run by the server: what the first frame says comes from the code that
says every later one.

The engine is QuickJS, which speaks ES2020 and knows no files, so the modules that a function needs are
written one behind the other, each in a function of its own; a module here imports only its neighbours, by
`import { names } from "./module.js";`, and exports functions and constants by name.
"""

import json
import re
import threading
from functools import cache
from typing import Any

import quickjs
from django.conf import settings

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|function) (\w+)", re.MULTILINE)
_MODULES = ("present", "paint")
_CALL = (
    "globalThis.call = (module, name, given) => JSON.stringify(modules[module][name](...JSON.parse(given)));"
)
_engines = threading.local()


def call(module: str, name: str, *given: Any) -> Any:
    """What `name` of static/js/<module>.js answers; arguments and answer are plain JSON. Raises
    quickjs.JSException."""
    engine = getattr(_engines, "call", None)
    if engine is None:  # an engine belongs to the thread that made it
        context = quickjs.Context()
        context.eval(_source())
        engine = _engines.call = context.get("call")
    return json.loads(engine(module, name, json.dumps(given)))


@cache
def _source() -> str:
    written: dict[str, str] = {}
    for module in _MODULES:
        _write(module, written)
    return "".join(["const modules = {};\n", *written.values(), _CALL])


def _write(module: str, written: dict[str, str]) -> None:
    """Add a module after those that it imports."""
    if module in written:
        return
    text = (settings.BASE_DIR / "static" / "js" / f"{module}.js").read_text(encoding="utf-8")
    for _names, needed in _IMPORT.findall(text):
        _write(needed, written)
    exports = ", ".join(name for _kind, name in _EXPORT.findall(text))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const {\1} = modules.\2;", text))
    written[module] = f"modules.{module} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"
