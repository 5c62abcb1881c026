"""What a study's result says before any ranking, in words: whether keys and rates fit the consumers.

Pure, as presentation.py; static/js/analyze/advice.js answers the same when the language changes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.formats import figure, fill, percent

Json = dict[str, Any]
Words = Mapping[str, str]

HOT_NAMED = 3
KEY_MAX = 32


def feasible_words(feasibility: Json, words: Words) -> list[str]:
    """The sentences of `feasibility`, in order."""
    return [_sentence(each["code"], each["params"], words) for each in feasibility["said"]]


def _sentence(code: str, params: Json, words: Words) -> str:
    written = dict(params)
    if "hot" in params:
        written["hot"] = _hot(params["hot"], words)
    for name in ("share", "even"):
        if name in params:
            written[name] = percent(params[name])
    for name in ("skew", "of_use", "brings"):
        if name in params:
            written[name] = figure(params[name], 1)
    return fill(words[f"feasible.{code}"], written, words)


def _hot(keys: Sequence[Json], words: Words) -> str:
    """The hot keys with their shares; after the first few, how many more."""
    named = [
        fill(words["feasible.key"], {"key": _quoted(key["key"]), "share": percent(key["share"])}, words)
        for key in keys[:HOT_NAMED]
    ]
    more = len(keys) - len(named)
    if more:
        named.append(fill(words["feasible.more"], {"count": more}, words))
    return words["list.comma"].join(named)


def _quoted(key: str) -> str:
    """A key as a sentence can have it: its beginning, in quotation marks."""
    return f"“{key if len(key) <= KEY_MAX else key[:KEY_MAX] + '…'}”"
