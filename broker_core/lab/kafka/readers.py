"""Other groups that read a Kafka lane's topic: each has a coordinator, members and committed offsets of its
own, and gets every record as well.

    topic ─┬─► group lab     its consumers are the lab's: they join, crash and leave           each group reads all: broadcast
           ├─► group audit   its consumers run from the start, and are not the lab's           one member of each group reads a record: exclusive
           └─► group billing

A record stays on the brokers until the slowest of them has committed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.orders import Start
from broker_core.kafka.client.group_consumer.settings import AUTO, EARLIEST, ConsumerSettings
from broker_core.lab.kafka.group import Shared, consumer_state, group_of, owned, positions
from broker_core.lab.shared.readers import READER, names_of, node_of
from broker_core.sim.program import Program

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def start_readers(lane: Lane, brokers: list[int]) -> None:
    """Each group's consumers, which begin at the beginning. brokers: ids, to bootstrap from."""
    for group_id, wanted in _groups(lane).items():
        for name in names_of(group_id, wanted):
            settings = ConsumerSettings(
                group_id,
                name,
                brokers,
                [lane.options["topic"]],
                auto_offset_reset=EARLIEST,
                max_poll_records=1,
                commits=AUTO,
                assignors=[wanted["assignor"]],
            )
            lane.world.start(
                node_of(name), READER, ConsumerState(settings, Program(SECOND_US // wanted["rate"]))
            )
            lane.world.order(node_of(name), Start())


def is_readers(lane_options: Json, data: Json, own_group: str) -> bool:
    """Whether a turning point with this data is one of another group than the lab's, or of one of its
    consumers."""
    if data.get("group", own_group) != own_group:
        return True
    client = data.get("client")
    return client is not None and any(
        client in names_of(group_id, wanted) for group_id, wanted in lane_options.get("groups", {}).items()
    )


def least_read(lane: Lane, number: int) -> int | None:
    """Below which offset of the partition every other group has committed; None: there is no other group."""
    topic = lane.options["topic"]
    return min(
        (group_of(lane.world, topic, group_id).offsets.get(number, 0) for group_id in _groups(lane)),
        default=None,
    )


def readers_view(lane: Lane, shared: Shared) -> Json:
    """By group: its state and generation at its coordinator (None while nobody coordinates), committed
    offsets, records not committed, and its consumers with the partitions that they read, what they have
    handled and the partitions' next offsets."""
    topic, found = shared.topic, {}
    for group_id, wanted in _groups(lane).items():
        group = group_of(lane.world, topic, group_id)
        states = {
            name: consumer_state(lane.world.slots[node_of(name)]) for name in names_of(group_id, wanted)
        }
        is_known = group.coordinator is not None
        found[group_id] = {
            "state": group.state if is_known else None,
            "generation": group.generation if is_known else None,
            "coordinator": group.coordinator,
            "assignor": wanted["assignor"],
            "lag": sum(
                log.high_watermark - max(group.offsets.get(number, 0), log.start)
                for number, log in enumerate(shared.logs)
            ),
            "committed": {str(number): offset for number, offset in sorted(group.offsets.items())},
            "consumers": {
                name: {
                    "partitions": sorted(owned(state, topic)),
                    "finished": state.program.finished,
                    "positions": {str(number): at for number, at in sorted(positions(state, topic).items())},
                }
                for name, state in states.items()
            },
        }
    return found


def _groups(lane: Lane) -> dict[str, Json]:
    groups: dict[str, Json] = lane.options.get("groups", {})
    return groups
