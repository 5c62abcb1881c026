"""What changed between two views, as an RFC 6902 patch.

Objects are compared key by key, lists of the same length item by item; a list that grew or shrank is replaced
whole. Views are built so that what changes often is an object keyed by id, and a list changes only when an
assignment does.
"""

from typing import Any

from broker_core.events import Json

Patch = list[Json]


def diff(old: Json, new: Json) -> Patch:
    """The add, remove and replace operations that turn `old` into `new`, both plain JSON. Empty when they are
    equal.

    >>> diff({"a": 1, "b": [1, 2]}, {"b": [1, 3], "c/d": None})
    [{'op': 'remove', 'path': '/a'}, {'op': 'replace', 'path': '/b/1', 'value': 3}, {'op': 'add', 'path':
    '/c~1d', 'value': None}]
    """
    patch: Patch = []
    _diff_object(old, new, "", patch)
    return patch


def _diff_object(old: Json, new: Json, path: str, patch: Patch) -> None:
    for key in old:
        if key not in new:
            patch.append({"op": "remove", "path": f"{path}/{_escape(key)}"})
    for key, value in new.items():
        if key not in old:
            patch.append({"op": "add", "path": f"{path}/{_escape(key)}", "value": value})
            continue
        before = old[key]
        if before is value:
            continue
        # Objects are gone into without being compared first: that would look at every leaf once per level.
        if type(value) is dict and type(before) is dict:
            _diff_object(before, value, f"{path}/{_escape(key)}", patch)
        elif before != value:
            _diff_value(before, value, f"{path}/{_escape(key)}", patch)
        elif type(before) is not type(value):
            # 1 == 1.0 == True in Python, not in the JSON text.
            patch.append({"op": "replace", "path": f"{path}/{_escape(key)}", "value": value})


def _diff_value(old: Any, new: Any, path: str, patch: Patch) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        _diff_object(old, new, path, patch)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        changed = [index for index, item in enumerate(new) if old[index] != item]
        if len(changed) * 2 > len(new):  # one replace is shorter than many
            patch.append({"op": "replace", "path": path, "value": new})
            return
        for index in changed:
            _diff_value(old[index], new[index], f"{path}/{index}", patch)
    else:
        patch.append({"op": "replace", "path": path, "value": new})


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key
