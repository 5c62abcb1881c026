"""The sentence under a Kafka lane. Codes are the core's (`broker_core/lab`)."""

from django.utils.translation import gettext_lazy as _

_IDLE_CRASH = _("{consumer} is silent; it had no partition, so nothing waits for it.")
_IDLE_PAUSE = _("{consumer} takes no more records; it had no partition, so nothing waits for it.")

KAFKA = {
    "kafka.empty": _(
        "{consumer} left: the group has no members, {partitions?the one partition waits|all {partitions} "
        "partitions wait}."
    ),
    "kafka.first": _("The group waits {delay} s for its first members so that they can start together."),
    "kafka.announced": _("Rebalance for {who}: members learn by heartbeat; no partition is paused yet."),
    "kafka.rebalancing": _(
        "Rebalance for {who}: {joined} of {members} members {joined?has|have} joined; "
        "{paused} of {partitions} partitions {paused?is|are} paused."
    ),
    "kafka.cooperating_unpaused": _(
        "Rebalance for {who}: {joined} of {members} members {joined?has|have} joined, and no partition "
        "is paused."
    ),
    "kafka.cooperating": _(
        "Rebalance for {who}: {joined} of {members} members {joined?has|have} joined; "
        "only {paused?one partition is|{paused} partitions are} paused."
    ),
    "kafka.handing_over": _(
        "The new assignment is out; {paused} of {partitions} partitions {paused?is|are} still paused."
    ),
    "kafka.held_up": _(
        "Stuck until {silent}'s old session expires; {paused} of {partitions} "
        "partitions {paused?is|are} paused."
    ),
    "kafka.leader_silent": _(
        "The leader, {silent}, is dead, so there is no assignment; {paused} of {partitions} partitions "
        "{paused?is|are} paused."
    ),
    "kafka.held_up_first": _(
        "The rebalance is stuck until {silent}'s old session expires; no partition has a consumer yet."
    ),
    "kafka.leader_silent_first": _(
        "The leader, {silent}, is dead, so there is no assignment; no partition has a consumer yet."
    ),
    "kafka.assigned_to_silent": _(
        "The new assignment is out; {waiting} of {partitions_total} partitions {waiting?belongs|belong} to a "
        "silent member and {waiting?waits|wait} for its session timeout."
    ),
    "kafka.rebalanced": _(
        "{stopped} of {partitions_total} partitions {stopped?was|were} paused for "
        "up to {pause_us}; {partitions_moved} changed hands."
    ),
    "kafka.formed": _(
        "The group formed, and its leader assigned {partitions_moved} "
        "{partitions_moved?partition|partitions}."
    ),
    "kafka.unmoved": _("The group rebalanced; no partition was paused and none changed hands."),
    "kafka.cooperative": _(
        "Only what moves was paused: {stopped} {stopped?partition|partitions} for "
        "up to {pause_us}; {partitions_moved} changed hands."
    ),
    "kafka.paused": _(
        "{consumer} takes no more records: its {partitions} {partitions?partition "
        "waits|partitions wait}, {held} {held?record is|records are} uncommitted."
    ),
    "kafka.idle": _(
        "{count} of {of} members {count?has|have} no partition: "
        "{partitions?one partition keeps at most one member|{partitions} partitions keep at most "
        "{partitions} members} busy."
    ),
    "kafka.idle_by_rule": _("{count} of {of} members {count?has|have} no partition under this rule."),
    "kafka.crash_pending": _(
        "{consumer} is silent. Its {partitions?partition waits|{partitions} partitions wait} for the session "
        "timeout: {left_us} left."
    ),
    "kafka.crash_pending_idle": _IDLE_CRASH,
    "kafka.paused_idle": _IDLE_PAUSE,
    "kafka.crash_noticed_idle": _("{consumer} timed out; it left nothing to read again."),
    "kafka.crash_unknown": _("{consumer} fell silent before the group knew about it: nothing waits for it."),
    "kafka.crash_joining": _(
        "{consumer} fell silent during a rebalance: what it is assigned waits for the session timeout."
    ),
    "kafka.crash_noticed": _(
        "{consumer} timed out; {redelivered} of {read_again} {read_again?record|records} "
        "since its last commit {redelivered?was|were} read again."
    ),
    "kafka.ghost_noticed": _(
        "The session of the old {consumer} timed out; {redelivered} of its {read_again} "
        "{read_again?record|records} {redelivered?was|were} read again."
    ),
    "kafka.crash_noticed_last": _(
        "{consumer} timed out: the group has no members, {partitions?the one partition waits|all "
        "{partitions} partitions wait}."
    ),
    "kafka.frozen": _(
        "{consumer} is frozen. Its {partitions?partition waits|{partitions} partitions wait} for the session "
        "timeout: {left_us} left."
    ),
    "kafka.frozen_undated": _("{consumer} is frozen: no polls, no heartbeats."),
    "kafka.frozen_noticed": _(
        "{consumer} missed its session timeout: the group has moved on, and {consumer} does not know."
    ),
    "kafka.thawed": _("{consumer} resumed within its session: there was no rebalance."),
    "kafka.zombie": _(
        "{consumer} is back as a zombie: it still reads {partitions} {partitions?partition|partitions}; "
        "its commit "
        "will be refused."
    ),
    "kafka.stuck": _(
        "{consumer} is stuck in a record; its heartbeats continue, so only max.poll.interval.ms can catch it."
    ),
    "kafka.stuck_noticed": _("{consumer} did not poll within max.poll.interval.ms, so it left the group."),
    "kafka.unstuck": _("{consumer} finished its record and polls again."),
    "kafka.restarting": _(
        "{consumer} restarts: it leaves the group, and joins as a new member after {down_us}."
    ),
    "kafka.restarting_static": _(
        "{consumer} restarts as the same static member: its {partitions} {partitions?partition "
        "waits|partitions wait} for it."
    ),
    "kafka.partition_paused": _(
        "{consumer} has paused {partition}: what comes there waits, and nobody else may read it."
    ),
    "kafka.partition_resumed": _("{consumer} reads {partition} again, from where it was."),
    "kafka.partition_seeks": _("{consumer} goes on at another offset of {partition}."),
    "kafka.partition_commits": _(
        "{consumer} commits an offset of {partition}: whoever gets the partition next begins there."
    ),
    "kafka.resets_offsets": _(
        "An operator commits offset {offset} of {partition}: the next member begins there."
    ),
    "kafka.partition_named": _("One record goes to {partition}, which its sender named."),
    "kafka.tombstone_sent": _(
        "A tombstone goes to {partition}: key {key} without a value. Compaction removes the key's records before it, "
        "and later the tombstone."
    ),
    "kafka.passed_over": _(
        "{records?One record|{records} records} will not be read: the group's position was reset to an "
        "offset beyond {records?it|them}."
    ),
    "kafka.retention_passed": _(
        "{records?One record|{records} records} will not be read: retention deleted {records?it|them} before "
        "the group had read {records?it|them}."
    ),
    "kafka.threw": _("{consumer} ended: auto.offset.reset is none, so poll() threw {error}."),
    "kafka.restarted": _("{consumer} has restarted."),
    "kafka.failed": _("{consumer} has ended: its program failed."),
    "kafka.assignor_failed": _("{consumer}'s assignor failed in line {line}: {reason}"),
    "kafka.assignor_ended": _("{consumer}'s assignor failed: {reason}"),
    "assignor.reason.steps": _("took more than {steps} steps"),
    "assignor.reason.memory": _("needed more memory than it may have"),
    "assignor.reason.cpu": _("used more than {seconds} s of CPU"),
    "assignor.reason.crashed": _(
        "crashed Python ({signal}); map(), filter() or zip() nested thousands deep do that"
    ),
    "assignor.reason.long_answer": _("its answer is longer than {mb} MB"),
    "assignor.reason.deep_answer": _("its answer is nested too deeply"),
    "assignor.reason.unreadable": _("its answer cannot be read: it is no JSON"),
    "assignor.reason.not_dict": _("assign() must return a dict: member id -> list of (topic, number)"),
    "assignor.reason.no_member": _("there is no member {member}"),
    "assignor.reason.not_list": _("{member} must have a list of (topic, number)"),
    "assignor.reason.too_many": _("too many partitions"),
    "assignor.reason.no_partition": _("{member}: {row} is no partition; give (topic, number)"),
    "assignor.reason.cooperative": _(
        "violates the COOPERATIVE protocol: {names} still has an owner that must give it up first"
    ),
    "kafka.subscribed": _("{consumer} changes its subscription; its next poll rejoins the group."),
}
