"""The page's own modules of static/js, run by the server: what the first frame says comes from the code that
says every later one.

The engine is QuickJS, which speaks ES2020 and knows no files: it gets the modules as one text (`page_modules.py`).
"""

import json
import threading
from functools import cache
from typing import Any

import quickjs

from dashboard.page_modules import bundled

_MODULES = ("stage/present", "drawing/paint", "base/marks", "base/events", "frame/asked", "why/things")
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
    return bundled(_MODULES) + _CALL
