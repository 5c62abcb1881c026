"""Which functions can be watched: each assignor, selector, exchange type and protocol step, by model.

A new rule is a line here, and its title in `dashboard/sentences/code.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from broker_core.hashing.jump_hash import jump_hash
from broker_core.hashing.phash2 import phash2
from broker_core.kafka.assignors import (
    constrained,
    cooperative_sticky,
    general,
    round_robin,
    round_robin_hashed,
    sticky,
)
from broker_core.kafka.assignors.range import assign_range
from broker_core.kafka.assignors.range_global import assign_range_global
from broker_core.kafka.client.producer import intake
from broker_core.kafka.group.classic import heartbeat, join, rebalance, sync
from broker_core.kafka.group.consumer import reconcile, target, uniform
from broker_core.kafka.group.consumer.heartbeat import consumer_group_heartbeat
from broker_core.kafka.group.consumer.range import assign_range as server_assign_range
from broker_core.kafka.log.watermarks import WatermarkedLog
from broker_core.kafka.producer import partitioner
from broker_core.kafka.replication.election import ChangeBuilder
from broker_core.kafka.replication.fetcher import Fetcher
from broker_core.kafka.replication.in_sync import InSyncReplicas
from broker_core.kafka.replication.partition import Partition
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import PendingDispatcher
from broker_core.pulsar.dispatchers.shared import SharedDispatcher, SharedTurns
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher
from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.auto_split_document import AutoSplitDocumentSelector
from broker_core.pulsar.selectors.consistent_hash import RingSelector
from broker_core.pulsar.selectors.sticky_document import StickyDocumentSelector
from broker_core.pulsar.selectors.sticky_ranges import StickySelector
from broker_core.rabbitmq import dead_letters
from broker_core.rabbitmq.exchanges.consistent_hash import ConsistentHash
from broker_core.rabbitmq.exchanges.direct import Direct
from broker_core.rabbitmq.exchanges.fanout import Fanout
from broker_core.rabbitmq.exchanges.header_match import Criteria
from broker_core.rabbitmq.exchanges.headers import Headers
from broker_core.rabbitmq.exchanges.topic_trie import TopicTrie
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.queues.consumers import Consumers
from broker_core.tubemq import assignment, balancing, server_balance
from broker_core.tubemq.client import assigner, heartbeats, partition_cache

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """id: "<model>.<name>". group: under which heading it stands, of GROUPS."""

    id: str
    model: str
    group: str
    function: Function


GROUPS = ("assign", "protocol", "log", "place", "dispatch", "route")

_KAFKA: dict[str, dict[str, Function]] = {
    "assign": {
        "range": assign_range,
        "range_global": assign_range_global,
        "roundrobin": round_robin.assign_round_robin,
        "roundrobin_hashed": round_robin_hashed.assign_round_robin_hashed,
        "sticky": sticky.assign_by_claims,
        "cooperative_sticky": cooperative_sticky.assign_cooperative_sticky,
        "changing_hands": cooperative_sticky.changing_hands,
        "sticky_keeps": constrained._ConstrainedAssignment._keep_owned,
        "sticky_deals": constrained._ConstrainedAssignment._deal,
        "sticky_evens_out": general._GeneralAssignment._even_out,
        "server_uniform": uniform._assign_equal,
        "server_range": server_assign_range,
    },
    "protocol": {
        "join_group": join.join_group,
        "prepare_rebalance": rebalance.prepare_rebalance,
        "complete_join": rebalance.complete_join,
        "sync_group": sync.sync_group,
        "heartbeat": heartbeat.heartbeat,
        "session_over": heartbeat.session_over,
        "consumer_heartbeat": consumer_group_heartbeat,
        "new_target": target.take_up,
        "reconcile": reconcile.reconciled,
        "next_assignment": reconcile._next,
    },
    "log": {
        "append": Partition.append_as_leader,
        "acks": Partition.check_acks,
        "follower_asks": Fetcher.next_request,
        "follower_fetch": Partition.fetch_as_follower,
        "note_fetch": Partition.note_fetch,
        "follower_takes": Fetcher._take,
        "high_watermark": InSyncReplicas._raise_high_watermark,
        "high_watermark_told": Fetcher.high_watermark_told,
        "raise_high_watermark": WatermarkedLog.raise_high_watermark,
        "truncation_point": Fetcher._point_of_truncation,
        "out_of_sync": InSyncReplicas.out_of_sync,
        "shrink_isr": InSyncReplicas.maybe_shrink_isr,
        "expand_isr": InSyncReplicas._maybe_expand_isr,
        "elect": ChangeBuilder._elect,
        "make_leader": Partition.make_leader,
        "make_follower": Partition.make_follower,
    },
    "place": {
        "producer_places": intake._accept,
        "keyless_next": partitioner.next_partition,
        "coordinator": partitioner.coordinator_partition,
    },
}
_PULSAR: dict[str, dict[str, Function]] = {
    "assign": {
        "ring_join": RingSelector.add,
        "ring_leave": RingSelector.remove,
        "ring_key": RingSelector.select,
        "split_join": AutoSplitSelector.add,
        "split_leave": AutoSplitSelector.remove,
        "split_key": AutoSplitSelector.select,
        "sticky_join": StickySelector.add,
        "sticky_key": StickySelector.select,
        "sticky_conflict": StickySelector._conflict,
        "split_document_join": AutoSplitDocumentSelector.add,
        "sticky_document_join": StickyDocumentSelector.add,
        "active": SingleActiveDispatcher.pick,
    },
    "dispatch": {
        "shared_turn": SharedTurns.next,
        "shared_read": SharedDispatcher.read_on,
        "key_read": KeySharedDispatcher.read_on,
        "key_allowed": KeySharedDispatcher._allowed,
        "draining": DrainingDispatcher._goes_to,
        "draining_read": DrainingDispatcher.read_on,
        "active_read": ActiveDispatcher.read_on,
        "permits": PendingDispatcher.flow,
        "ack": PendingDispatcher.ack,
        "redeliver": PendingDispatcher.redeliver,
    },
}
_TUBEMQ: dict[str, dict[str, Function]] = {
    "assign": {
        "owned": assignment.is_owned,
        "difference": assigner.difference,
        "takes": assigner.takes,
        "pass": assigner.Assigner.run,
        "map": assigner.Assigner.on_map,
        "server_level": server_balance._level,
        "server_hash": server_balance.by_hash,
    },
    "protocol": {
        "balance": balancing.balance,
        "balance_asked": balancing.ask,
        "balance_report": balancing.report,
        "beat_brokers": heartbeats.beat_brokers,
        "give_up": heartbeats.give_up_silent,
        "take_turn": partition_cache.take,
    },
}
_RABBITMQ: dict[str, dict[str, Function]] = {
    "route": {
        "direct": Direct.route,
        "fanout": Fanout.route,
        "topic": TopicTrie._search,
        "headers": Headers.route,
        "headers_match": Criteria.is_fulfilled,
        "consistent_hash": ConsistentHash.route,
        "jump": jump_hash,
        "phash2": phash2,
    },
    "dispatch": {
        "publish": ClassicQueue.publish,
        "dispatch": ClassicQueue.dispatch,
        "turn": Consumers.next,
        "single_active": Consumers._single,
        "give_back": ClassicQueue.give_back,
        "limit": ClassicQueue._drop_over_limit,
        "expired": ClassicQueue.drop_expired,
        "dead_letter": dead_letters.dead_copy,
        "death": dead_letters.with_death,
        "cycle": dead_letters.is_cycle,
    },
}


@cache
def algorithms() -> dict[str, Algorithm]:
    """By id, model by model, in the order of the pages."""
    models = {"pulsar": _PULSAR, "kafka": _KAFKA, "tubemq": _TUBEMQ, "rabbitmq": _RABBITMQ}
    return {
        f"{model}.{name}": Algorithm(f"{model}.{name}", model, group, function)
        for model, groups in models.items()
        for group, functions in groups.items()
        for name, function in functions.items()
    }
