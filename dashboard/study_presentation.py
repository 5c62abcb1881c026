"""A study's result as words and figures: what the template draws when the page opens.

Pure: a result (plain JSON of the pipeline), its ranking and the words of one language in, plain dicts out. static/js/analyze/result.js
answers the same when the weights or the language change; tests/dashboard/test_analyze_pages.py runs both on the same result.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.formats import NONE, figure, fill, half_up, percent, seconds

Json = dict[str, Any]
Words = Mapping[str, str]


def strategy_words(strategy: Json, words: Words) -> dict[str, str]:
    """{model, name, short, best}: what a strategy is called in a table, in a chart, and in the headline."""
    code = f"strategy.{strategy['model']}.{strategy['algorithm']}"

    def in_words(part: str) -> str:
        return _say(words, code + part, **strategy["params"]) if code + part in words else str(strategy["algorithm"])

    return {"model": words[f"rig.{strategy['model']}"], "name": in_words(""), "short": in_words(".short"), "best": in_words(".best")}


def short_names(strategies: Sequence[Json], words: Words) -> dict[str, str]:
    """Id -> short name; where two would read the same, what differs in their parameters stands behind."""
    names = {strategy["id"]: strategy_words(strategy, words)["short"] for strategy in strategies}
    count = Counter(names.values())
    for strategy in strategies:
        if count[name := names[strategy["id"]]] > 1:
            names[strategy["id"]] = f"{name} {'/'.join(map(str, strategy['params'].values()))}"
    return names


def head(result: Json, ranking: Sequence[Json], words: Words) -> dict[str, str]:
    """{title, facts}: the headline, and what was measured."""
    workload, steps, strategies, source = result["workload"], result["steps"], result["strategies"], result["request"]["source"]
    is_flights = source["kind"] == "flights"
    these = "flights" if is_flights else "keys" if source["kind"] in ("zipf", "uniform") else "records"
    first = next((strategy for strategy in strategies if ranking and strategy["id"] == ranking[0]["id"]), None)
    equal = sum(row["score"] == ranking[0]["score"] for row in ranking) - 1
    code = "study.one" if len(strategies) == 1 else "study.best_equal" if equal else "study.best"
    counts = [len(step["members"]) for step in steps]
    low, high = min(counts), max(counts)
    noun = f"noun.{source.get('key')}"
    facts = _say(
        words, "study.facts",
        records=workload["records"], noun=words["noun.flights" if is_flights else "noun.records"],
        keys=workload["keys"], keys_noun=words[noun if is_flights and noun in words else "noun.keys"],
        strategies=len(strategies), changes=len(steps) - 1,
    )  # fmt: skip
    if first is None or not workload["records"]:
        title = result["request"].get("name") or result["name"]
    else:
        title = _say(words, code, strategy=strategy_words(first, words)["best"], records=words[f"study.these.{these}"], count=equal)
    return {"title": title, "facts": facts + _say(words, "study.facts_steady" if low == high else "study.facts_range", low=low, high=high)}


def notes(result: Json) -> Json:
    """What has to be said beside the figures, as {code, params}: `notes` under the headline, `sample` beside the weights; and `bad_rows`."""
    workload, sample = result["workload"], result["limits"]["timed_sample"]
    said = []
    if not workload["records"]:
        said.append({"code": "study.empty", "params": {}})
    if workload["no_key"] or workload["empty_key"]:
        said.append({"code": "study.no_keys", "params": {"no_key": workload["no_key"], "empty_key": workload["empty_key"]}})
    if not workload["keyless_exact"]:
        said.append({"code": "study.keyless_spread", "params": {}})
    if workload["bad_rows"]:
        said.append({"code": "study.bad_rows", "params": {"bad": workload["bad_rows"]}})
    about = {"records": sample["records"], "keys": sample["keys"], "rate": sample["rate"]} if sample else None
    return {"notes": said, "bad_rows": workload["bad_rows"], "sample": about and {"code": "define.sample", "params": about}}


def ranking_rows(result: Json, ranking: Sequence[Json], words: Words) -> list[Json]:
    """The ranking as rows of texts, best first."""
    by_id, names = {strategy["id"]: strategy for strategy in result["strategies"]}, short_names(result["strategies"], words)
    rows = []
    for place, entry in enumerate(ranking, 1):
        strategy = by_id[entry["id"]]
        totals, called = strategy["totals"], strategy_words(strategy, words)
        rows.append({
            "place": str(place), "id": entry["id"], "model": called["model"], "name": called["name"], "document": bool(strategy["document"]),
            "score": figure(entry["score"], 0), "bar": half_up(entry["score"] or 0, 1),
            "skew": figure(totals["skew"], 2), "churn": figure(totals["churn"], 2),
            "pause": _pause(totals["pause_partition_s"], words), "order": _order(totals),
            "why": _reason(entry["why"], names, words),
        })  # fmt: skip
    return rows


def _pause(partition_seconds: float | None, words: Words) -> str:
    return NONE if partition_seconds is None else seconds(math.floor(partition_seconds * 1_000_000), words)


def _order(totals: Json) -> str:
    if totals["order_at_risk"] is None:
        return NONE
    return "0" if totals["order_at_risk"] == 0 else percent(totals["order_share"], 2)


def _reason(why: Json, names: Mapping[str, str], words: Words) -> str:
    """Why a strategy stands where it stands; its figures as they are read: ratios with two digits, shares in percent, times with their unit."""
    code, params = why["code"], why["params"]
    is_share = code.endswith((".pause", ".order"))
    written = dict(params)
    for name in ("value", "other"):
        if name in params:
            written[name] = percent(params[name], 2) if is_share else figure(params[name], 2)
    if "step_share" in params:
        written["step_share"] = percent(params["step_share"])
    if "than" in params:
        written["than"] = names[params["than"]]
    if "partition_s" in params:
        written["stood"] = _pause(params["partition_s"], words)
    kind = "_stand" if params.get("partition_s") else ""
    if code.startswith("best.") and params.get("value") == 0:
        kind = "_zero"
    elif params.get("is_owned") is False:
        kind = "_unowned"
    return _say(words, f"why.{code}{kind}" if f"why.{code}{kind}" in words else f"why.{code}", **written)


def _say(words: Words, code: str, /, **params: Any) -> str:
    return fill(words.get(code, code), params, words)
