"""What a search found, in words: of a page's catalogue (`sentences/breaking.py`), in its language."""

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.lab.breaking.promise import Promise
from broker_core.lab.breaking.schedule import Fault
from dashboard.formats import fill


def fault_words(fault: Fault, words: Mapping[str, str]) -> str:
    """Of a fault that has its own words those, else the words of its mark on the line of time."""
    code = f"break.did.{fault.kind}"
    params: Json = {**fault.args, "consumer": fault.consumer}
    return fill(words[code if code in words else f"tick.{fault.kind}"], params, words)


def promise_words(promise: Promise, words: Mapping[str, str]) -> str:
    """With its number, where it has one."""
    return fill(words[f"break.promised.{promise.kind}"], {"at_most": promise.to_json().get("at_most")}, words)


def outcome_words(tries: int, is_broken: bool, words: Mapping[str, str]) -> str:
    return fill(words["break.broke" if is_broken else "break.kept"], {"count": tries}, words)
