"""The sentence under a TubeMQ lane. Codes are the core's (`broker_core/lab`)."""

from django.utils.translation import gettext_lazy as _

_IDLE_CRASH = _("{consumer} is silent; it had no partition, so nothing waits for it.")
_IDLE_PAUSE = _("{consumer} takes no more records; it had no partition, so nothing waits for it.")

TUBEMQ = {
    "tubemq.crash_pending_idle": _IDLE_CRASH,
    "tubemq.crash_unknown_idle": _IDLE_CRASH,
    "tubemq.paused_idle": _IDLE_PAUSE,
    "tubemq.crash_noticed_idle": _("The broker dropped {consumer}; it had no partition."),
    "tubemq.empty": _(
        "sourceCount 0: all clients stopped, the {partitions?one partition waits|{partitions} partitions "
        "wait}."
    ),
    "tubemq.first": _(
        "sourceCount 0 → {to_count}: the group started and shares all {partitions_total} partitions by "
        "modulo."
    ),
    "tubemq.restarting": _(
        "sourceCount {from_count} → {to_count}: all clients stop and start again with the new count."
    ),
    "tubemq.restarting_same": _(
        "sourceCount stays {to_count}: the group has changed, so all clients stop and start again."
    ),
    "tubemq.restarted_same": _(
        "sourceCount stays {to_count}: the group restarted, the modulo moved {partitions_moved} of "
        "{partitions_total}."
    ),
    "tubemq.starting": _("sourceCount 0 → {to_count}: the clients start with the new count."),
    "tubemq.restarted": _(
        "sourceCount {from_count} → {to_count}: the group restarted, the modulo moved {partitions_moved} "
        "of {partitions_total}."
    ),
    "tubemq.crash_pending": _(
        "{consumer} is silent. Its {partitions?partition waits|{partitions} partitions wait}: no other "
        "client may take {partitions?it|them}."
    ),
    "tubemq.crash_unknown": _(
        "{consumer} crashed unknown to the master: {partitions?one partition waits|{partitions} "
        "partitions wait} until it is back or leaves."
    ),
    "tubemq.crash_noticed": _(
        "The broker dropped {consumer}; its {partitions} {partitions?partition is|partitions are} "
        "unregistered until it returns."
    ),
    "tubemq.ghost_noticed": _(
        "The broker dropped the session of the old {consumer}; its {partitions} {partitions?partition "
        "is|partitions are} free again."
    ),
    "tubemq.refused": _("The master refused {consumer} with code {code}."),
    "tubemq.refused_count": _("{consumer} was refused (code {code}): its sourceCount is not the group's."),
    "tubemq.refused_arguments": _(
        "{consumer} does not start (code {code}): its own start() refuses the arguments, and no master hears of it."
    ),
    "tubemq.given_twice": _(
        "{consumer} is refused ({code}): {partition} was given to {holder} as well, which is alive and has it."
    ),
    "tubemq.not_released": _("{consumer} must wait ({code}): {holder} has not released {partition} yet."),
    "tubemq.node_taken": _(
        "{consumer} was refused ({code}): its nodeId still belongs to the session of the old {holder}."
    ),
    "tubemq.occupied": _(
        "{consumer} must wait ({code}): its partitions are still reserved for an old client's session."
    ),
    "tubemq.rejoining": _("{consumer} starts again in its old place, nodeId {node_id}."),
    "tubemq.rejoined": _(
        "{consumer} is back as nodeId {node_id}: its partitions were paused for up to {pause_us}, "
        "{partitions_moved} moved."
    ),
    "tubemq.rejoining_list": _("{consumer} starts again, with the partitions that it had."),
    "tubemq.dealing": _(
        "{clients} {clients?client|clients}: the operator deals the partitions out, and each takes what is new to it."
    ),
    "tubemq.dealt": _(
        "{from_count} → {to_count} clients: {partitions_moved} of {partitions_total} partitions moved, and nobody "
        "restarted."
    ),
    "tubemq.by_master": _(
        "{clients} {clients?client waits|clients wait}: the master gives partitions out in its next cycle, at most 30 s away."
    ),
    "tubemq.master_dealt": _(
        "{from_count} → {to_count} clients: the master moved {partitions_moved} of {partitions_total} partitions. "
        "The longest that one was not read, for whatever reason: {pause_us}."
    ),
    "tubemq.one_changed": _(
        "sourceCount {from_count} → {to_count} for the newcomer alone: the other clients run with their own."
    ),
    "tubemq.empty_plan": _("No client is left: all partitions wait."),
    "tubemq.paused": _(
        "{consumer} takes no more records: its {partitions} {partitions?partition "
        "waits|partitions wait}, {held} {held?record is|records are} unconfirmed."
    ),
    "tubemq.idle": _(
        "{count} of {of} clients {count?has|have} no partition: none of the {partitions} maps to "
        "{count?its|their} nodeId."
    ),
}
