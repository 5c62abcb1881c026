"""What a broker has on its disk, and comes back with: its partitions' messages, and how far each group has confirmed.
Who was registered, and what was read and not confirmed, it does not know any more.

    crash ─► clients: connections break; they register again where their rule, or their master, gives them a partition
    come_back ─► stored offsets as they were confirmed: what was read and not confirmed is read again

Source: TubeMQ (InLong) OffsetStorage of the broker, BrokerServiceServer.consumerRegisterMap. Left out: the seconds
between a confirmation and its way to the disk.
"""

from __future__ import annotations

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.sim.slot import CRASHED
from broker_core.sim.world import World
from broker_core.tubemq.broker import BrokerState, Consumed, Partition
from broker_core.tubemq.master import MasterState


def crash(world: World, name: str, cause: Cause | None = None) -> None:
    """The process dies, and its connections break."""
    world.kill(name, cause)


def come_back(world: World, name: str) -> None:
    """A broker that has crashed starts with what its disk has. Raises CommandError for one that runs."""
    slot = world.slots.get(name)
    if slot is None or slot.condition != CRASHED:
        raise CommandError("broker", "{name} is running", name=name)
    state = survivors(slot.node.state)
    world.forget(name)
    world.start(name, slot.kind, state)


def master_comes_back(world: World, name: str) -> None:
    """A master that has crashed starts as a standby, with the configuration in its store. It knows no group."""
    slot = world.slots[name]
    former: MasterState = slot.node.state
    world.forget(name)
    state = MasterState(
        former.brokers, former.topic_meta_id, is_standby=True, authorized=former.authorized, black_lists=former.black_lists,
        started_us=world.now_us, balance_rule=former.balance_rule, allowed_rates=former.allowed_rates,
        flow_rules=former.flow_rules, flow_id=former.flow_id,
    )  # fmt: skip
    world.start(name, slot.kind, state)


def survivors(former: BrokerState) -> BrokerState:
    """The state after a restart."""
    state = BrokerState(
        former.broker_id, {}, former.transfer_bytes_max, former.read_again, flow_rules=former.flow_rules
    )
    for key, partition in former.partitions.items():
        groups = {
            name: Consumed(place.offset, furthest=place.furthest) for name, place in partition.groups.items()
        }
        state.partitions[key] = Partition(partition.end, groups, partition.log, partition.keeps_read)
    return state
