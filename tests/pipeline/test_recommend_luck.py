"""The ranking where luck decides: strategies whose skew hangs on names or on counts of partitions."""

from broker_core.pipeline.recommend import WEIGHTS, rank, verdict
from tests.pipeline.test_recommend import result, strategy


def band(low, high):
    return {"of": "names", "low": low, "mid": (low + high) / 2, "high": high, "draws": 20}


def test_two_of_one_draw_differ_by_what_they_do_and_not_by_luck():
    """Static and dynamic members of one assignor: their shares are the same under any count of partitions."""
    same = {"of": "partitions", "low": 1.2, "mid": 1.8, "high": 2.4, "draws": 7, "counts": [], "suits": []}
    static = strategy("static", 1.8, 0.0, 0.0, 0.0, luck=same)
    dynamic = strategy("dynamic", 1.8, 1.0, 0.0, 0.0, luck=same)
    ranked = rank(result(static, dynamic))
    assert [entry["is_best"] for entry in ranked] == [True, False] and verdict(ranked)["code"] == "ahead"
    other = strategy("other", 1.8, 1.0, 0.0, 0.0, luck=same | {"low": 1.0, "high": 3.0})
    assert verdict(rank(result(static, other)))["code"] == "luck"


def test_a_lucky_draw_is_no_merit():
    """Where the scores overlap over other names or counts, the one that leads may be the other next time."""
    lucky = strategy("lucky", 1.0, 0.0, 0.0, 0.0, luck=band(1.0, 3.0))
    steady, far = strategy("steady", 1.6, 0.0, 0.0, 0.0), strategy("far", 4.0, 2.0, 0.0, 0.0)
    ranked = rank(result(lucky, steady, far))
    assert [(entry["id"], entry["is_best"]) for entry in ranked] == [
        ("lucky", True),
        ("steady", True),
        ("far", False),
    ]
    assert ranked[0]["band"] == [76.2, 100.0] and ranked[1]["band"] == [ranked[1]["score"]] * 2
    assert verdict(ranked)["code"] == "luck"
    lucky["luck"] = band(1.0, 1.1)
    assert [entry["is_best"] for entry in rank(result(lucky, steady, far))] == [True, False, False]
    assert verdict(rank(result(lucky, steady)))["code"] == "ahead"
    assert rank(result(lucky, steady), WEIGHTS | {"skew": 0})[1]["is_best"], "without weight there is no lead"


# -- why -----------------------------------------------------------------------------------------------------
