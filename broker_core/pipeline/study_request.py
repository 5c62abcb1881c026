"""What a study is asked for: checked field by field and filled in, without Spark, so that a form can show
what is wrong at once.

    {"name": "orders in May", "source": {...}, "strategies": ["kafka.range:partitions=24", ...], "history":
    {...},
     "service": {"rate": 36, "consumer_rate": 10, "records_max": 10000},
     "weights": {"skew": 30, ...}, "constraints": {"skew_max": 1.5, ...}, "seed": 7, "topic": "orders"}

rate: records that arrive in a second, consumer_rate: that one consumer takes; both for the timed runs, which
take at most records_max records for each strategy. seed, topic: of the lab that the study is compared with;
the topic is named after the source.
"""

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.fields import LANE_ID, refuse_unknown, whole
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.settings import SEED_MAX
from broker_core.pipeline.capacity import DEFAULT_RATES
from broker_core.pipeline.constraints import constraints_check
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.recommend import weights_check
from broker_core.pipeline.sources.spec import source_check
from broker_core.pipeline.sources.topic import source_topic
from broker_core.pipeline.strategies import strategies_default, strategies_parse

DEFAULT_HISTORY = {"kind": "given", "start": 4, "changes": [{"kind": "join"}] * 4}
DEFAULT_TIMED_RECORDS, TIMED_RECORDS_MAX = 10_000, 1_000_000
"""Of each strategy. The measures are rates and ratios; on a cluster of one, 50,000 records take four times as
long (`python -m tests.bench cluster_of_one`)."""
ROWS_MAX = 500_000
"""Rows of (strategy, step, consumer): what a page can take and one process hold."""
DEFAULT_SEED = 7
_FIELDS = {"name", "source", "strategies", "history", "service", "weights", "constraints", "seed", "topic"}


def study_check(raw: object) -> Json:
    """The request complete. Raises CommandError at the field that is wrong; checking a checked one changes
    nothing."""
    if not isinstance(raw, dict):
        raise CommandError("study", "must be an object")
    refuse_unknown(raw, _FIELDS, "", "study")
    name = raw.get("name", "study")
    if not isinstance(name, str) or not 1 <= len(name) <= 64 or not name.isprintable():
        raise CommandError("name", "must be 1 to 64 printable characters")
    source = source_check(raw.get("source"))
    default = [strategy.id for strategy in strategies_default()]
    strategies = strategies_parse(raw.get("strategies", default))
    history = history_check(raw.get("history", DEFAULT_HISTORY))
    steps = history_steps(history)
    rows = len(strategies) * sum(len(step.members) for step in steps)
    if rows > ROWS_MAX:
        raise CommandError(
            "history",
            "makes {count} rows of strategy, step and consumer; at most {high}",
            count=rows,
            high=ROWS_MAX,
        )
    return {
        "name": name,
        "source": source,
        "strategies": [strategy.id for strategy in strategies],
        "history": history,
        "service": service_check(raw.get("service")),
        "weights": weights_check(raw.get("weights")),
        "constraints": constraints_check(raw.get("constraints")),
        "seed": whole("seed", raw.get("seed", _seed_of(source)), 0, SEED_MAX),
        "topic": _check_topic(raw.get("topic"), source),
    }


def _seed_of(source: Json) -> int:
    """A lab's own records come with its seed: Kafka's member ids and keyless partitions follow from it."""
    scenario = source.get("scenario")
    seed = scenario.get("seed", DEFAULT_SEED) if isinstance(scenario, dict) else DEFAULT_SEED
    return seed if isinstance(seed, int) else DEFAULT_SEED


def _check_topic(raw: object, source: Json) -> str:
    topic = source_topic(source) if raw is None else raw
    if not isinstance(topic, str) or not LANE_ID.fullmatch(topic):
        raise CommandError("topic", "must be 1 to 32 lower-case letters, digits, _ or -")
    return topic


def service_check(raw: object) -> Json:
    """The rates complete. Raises CommandError at `service...`."""
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise CommandError("service", "must be an object")
    refuse_unknown(raw, {"rate", "consumer_rate", "records_max"}, "service.", "service")
    limits = DEFAULT_LIMITS
    return {
        "rate": whole(
            "service.rate", raw.get("rate", DEFAULT_RATES["rate"]), 1, limits.records_per_second_max
        ),
        "consumer_rate": whole(
            "service.consumer_rate",
            raw.get("consumer_rate", DEFAULT_RATES["consumer_rate"]),
            1,
            limits.service_per_second_max,
        ),
        "records_max": whole(
            "service.records_max", raw.get("records_max", DEFAULT_TIMED_RECORDS), 1_000, TIMED_RECORDS_MAX
        ),
    }
