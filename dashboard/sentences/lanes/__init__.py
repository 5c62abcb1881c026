"""Words inside a lane, a file for each model. Codes of sentences are the core's."""

from dashboard.sentences.lanes.kafka import KAFKA
from dashboard.sentences.lanes.pictures import PICTURES
from dashboard.sentences.lanes.pulsar import PULSAR
from dashboard.sentences.lanes.rabbitmq import RABBITMQ
from dashboard.sentences.lanes.shared import SHARED
from dashboard.sentences.lanes.tubemq import TUBEMQ

LANES = {**SHARED, **PICTURES, **PULSAR, **KAFKA, **TUBEMQ, **RABBITMQ}
