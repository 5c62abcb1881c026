"""A study's result as words and figures: what the template draws when the page opens.

Pure: a result (plain JSON of the pipeline), its ranking and the words of one language in, plain dicts out.
static/js/analyze/result.js answers the same when the weights or the language change;
tests/dashboard/test_analyze_words.py runs both on the same result.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboard.formats import NONE, figure, fill, half_up, percent, seconds

BAD_SHARE_MAX = 0.01
"""Of the rows set aside; above it the result says so first."""
DECODED = ("cp1252", "utf-16-le", "utf-16-be")
NULL_LIKE = {"null", "\\n", "na", "n/a", "nan", "none", "nil", "undefined", "(null)", "-"}
NULL_LIKE_KINDS = ("csv", "jsonl", "parquet")
HOT_KEYS_LOOKED_AT = 5

Json = dict[str, Any]
Words = Mapping[str, str]


def strategy_words(strategy: Json, words: Words) -> dict[str, str]:
    """{model, name, short, best}: what a strategy is called in a table, in a chart, and in the headline."""
    code = f"strategy.{strategy['model']}.{strategy['algorithm']}"

    def in_words(part: str) -> str:
        return (
            _say(words, code + part, **strategy["params"])
            if code + part in words
            else str(strategy["algorithm"])
        )

    return {
        "model": words[f"model.{strategy['model']}"],
        "name": in_words(""),
        "short": in_words(".short"),
        "best": in_words(".best"),
    }


def short_names(strategies: Sequence[Json], words: Words) -> dict[str, str]:
    """Id -> short name; where two would read the same, the differing parameters follow."""
    names = {strategy["id"]: strategy_words(strategy, words)["short"] for strategy in strategies}
    count = Counter(names.values())
    for strategy in strategies:
        if count[name := names[strategy["id"]]] > 1:
            names[strategy["id"]] = f"{name} {'/'.join(map(str, strategy['params'].values()))}"
    return names


def head(result: Json, ranking: Sequence[Json], words: Words) -> dict[str, str]:
    """{title, facts}: the headline, and what was measured."""
    workload, steps, strategies, source = (
        result["workload"],
        result["steps"],
        result["strategies"],
        result["request"]["source"],
    )
    is_flights = source["kind"] == "flights"
    these = "flights" if is_flights else "keys" if source["kind"] in ("zipf", "uniform") else "records"
    first = next(
        (strategy for strategy in strategies if ranking and strategy["id"] == ranking[0]["id"]), None
    )
    equal = sum(row["is_best"] for row in ranking) - 1
    is_none = bool(ranking) and bool(ranking[0]["excluded"])
    code = (
        "study.best_none"
        if is_none
        else "study.one"
        if len(strategies) == 1
        else "study.best_equal"
        if equal
        else "study.best"
    )
    counts = [len(step["members"]) for step in steps]
    low, high = min(counts), max(counts)
    noun = f"noun.{source.get('key')}"
    facts = _say(
        words, "study.facts",
        records=workload["records"], keys=workload["keys"],
        noun=_say(words, "noun.flights" if is_flights else "noun.records", count=workload["records"]),
        keys_noun=_say(words, noun if is_flights and noun in words else "noun.keys", count=workload["keys"]),
        strategies=len(strategies), changes=len(steps) - 1,
    )  # fmt: skip
    if first is None:
        title = result["request"].get("name") or result["name"]
    else:
        title = _say(
            words,
            code,
            strategy=strategy_words(first, words)["best"],
            records=words[f"study.these.{these}"],
            count=equal,
        )
    return {
        "title": title,
        "facts": facts
        + _say(words, "study.facts_steady" if low == high else "study.facts_range", low=low, high=high),
    }


def verdict_words(result: Json, verdict: Json | None, words: Words) -> str:
    """How sure the ranking is, in one sentence."""
    if verdict is None or (len(result["strategies"]) == 1 and verdict["code"] == "only"):
        return ""
    names, params = short_names(result["strategies"], words), dict(verdict["params"])
    params |= {name: names[params[name]] for name in ("id", "than") if name in params}
    if "points" in params:
        params["points"] = figure(params["points"], 1 if params["points"] % 1 else 0)
    if "constraint" in params:
        params["constraint"] = words[f"constraint.{params['constraint']}"]
    return _say(words, f"verdict.{verdict['code']}", **params)


def notes(result: Json) -> Json:
    """What has to be said beside the figures, as {code, params}: `warnings` and `notes` under the headline, `sample`
    beside the weights; and `bad_rows`."""
    workload, sample = result["workload"], result["limits"]["timed_sample"]
    said = []
    if workload["no_key"] or workload["empty_key"]:
        said.append(
            {
                "code": "study.no_keys",
                "params": {"no_key": workload["no_key"], "empty_key": workload["empty_key"]},
            }
        )
    if not workload["keyless_exact"]:
        said.append({"code": "study.keyless_spread", "params": {}})
    warnings, more = problems(result)
    said += more
    about = {"records": sample["records"], "keys": sample["keys"], "rate": sample["rate"]} if sample else None
    return {
        "notes": said,
        "warnings": warnings,
        "bad_rows": workload["bad_rows"],
        "sample": about and {"code": "define.sample", "params": about},
    }


def problems(result: Json) -> tuple[list[Json], list[Json]]:
    """What there is to say of the source's rows and of how it was read, as {code, params}: warnings where so many are
    set aside that they may change the ranking, and the rest."""
    workload, source = result["workload"], result["request"]["source"]
    bad = workload["bad_rows"]
    warnings: list[Json] = []
    said: list[Json] = []
    share = bad / max(1, bad + workload["records"])
    if bad and share > BAD_SHARE_MAX:
        params = {"bad": bad, "all": bad + workload["records"], "share": percent(share, 1)}
        warnings.append({"code": "study.bad_rows_many", "params": params})
    elif bad:
        said.append({"code": "study.bad_rows", "params": {"bad": bad}})
    for problem in workload.get("problems", ()):
        lines = ", ".join(str(row["line"]) for row in problem["lines"] if row["line"] is not None)
        params = {"rows": problem["rows"], "lines": lines, "words": ", ".join(source.get("nulls", ()))}
        said.append({"code": f"problem.{problem['reason']}", "params": params})
    if (encoding := source.get("encoding", "utf-8")) in DECODED:
        said.append({"code": "study.decoded", "params": {"encoding": encoding}})
    if source["kind"] in NULL_LIKE_KINDS:
        said += [
            {"code": "study.null_like", "params": {"key": key["key"]}}
            for key in result.get("hot_keys", ())[:HOT_KEYS_LOOKED_AT]
            if key["key"].lower() in NULL_LIKE
        ]
    return warnings, said


def unowned(result: Json, words: Words) -> str:
    """What has to be said where records have no consumer after a change; nothing where each has one."""
    left = [strategy for strategy in result["strategies"] if strategy["totals"].get("unowned_share")]
    if not left:
        return ""
    names = short_names(result["strategies"], words)
    share = percent(max(strategy["totals"]["unowned_share"] for strategy in left))
    return _say(
        words,
        "study.unowned",
        strategies=words["list.comma"].join(names[strategy["id"]] for strategy in left),
        share=share,
    )


def ranking_rows(result: Json, ranking: Sequence[Json], words: Words) -> list[Json]:
    """The ranking as rows of texts, best first, those that a constraint excludes last; all that are tied with
    the first are best."""
    by_id, names = (
        {strategy["id"]: strategy for strategy in result["strategies"]},
        short_names(result["strategies"], words),
    )
    rows = []
    for entry in ranking:
        strategy = by_id[entry["id"]]
        totals, called = strategy["totals"], strategy_words(strategy, words)
        rows.append(
            {
                "place": NONE if entry["place"] is None else str(entry["place"]),
                "id": entry["id"],
                "model": called["model"],
                "name": called["name"],
                "document": bool(strategy["document"]),
                "score": figure(entry["score"], 0),
                "bar": half_up(entry["score"] or 0, 1),
                "is_best": entry["is_best"],
                "is_excluded": bool(entry["excluded"]),
                "skew": scored("skew", totals["skew"]),
                **_band(strategy.get("luck"), words),
                "lag": figure(totals.get("lag_peak"), 0),
                "drain": _drain(totals, words),
                "churn": scored("churn", totals["churn"]),
                "pause": scored("pause", totals["waited_share"]),
                "stood": _stood(totals["pause_partition_s"], words),
                "order": scored("order", totals["order_share"]),
                "why": _reason(entry["why"], names, words),
            }
        )
    return rows


def _stood(partition_seconds: float | None, words: Words) -> str:
    """How long partitions were paused, added up; nothing where there are none."""
    return "" if partition_seconds is None else seconds(math.floor(partition_seconds * 1_000_000), words)


def _band(luck: Json | None, words: Words) -> dict[str, str]:
    """The spread of a skew over what chance decides, and what that is; nothing where chance decides
    nothing. Rounded outwards: it holds the skew as that is written, with one decimal more."""
    if not luck:
        return {"band": "", "band_title": ""}
    return {
        "band": f"{figure(_tenth(luck['low'], math.floor), 1)}–{figure(_tenth(luck['high'], math.ceil), 1)}",
        "band_title": _say(words, f"rank.band.{luck['of']}", draws=luck["draws"]),
    }


def _tenth(value: float, rounded: Callable[[float], int]) -> float:
    return rounded(round(10 * value, 6)) / 10


def _drain(totals: Json, words: Words) -> str:
    """The longest time until the backlog of a change was worked off; nothing where it was not measured."""
    if totals.get("undrained"):
        return words["rank.lag_never"]
    drained = totals.get("drain_s")
    return "" if drained is None else seconds(math.floor(drained * 1_000_000), words)


def suits_words(strategy: Json, steps: Sequence[Json], words: Words) -> str:
    """The partition counts that suit a group of the most consumers; nothing where there are none to
    choose."""
    luck = strategy.get("luck")
    if not luck or not luck["suits"]:
        return ""
    return _say(
        words,
        "use.suits",
        consumers=max(len(step["members"]) for step in steps),
        count=len(luck["suits"]),
        counts=words["list.comma"].join(map(str, luck["suits"])),
        skew=figure(luck["suits_skew"], 2),
    )


def scored(term: str, value: float | None) -> str:
    """A term's figure as it is read: ratios with two digits, shares in percent, none of all a plain 0, a dash
    where it does not apply."""
    if term in ("skew", "churn"):
        return figure(value, 2)
    return "0" if value == 0 else percent(value, 2)


def _reason(why: Sequence[Json], names: Mapping[str, str], words: Words) -> str:
    """Why a strategy has its place: one or two sentences."""
    said = [_sentence(each["code"], each["params"], names, words) for each in why]
    return said[0] if len(said) == 1 else _say(words, "why.two", first=said[0], second=said[1])


def _sentence(code: str, params: Json, names: Mapping[str, str], words: Words) -> str:
    written = dict(params)
    if "than" in params:
        written["than"] = names[params["than"]]
    if "parts" in params:
        written["parts"] = words["list.comma"].join(_part(part, words) for part in params["parts"])
    if "broken" in params:
        written["parts"] = words["list.comma"].join(_broken(each, words) for each in params["broken"])
    for side in ("ahead", "behind"):
        if side in params:
            term = params[side]["term"]
            pair = {name: scored(term, params[side][name]) for name in ("value", "other")}
            written[side] = _say(words, "why.pair", term=words[f"weight.{term}"], **pair)
    if "term" in params:
        term = params["term"]
        written |= {name: scored(term, params[name]) for name in ("value", "other")} | {
            "term": words[f"weight.{term}"]
        }
        if code == "best":
            # A share of 0 is the ideal, even if others have it, too; a churn that does not apply is that of
            # keys without owners.
            kind = (
                "_unowned"
                if params["value"] is None
                else "_zero"
                if params["value"] == 0
                else "_shared"
                if params["is_shared"]
                else ""
            )
            code = f"best.{term}{kind}"
    return _say(words, f"why.{code}", **written)


def _part(part: Json, words: Words) -> str:
    """One term, the points that it cost, its figure, and what more is known of it."""
    term = part["term"]
    written = {"points": figure(part["points"], 0), "value": scored(term, part["value"])}
    kind = ""
    if part.get("step_share"):
        kind, written = "_step", written | {"step": part["step"], "step_share": percent(part["step_share"])}
    elif part.get("is_owned") is False:
        kind = "_unowned"
    return _say(words, f"why.lost.{term}{kind}", **written)


def _broken(broken: Json, words: Words) -> str:
    """A constraint that a strategy breaks, with its figure."""
    code, params = broken["code"], dict(broken["params"])
    if code == "keeps_order":
        kind = "" if params["is_owned"] else "_unowned"
        return _say(
            words,
            f"why.excluded.keeps_order{kind}",
            count=params["count"],
            value=scored("order", params["value"]),
        )
    if code == "keeps_up":
        kind = "_together" if params["consumer"] is None else "_many" if params["count"] > 1 else ""
        return _say(words, f"why.excluded.keeps_up{kind}", **params | {"gets": figure(params["gets"], 1)})
    if code == "wait_s_max":
        return _say(words, f"why.excluded.{code}", **params | {"value": percent(params["value"], 1)})
    if "value" not in params:
        return _say(words, f"why.excluded.{code}", **params)
    kind = "_never" if params["value"] is None else ""
    value = figure(params["value"], 2 if code == "skew_max" else 1)
    return _say(words, f"why.excluded.{code}{kind}", **params | {"value": value})


def _say(words: Words, code: str, /, **params: Any) -> str:
    return fill(words.get(code, code), params, words)
