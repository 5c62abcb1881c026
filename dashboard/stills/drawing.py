"""A still as SVG, 216 by 128: one lane fills it, up to four stand below one another, each with its name."""

from collections.abc import Mapping
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from dashboard.stills.lanes import WHOLE
from dashboard.stills.marks import text
from dashboard.stills.strips import STRIPS, detectors, figure_name

Json = dict[str, Any]
WIDTH, HEIGHT, EDGE = 216, 128, 10
NAME_PX = 15
MODEL_NAMES = {"pulsar": "Pulsar", "kafka": "Kafka", "tubemq": "TubeMQ", "rabbitmq": "RabbitMQ"}


def draw(still: Json, names: Mapping[str, Mapping[str, str]], language: str) -> SafeString:
    """names: lane -> its name in each language, en and zh; a lane without one is called as its model is.
    language: of the two."""
    lanes = still["lanes"]
    if lanes[0]["kind"] == "detector":
        return _svg(detectors(lanes, language))
    if len(lanes) == 1:
        return _svg(WHOLE[lanes[0]["kind"]](lanes[0]))
    high, shapes = (HEIGHT - 8) / len(lanes), []
    for place, lane in enumerate(lanes):
        top = 5 + place * high
        own = names.get(lane["id"]) or dict.fromkeys(("en", "zh"), MODEL_NAMES.get(lane["id"], lane["id"]))
        shapes.append(_name(own, top + 12, language))
        if (figure := figure_name(lane)) is not None:
            shapes.append(text(WIDTH - EDGE, top + 12, figure[language], "m", "end", figure))
        shapes.append(
            STRIPS[lane["kind"]](lane, EDGE, top + NAME_PX + 2, WIDTH - 2 * EDGE, high - NAME_PX - 5)
        )
    return _svg("".join(shapes))


def _name(own: Mapping[str, str], y: float, language: str) -> str:
    return text(EDGE, y, own[language], "m", both=own)


def _svg(shapes: str) -> SafeString:
    # The marks escape every text; all else is numbers and class names of ours.
    return mark_safe(f'<svg class="still" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{shapes}</svg>')
