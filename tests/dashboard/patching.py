"""RFC 6902 as a browser applies it, for tests that follow the frames."""

import copy
from typing import Any


def apply_patch(document: Any, patch: list[dict[str, Any]]) -> Any:
    document = copy.deepcopy(document)
    for operation in patch:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        target = document
        for part in parents:
            target = target[int(part)] if isinstance(target, list) else target[part]
        key = int(last) if isinstance(target, list) else last
        if operation["op"] == "remove":
            del target[key]
        else:
            target[key] = operation["value"]
    return document


def follow(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The view that a browser holds after these messages; it must be able to follow every one of them."""
    view: Any = None
    seq = -1
    for message in messages:
        if message["type"] == "snapshot":
            view, seq = message["view"], message["seq"]
        else:
            assert message["from_seq"] == seq, (
                f"frame {message['seq']} follows {message['from_seq']}, the browser is at {seq}"
            )
            view, seq = apply_patch(view, message["patch"]), message["seq"]
    return view
