"""Everything that a study advises, in one document: what fits at all, what must hold, the ranking and how sure it
is. Page, API, command line and notebook show this and nothing else."""

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.pipeline.constraints import constraints_resolve
from broker_core.pipeline.feasible import feasibility
from broker_core.pipeline.recommend import WEIGHTS, rank, verdict


def advise(result: Json, weights: Mapping[str, int] = WEIGHTS, constraints: object = None) -> Json:
    """`{"feasibility", "weights", "constraints", "ranking", "verdict"}` of a result (`result_json`).

    weights, constraints: as `rank` takes them. Raises CommandError for others.
    """
    ranking = rank(result, weights, constraints)
    return {
        "feasibility": feasibility(result),
        "weights": dict(weights),
        "constraints": constraints_resolve(result, constraints),
        "ranking": ranking,
        "verdict": verdict(ranking),
    }
