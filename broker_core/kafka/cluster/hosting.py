"""What all handlers of a broker share: its state, which requests wait, who watches which partition, and what
follows from a change.

appended ─► followers' long polls            high watermark ─► waiting produces, consumers' long polls            role ─► all of them
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from broker_core.kafka.cluster.hosted_groups import Coordinators
from broker_core.kafka.cluster.names import has_cluster_action
from broker_core.kafka.cluster.requests import NO_EPOCH, ProduceRequest
from broker_core.kafka.cluster.state import BrokerState, FetchSession, PendingProduce, Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.record_contents import STORED, RecordContents
from broker_core.kafka.txn.coordinator import TransactionCoordinator
from broker_core.sim.node import Outbox


class Consequences(NamedTuple):
    """What happens elsewhere in the broker when something that others hear of is decided here; `broker.py`
    says who that is."""

    fetched_by_follower: Callable[[Host, TopicPartition, Replica, int, int, Outbox], None]
    """A follower's fetch was read, by which the high watermark may have moved from an offset."""
    taken_by_disk: Callable[[Host, int, Any, int, Outbox], None]
    """A slow disk has taken what a connection brought."""
    produced: Callable[[Host, PendingProduce, ErrorCode, int, Outbox], None]
    """What waited for the ISR is decided; the error is of its last partition."""
    verified: Callable[[Host, int, ProduceRequest, int, Outbox], None]
    """The coordinator has answered for a connection's produce: it is appended now."""
    offsets_moved: Callable[[Host, int, int, int, Outbox], None]
    """The high watermark of a partition of the offsets topic, by its number, moved to an offset."""
    offsets_role_changed: Callable[[Host, TopicPartition, int, Outbox], None]
    """A partition of the offsets topic has another leader or none."""


class Host:
    """watchers: partition -> connection -> the session that fetches it; found again from the sessions.
    groups: the coordinators. contents: of the records of people's topics; whoever makes the node of a broker
    hands it in where clients put in other values than `Stored`."""

    def __init__(self, state: BrokerState, consequences: Consequences) -> None:
        self.state = state
        self.consequences = consequences
        self.contents: RecordContents = STORED
        state.rejoin()
        self.watchers: dict[TopicPartition, dict[int, FetchSession]] = {}
        for connection, session in state.sessions.items():
            for key in session.wanted:
                self.watch(key, connection, session)
        self.groups = Coordinators(state.groups, state.settings.groups)
        self.transactions = TransactionCoordinator(state.transactions.coordinator)

    # --- requests that are answered later

    def hold(self, connection: int) -> None:
        """The request just read is answered later: the next one waits."""
        self.state.held[connection] = deque()

    def answer(self, connection: int, response: Any, now_us: int, out: Outbox) -> None:
        """Answer a request that was held, and go on with those that came after it."""
        out.send(connection, response)
        if connection in self.state.held:
            self.go_on(connection, now_us, out)

    def go_on(self, connection: int, now_us: int, out: Outbox) -> None:
        """The request that held the others is done. The next one is read in its own step: what is being done
        now may still change what it finds."""
        if self.state.held[connection]:
            out.deadline(f"held:{connection}", now_us)
        else:
            del self.state.held[connection]

    def refuse_connection(self, connection: int, out: Outbox) -> None:
        """Close the connection of a client that sent what cannot be parsed."""
        self.forget_connection(connection)
        out.close(connection)

    def has_cluster_action(self, connection: int) -> bool:
        """Whether who has opened this connection may do what brokers do for one another."""
        return has_cluster_action(self.state.clients.get(connection, ""))

    # --- partitions

    def replica_error(self, key: TopicPartition) -> ErrorCode:
        """Why there is no replica of that partition here."""
        return (
            ErrorCode.NOT_LEADER_OR_FOLLOWER
            if key in self.state.registrations
            else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )

    def leader_known(self, key: TopicPartition) -> tuple[int, int]:
        """The leader and its epoch by this broker's metadata, for whoever asked the wrong one."""
        known = self.state.registrations.get(key)
        return (-1, NO_EPOCH) if known is None else (known.leader, known.leader_epoch)

    # --- who watches

    def watch(self, key: TopicPartition, connection: int, session: FetchSession) -> None:
        """By connection, whoever came first: so they are found again in the order in which they were."""
        watchers = self.watchers.setdefault(key, {})
        if watchers.get(connection) is session:
            return
        is_last = not watchers or connection >= next(reversed(watchers))
        watchers[connection] = session
        if not is_last:
            self.watchers[key] = {number: watchers[number] for number in sorted(watchers)}

    def unwatch(self, key: TopicPartition, connection: int) -> None:
        watchers = self.watchers.get(key)
        if watchers is not None and watchers.pop(connection, None) is not None and not watchers:
            del self.watchers[key]

    def end_session(self, connection: int) -> None:
        session = self.state.sessions.pop(connection, None)
        if session is not None:
            for key in session.wanted:
                self.unwatch(key, connection)

    def forget_connection(self, connection: int) -> None:
        """Nothing is answered there any more; what was appended stays, and goes on waiting for the followers
        unheard."""
        self.end_session(connection)
        self.state.held.pop(connection, None)
        self.state.transactions.verifying.pop(connection, None)
        self.groups.hosted.gathering.pop(connection, None)
        self.state.clients.pop(connection, None)
        for pending in self.state.produces.values():
            if pending.connection == connection:
                pending.connection = 0

    def touch_followers(self, key: TopicPartition, partition: Partition) -> None:
        """Something is about to change in a partition: bring what its followers' fetches have said up to
        date.

        A follower's session names a partition in which nothing has changed no more. With each of its fetches
        it says all the same that it has everything up to the log end, and when; that is noted here, before
        the log end moves.
        """
        watchers = self.watchers.get(key)
        if watchers is None or partition.log is None:
            return
        for session in watchers.values():
            replica_id = session.request.replica_id
            if replica_id >= 0 and key not in session.active:
                session.active[key] = None
                follower, fetch = partition.followers.get(replica_id), session.wanted[key]
                if follower is not None:
                    follower.fetched(
                        fetch.offset,
                        fetch.log_start_offset,
                        session.read_ms,
                        partition.log.log_end_offset,
                        session.request.replica_epoch,
                    )
