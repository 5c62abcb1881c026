"""Words of the Subscription page, by its panels."""

from dashboard.sentences.subscription.consumers import CONSUMERS
from dashboard.sentences.subscription.panels import PANELS
from dashboard.sentences.subscription.verbs import VERBS

SUBSCRIPTION = {**PANELS, **CONSUMERS, **VERBS}
