"""A broker's life with its controller: it registers, reads the metadata, asks to be unfenced, and says every
two seconds that it is there.

    start ─► BrokerRegistration ─► image of the metadata ─► heartbeat ─► unfenced ─► a heartbeat every 2 s
                 │ DUPLICATE_BROKER_REGISTRATION: the process before it is still thought alive: again, later each time
    stop  ─► heartbeats that want to shut down, until it leads nothing ─► logs flushed, checkpoints written ─► down

A heartbeat that is not answered within half a session timeout breaks the connection, and the next one goes
over a new one.

Source: Kafka 3.9 server BrokerLifecycleManager, core BrokerServer.shutdown.
"""

from __future__ import annotations

import msgspec

from broker_core.kafka.cluster import isr_updates, log_directory, replication
from broker_core.kafka.cluster.control_requests import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.cluster.state import DOWN, RECOVERING, RUNNING, SHUTTING_DOWN, STARTING, Transactions
from broker_core.sim.node import Outbox

RESEND_FIRST_MS = 100
SHUTDOWN_STEP_MS = 10
SHUTDOWN_MS_MAX = 5 * 60_000


class Start(msgspec.Struct, frozen=True, tag="kafka.cluster.start", array_like=True):
    """A person starts the broker's process."""


class Stop(msgspec.Struct, frozen=True, tag="kafka.cluster.stop", array_like=True):
    """A person stops it in order (SIGTERM)."""


def start(host: Host, connection: int, message: Start, now_us: int, out: Outbox) -> None:
    """Register, and set the timers going."""
    settings = host.state.settings
    host.state.incarnation_id = out.draw("kafka.cluster.incarnation", 1 << 53)
    _connect(host, now_us, out)
    out.deadline("isr", now_us + settings.replica_lag_time_max_ms * 500)
    out.deadline("checkpoint", now_us + settings.high_watermark_checkpoint_interval_ms * 1_000)
    host.state.clean_at_us = now_us + settings.log_cleaner_backoff_ms * 1_000
    host.state.retain_at_us = now_us + settings.log_initial_task_delay_ms * 1_000


def stop(host: Host, connection: int, message: Stop, now_us: int, out: Outbox) -> None:
    """Begin the controlled shutdown; a broker that has no registration goes at once."""
    state = host.state
    if state.stage in (RECOVERING, RUNNING):
        state.stage = SHUTTING_DOWN
        state.stopping_until_us = now_us + SHUTDOWN_MS_MAX * 1_000
        _send_heartbeat(host, now_us, out)
    elif state.stage == STARTING:
        _go(host, now_us, out)


def registered(
    host: Host, connection: int, answer: BrokerRegistrationResponse, now_us: int, out: Outbox
) -> None:
    """The controller has taken the registration, and sends its metadata; or an earlier process of this broker
    still counts as alive."""
    state = host.state
    if connection != state.control or state.stage != STARTING:
        return
    state.asked_us = 0
    if answer.error_code:
        wait_ms = min(RESEND_FIRST_MS << state.attempts, state.settings.broker_session_timeout_ms)
        state.attempts += 1
        out.deadline("heartbeat", now_us + wait_ms * 1_000)
        return
    state.broker_epoch, state.stage, state.attempts = answer.broker_epoch, RECOVERING, 0
    _send_heartbeat(host, now_us, out)


def heartbeat_answered(
    host: Host, connection: int, answer: BrokerHeartbeatResponse, now_us: int, out: Outbox
) -> None:
    state = host.state
    if connection != state.control or state.stage == DOWN:
        return
    state.asked_us = 0
    next_ms = state.settings.broker_heartbeat_interval_ms
    if not answer.error_code:
        state.is_fenced = answer.is_fenced
        if state.stage == SHUTTING_DOWN:
            if answer.should_shut_down:
                _go(host, now_us, out)
                return
            next_ms = SHUTDOWN_STEP_MS
        elif state.stage == RECOVERING:
            if not answer.is_fenced:
                state.stage = RUNNING
                isr_updates.send_all(host, now_us, out)
            else:
                next_ms = SHUTDOWN_STEP_MS  # it catches up with the metadata meanwhile
    out.deadline("heartbeat", now_us + next_ms * 1_000)


def heartbeat_due(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """Time to be heard of again; or the controller has not answered in time."""
    state = host.state
    if state.stage == DOWN:
        return
    if state.stage == SHUTTING_DOWN and now_us >= state.stopping_until_us:
        _go(host, now_us, out)
        return
    if state.asked_us or not state.control:
        if state.control:
            out.blame_silence(state.control)
            out.close(state.control)
        _connect(host, now_us, out)
    elif state.stage == STARTING:
        _register(host, now_us, out)
    else:
        _send_heartbeat(host, now_us, out)


def control_lost(host: Host, now_us: int, out: Outbox) -> None:
    """The connection to the controller has broken: again, a moment later."""
    host.state.control = host.state.asked_us = 0
    if host.state.stage != DOWN:
        out.deadline("heartbeat", now_us + RESEND_FIRST_MS * 1_000)


# --- inside


def _connect(host: Host, now_us: int, out: Outbox) -> None:
    state = host.state
    state.control = out.connect(CONTROLLER)
    if state.stage == STARTING:
        _register(host, now_us, out)
    else:
        _send_heartbeat(host, now_us, out)
        isr_updates.send_all(host, now_us, out)


def _register(host: Host, now_us: int, out: Outbox) -> None:
    state = host.state
    out.send(state.control, BrokerRegistrationRequest(state.broker_id, state.rack, state.incarnation_id))
    _expect_answer(host, now_us, out)


def _send_heartbeat(host: Host, now_us: int, out: Outbox) -> None:
    """A broker that has not read the metadata yet wants to stay fenced."""
    state = host.state
    if not state.control:
        return
    out.send(
        state.control,
        BrokerHeartbeatRequest(
            state.broker_id,
            state.broker_epoch,
            state.metadata_offset,
            state.metadata_offset < state.broker_epoch,
            state.stage == SHUTTING_DOWN,
        ),
    )
    _expect_answer(host, now_us, out)


def _expect_answer(host: Host, now_us: int, out: Outbox) -> None:
    host.state.asked_us = now_us
    out.deadline("heartbeat", now_us + host.state.settings.broker_session_timeout_ms * 500)


def _go(host: Host, now_us: int, out: Outbox) -> None:
    """The process ends in order: logs are flushed and closed, the high watermarks written, its connections
    closed."""
    state = host.state
    state.stage = DOWN
    replication.stop_all(host, out)
    log_directory.close_logs(host, now_us)
    state.produces.clear()
    for connection in list(state.clients):
        host.forget_connection(connection)
        out.close(connection)
    if state.control:
        out.close(state.control)
        state.control = 0
    for connection in [link.connection for link in state.transactions.links.values() if link.connection]:
        out.close(connection)
    for question_link in state.transactions.questions.values():
        out.close(question_link.connection)
    state.transactions = Transactions()
    host.transactions.state = state.transactions.coordinator
    for timer in ("heartbeat", "isr", "checkpoint", "produces", "markers", "transactions"):
        out.cancel(timer)
