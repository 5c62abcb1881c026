"""The modules of static/js as one text, for where nobody loads them one by one: the server's own engine
(`page_scripts.py`) and a capsule, which is one file (`labs/capsules/`).

The modules that are needed are written one behind the other, each in a function of its own. A module has the name of
its file below static/js, `stage/present`; it imports others by `import { names } from "../base/say.js";` or
`import * as name`, and exports functions, constants and classes by name. A name that is imported and not found among
those of its module is an error, so that nothing is missing only when it is called. Why no bundler:
docs/decisions/a-capsule-is-the-page.md.
"""

import posixpath
import re
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings

_IMPORT = re.compile(r'^import (?:(\{[^}]*\}|\* as \w+) from )?"(\.[\w./]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)
_CONSTANTS = re.compile(r"^export const [A-Z].*$", re.MULTILINE)
_NEXT_CONSTANT = re.compile(r", ([A-Z][A-Z0-9_]*) = ")
_EXPORTED = re.compile(r"\bexport ?\{([^}]*)\};?")
_AWAITS = re.compile(r"^await ", re.MULTILINE)
BEGINNING = "const modules = {};\n"


def bundled(modules: Iterable[str]) -> str:
    """These modules after all that they import, each once; what each exports is modules[its name]. One that waits at
    its top makes the text one that only a module script can hold. Raises FileNotFoundError, and ValueError for a name
    that no module exports."""
    written: dict[str, Written] = {}
    for module in modules:
        write(module, written)
    return "".join([BEGINNING, *(each.text for each in written.values())])


class Written(NamedTuple):
    """A module as a function of its own, and the names that it exports."""

    text: str
    exports: list[str]


def write(module: str, written: dict[str, Written]) -> None:
    """Add a module after those that it imports."""
    if module in written:
        return
    text = (settings.BASE_DIR / "static" / "js" / f"{module}.js").read_text(encoding="utf-8")
    for names, address in _IMPORT.findall(text):
        other = _module_at(address, module)
        write(other, written)
        if missing := [name for name in _names(names) if name not in written[other].exports]:
            raise ValueError(f"{module} imports {missing} of {other}, which exports {written[other].exports}")
    exports, returned = _exports(text)
    body = _IMPORT.sub(lambda found: _taken(found[1], _module_at(found[2], module)), text)
    body = _EXPORTED.sub("", _EXPORT.sub(r"\1 \2", body))
    opening = "await (async () => {" if _AWAITS.search(text) else "(() => {"
    text = f'modules["{module}"] = {opening}\n{body}\nreturn {{ {", ".join(returned)} }};\n}})();\n'
    written[module] = Written(text, exports)


def _exports(text: str) -> tuple[list[str], list[str]]:
    """(the names that a module exports, what its function returns of each)."""
    names = [name for _kind, name in _EXPORT.findall(text)]
    for constants in _CONSTANTS.findall(text):
        names += _NEXT_CONSTANT.findall(constants)
    # a library that was packed names them at its end
    listed = [name for found in _EXPORTED.findall(text) for name in found.split(",")]
    return (
        [*names, *(name.split(" as ")[-1].strip() for name in listed)],
        [*names, *(_renamed(name, "{1}: {0}") for name in listed)],
    )


def _names(taken: str) -> list[str]:
    """The names that an import takes: none where it takes the whole module."""
    found = [] if taken.startswith("*") else taken.strip("{}").split(",")
    return [name.split(" as ")[0].strip() for name in found if name.strip()]


def _taken(names: str | None, module: str) -> str:
    """What stands in place of an import."""
    if names is None:
        return ""
    if names.startswith("*"):
        return f'const {names.removeprefix("* as ")} = modules["{module}"];'
    taken = ", ".join(_renamed(name, "{0}: {1}") for name in names.strip("{}").split(",") if name.strip())
    return f'const {{ {taken} }} = modules["{module}"];'


def _renamed(name: str, pattern: str) -> str:
    """`one as other` by the pattern; a name alone as it is."""
    one, _as, other = name.strip().partition(" as ")
    return pattern.format(one, other) if other else one


def _module_at(address: str, module: str) -> str:
    """The module that `module` imports from `address`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), address))
