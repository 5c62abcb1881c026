"""The page's own modules of static/js, run by the server: what the first frame says comes from the code that
says every later one.

The engine is QuickJS, which speaks ES2020 and knows no files, so the modules that a function needs are
written one behind the other, each in a function of its own. A module has the name of its file below static/js,
`stage/present`; it imports others by `import { names } from "../base/say.js";`, and exports functions and
constants by name.
"""

import json
import posixpath
import re
import threading
from functools import cache
from typing import Any

import quickjs
from django.conf import settings

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|function) (\w+)", re.MULTILINE)
_MODULES = ("stage/present", "drawing/paint", "base/marks", "base/events", "frame/asked")
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
    for _names, address in _IMPORT.findall(text):
        _write(_module_at(address, module), written)
    exports = ", ".join(name for _kind, name in _EXPORT.findall(text))
    body = _IMPORT.sub(
        lambda found: f'const {{{found[1]}}} = modules["{_module_at(found[2], module)}"];', text
    )
    body = _EXPORT.sub(r"\1 \2", body)
    written[module] = f'modules["{module}"] = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n'


def _module_at(address: str, module: str) -> str:
    """The module that `module` imports from `address`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), address))
