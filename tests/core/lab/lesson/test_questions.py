"""Questions of lessons: each asks about a change that comes, and its truth is what the lesson then shows."""

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.play import in_frames
from broker_core.lab.pieces import whole
from broker_core.lab.question import percent_of, questions_of
from broker_core.lab.scenario import Scenario, scenario_from_json
from broker_core.lab.trial import tried

FILES = shelf()
SCENARIOS = {name: scenario_from_text(read_file(path)) for name, path in FILES.items()}
ASKING = sorted(
    name
    for name, scenario in SCENARIOS.items()
    if scenario.lesson is not None and any(step.frame.ask for step in scenario.lesson.steps)
)


def asked(scenario: Scenario) -> list[tuple[Json, Lab, int, Json]]:
    """(what is asked, the lab at the frame, when the change comes, the change) of each question."""
    lesson = scenario.lesson
    assert lesson is not None
    found = []
    stops = {step.stop_us: step.frame.ask for step in lesson.frames() if step.frame.ask}
    for at_us, lab in in_frames(scenario):
        if at_us in stops:
            step = lesson.next_change(at_us)
            assert step is not None and step.order is not None
            copy = Lab.restore(scenario, lab.checkpoint())
            found.append((stops[at_us], copy, step.at_us, step.order))
    return found


def test_many_lessons_ask_and_the_first_ones_do() -> None:
    assert len(ASKING) >= 30
    assert {"four_models_one_crash", "pulsar_ring_join", "kafka_group_protocols"} <= set(ASKING)


@pytest.mark.parametrize("name", ASKING)
def test_the_truth_is_what_the_lessons_own_run_comes_to(name: str) -> None:
    for ask, lab, at_us, order in asked(SCENARIOS[name]):
        scenario = SCENARIOS[name]
        own = Lab.restore(scenario, lab.checkpoint())
        whole(lab.advancing(at_us))
        told = whole(tried(lab, {part: order[part] for part in ("kind", "lane", "consumer", "args")}, None))
        outcome = told["lanes"][ask["lane"]]["outcome"]
        question = next(each for each in outcome["questions"] if each["figure"] == ask["figure"])
        answer = question["answers"][question["truth"]]
        assert len(question["answers"]) == 4
        assert outcome["rest_us"] is not None, "what is asked about comes to rest"
        own.advance_to(at_us)
        own.submit({**order, "position": own.position + 1})
        own.advance_to(own.now_us + outcome["rest_us"])
        bill = own.lanes[ask["lane"]].ledger.bill_view()
        assert bill is not None
        value = {
            "keys_moved": percent_of(bill["keys_moved"] or 0, bill["keys_total"] or 1),
            "partitions_moved": bill["partitions_moved"],
            "redelivered": bill["redelivered"],
            "pause_us": bill["pause_us"],
        }[ask["figure"]]
        assert question["value"] == value
        assert answer["from"] <= value and (answer["to"] is None or value <= answer["to"])
        again = questions_of(bill, own.lanes[ask["lane"]].keys_have_owners, bool(outcome["stopped"]))
        assert question in again


def lesson(**frame: object) -> Json:
    texts = {"en": "x", "zh": "x"}
    told = dict.fromkeys(("title", "line", "watch_for", "you_will_learn"), texts)
    steps = [
        {"at_us": 0, "caption": texts, "frame": frame},
        {"at_us": 2_000_000, "order": {"kind": "join", "lane": "kafka"}},
        {"at_us": 3_000_000, "caption": texts},
    ]
    checks = [{"at_us": 3_000_000, "lane": "kafka", "number": "x", "asks": {"is": 0}, "says": texts}]
    return {**told, "lasts_us": 5_000_000, "steps": steps, "checks": checks}


def made(**frame: object) -> Scenario:
    lanes = [{"model": "kafka"}, {"model": "pulsar"}]
    return scenario_from_json({"name": "x", "lanes": lanes, "lesson": lesson(**frame)})


def test_a_question_keeps_its_form() -> None:
    scenario = made(ask={"lane": "kafka"})
    assert scenario.lesson is not None
    assert scenario.lesson.frames()[0].frame.ask == {"lane": "kafka", "figure": None}


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        ({"ask": 1}, "ask"),
        ({"ask": {"lane": "none"}}, "ask.lane"),
        ({"ask": {"lane": "kafka", "figure": "luck"}}, "ask.figure"),
        ({"ask": {"lane": "kafka", "how": 1}}, "ask.how"),
        ({"ask": {"lane": "pulsar"}}, "ask"),  # the next order is for another lane
        ({"ask": {"lane": "kafka"}, "stop_us": 2_000_000}, "ask"),  # it has been carried out by then
    ],
)
def test_what_cannot_be_asked_is_refused_at_its_field(frame: Json, field: str) -> None:
    with pytest.raises(CommandError) as refused:
        made(**frame)
    assert refused.value.field == f"lesson.steps.0.frame.{field}"
