"""The lines to paste into the original system so that it does what a strategy of a study does: its family
brings them along.

Only settings that exist under these names in the versions named; a rule that only a document tells has none.
Sources: Pulsar's broker.conf and KeySharedPolicy, 3.2 and 4.x; Kafka clients 3.9 (ConsumerConfig,
partition.assignment.strategy) and kafka-topics.sh; TubeMQ's ClientBalanceConsumer.start and its master's
topic settings, master a6c7a6a670; AMQP 0-9-1 basic.qos and basic.consume.
"""

from broker_core.events import Json
from broker_core.pipeline.strategies import RouteTable, Strategy


def config_lines(strategy: Strategy, start: RouteTable) -> list[Json]:
    """`{"file", "for", "lines"}` for each file of the original (`config_file`); [] where no released system
    is known to have the rule.

    file: where the lines belong. for: product and versions that they are true for. start: the strategy's
    table at the start of the study, that tell the sticky ranges.
    """
    write = strategy.family.config
    return [] if write is None else write(strategy, start)
