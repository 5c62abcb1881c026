"""What no strategy can change: whether the keys and the rates of a workload fit its consumers at all.

A strategy that gives each key one consumer cannot divide a key. So the busiest consumer has at least the
hottest key's share, and the skew is at least that share times the number of consumers:

    7 consumers, an even share is 14 %     |## hot key 33 % ##|  ->  skew at least 2.3, so 3 of 7 are of use

Of one key more than there are consumers, two must share one; of twice as many and one more, three; and so on.
What they have together is a bound as well. Both follow from the exact counts, whatever the rule is.
"""

import math
from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.capacity import is_stated, rates_of, takes_of

SKEW_TOLD, SKEW_HOT = 1.1, 1.5
"""From the first on a bound is given; from the second on it costs a third of the consumers, and the keys are
what to change."""


def feasibility(result: Json) -> Json:
    """What a result (`result_json`) can reach at best, before any ranking.

    `{"level", "consumers", "skew_least", "of_use", "hot", "said"}`. level: "fits"; "limited" where the keys leave a
    third of the consumers without use; "fails" where consumers fall behind whatever shares the keys. consumers: the most
    that the history has (with changes at records: at its end). skew_least: no strategy that gives each key
    one consumer is below it; of_use: so many consumers' work it can use. hot: the keys above an even share,
    `{"key", "share"}`, the hottest first. said: `[{"code", "params"}]`, the sentences of it.
    """
    counts = [len(step["members"]) for step in result["steps"]]
    is_placed = len(result["steps"]) > 1 and result["steps"][1].get("at") is not None
    consumers = counts[-1] if is_placed else max(counts)
    keys: list[Json] = result["hot_keys"]
    shares = [key["share"] for key in keys]
    even, (least, among, together) = 1 / max(1, consumers), least_share(shares, consumers)
    hot = [{"key": key["key"], "share": key["share"]} for key in keys if key["share"] > even]
    skew = max(1.0, least * consumers)
    said: list[Json] = _rates(result, result["steps"][-1]["members"], shares[0] if shares else 0.0, hot)
    level = "fails" if said else "fits"
    bound: Json = {"consumers": consumers, "skew": skew, "of_use": consumers / skew, "share": least}
    if skew >= SKEW_TOLD:
        level = "limited" if level == "fits" and skew >= SKEW_HOT else level
        if together == 1:
            code = "hot" if skew >= SKEW_HOT else "warm"
            said.append({"code": code, "params": bound | {"hot": hot, "count": len(hot)}})
        else:
            said.append({"code": "few", "params": bound | {"among": among, "together": together}})
    if not said:
        share = shares[0] if shares else 0.0
        said.append({"code": "fits", "params": {"consumers": consumers, "share": share, "even": even}})
    return {
        "level": level,
        "consumers": consumers,
        "skew_least": skew,
        "of_use": consumers / skew,
        "hot": hot,
        "said": said,
    }


def least_share(shares: Sequence[float], consumers: int) -> tuple[float, int, int]:
    """What the busiest consumer has at least, if each key has one consumer; of how many of the hottest keys
    it follows, and how many of these must share a consumer.

    shares: of the hottest keys, the hottest first.

    >>> least_share([0.33, 0.25, 0.1], 7)
    (0.33, 1, 1)
    >>> least_share([0.25, 0.25, 0.25], 2)
    (0.5, 3, 2)
    """
    best = (shares[0] if shares else 0.0, 1, 1)
    for together in range(2, len(shares) + 1):
        among = (together - 1) * consumers + 1
        if among > len(shares):
            break
        # The lightest of them: whichever are together, they have no less.
        share = sum(shares[among - together : among])
        if share > best[0]:
            best = (share, among, together)
    return best


def _rates(result: Json, members: Sequence[str], hottest: float, hot: Sequence[Json]) -> list[Json]:
    """What falls behind whatever the strategy is. members: at the end of the history."""
    if not is_stated(result):
        return []
    rates = rates_of(result)
    rate, takes, slow = rates["rate"], rates["consumer_rate"], takes_of(result)
    together = sum(slow.get(name, takes) for name in members)
    said: list[Json] = []
    if rate > together:
        params = {
            "rate": rate,
            "consumers": len(members),
            "takes": together,
            "least": len(members) + math.ceil((rate - together) / takes),
        }
        said.append({"code": "too_few", "params": params})
    if hot and rate * hottest > takes:
        said.append(
            {"code": "hot_rate", "params": {"hot": hot[:1], "brings": rate * hottest, "takes": takes}}
        )
    return said
