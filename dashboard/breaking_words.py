"""What a search found, in words: of a page's catalogue (`sentences/breaking.py`), in its language."""

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.lab.breaking.promise import Promise
from broker_core.lab.breaking.schedule import Fault
from dashboard.formats import fill
from dashboard.sentences import SENTENCES


def fault_said(fault: Fault) -> Json:
    """{code, params}: of a fault that has its own words those, else the words of its mark on the line of time."""
    code = f"break.did.{fault.kind}"
    params = {**fault.args, "consumer": fault.consumer}
    return {"code": code if code in SENTENCES else f"tick.{fault.kind}", "params": params}


def fault_words(fault: Fault, words: Mapping[str, str]) -> str:
    said = fault_said(fault)
    return fill(words[said["code"]], said["params"], words)


def promise_said(promise: Promise) -> Json:
    """{code, params}: with its number, where it has one."""
    return {
        "code": f"break.promised.{promise.kind}",
        "params": {"at_most": promise.to_json().get("at_most")},
    }


def promise_words(promise: Promise, words: Mapping[str, str]) -> str:
    said = promise_said(promise)
    return fill(words[said["code"]], said["params"], words)


def outcome_words(tries: int, is_broken: bool, words: Mapping[str, str]) -> str:
    return fill(words["break.broke" if is_broken else "break.kept"], {"count": tries}, words)
