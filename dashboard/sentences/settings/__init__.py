"""Words of a lab's settings: what each one is, and the form."""

from dashboard.sentences.settings.form import FORM
from dashboard.sentences.settings.kafka import KAFKA
from dashboard.sentences.settings.lanes import OTHER_LANES
from dashboard.sentences.settings.panel import PANEL
from dashboard.sentences.settings.pulsar import PULSAR

__all__ = ["PANEL", "SETTINGS"]

SETTINGS = {**FORM, **KAFKA, **PULSAR, **OTHER_LANES}
