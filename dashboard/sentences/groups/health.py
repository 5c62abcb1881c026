"""Group page: lag, findings, the grid of partitions, trends."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

HEALTH = {
    "groups.grid": _("Partitions"),
    "groups.grid_lit": _("{partitions?The only one is|All {partitions} are} read."),
    "groups.grid_dark": _("{dark} of {partitions} {dark?has|have} no reader."),
    "groups.grid_held": _("{held} of {partitions} {held?has|have} an owner that reads nothing."),
    "groups.grid_twice": _(
        "{twice} {twice?is|are} read by more than one member: each handles every record there."
    ),
    "groups.grid_lag_unknown": _("Lag unknown: committed offsets cannot be read without a coordinator."),
    "groups.grid_lag_in": _("Topic {topic}: lag {lag?one record|{lag} records}, {lag_us}; {status}."),
    "groups.grid_lag": _("Lag {lag?one record|{lag} records}, {lag_us}; {status}."),
    "groups.grid_passed": _(
        "{count?One record was|{count} records were} never read: the group's position jumped beyond "
        "{count?it|them}."
    ),
    "groups.grid_stable": _(
        "Up to the last stable offset: lag {lag?one record|{lag} records}; no open transaction holds any "
        "back."
    ),
    "groups.grid_open": _(
        "Up to the last stable offset: lag {lag?one record|{lag} records}; an open transaction holds "
        "back {hidden?one record|{hidden} records} more."
    ),
    "groups.status.unread": _(
        "warning: {count} of {partitions} {partitions?partition|partitions} {count?is|are} not being read"
    ),
    "groups.status.not_read": _("warning: it is not being read"),
    "groups.status.grows": _("warning: the lag grew over the last {seconds} s"),
    "groups.status.overload": _("warning: more records come in than the members handle"),
    "groups.status.rising": _(
        "warning: over the last {seconds} s, the lag grew in {count} of {partitions} partitions"
    ),
    "groups.status.in_some": _("{rule} ({count} of {partitions} partitions)"),
    "groups.rule.no_lag": _("ok: no lag"),
    "groups.rule.stopped": _("error: no commit for longer than the last {window} commits took"),
    "groups.rule.caught_up": _("ok: the lag was 0 at one of the last {window} commits"),
    "groups.rule.young": _("too early to tell: fewer than three commits"),
    "groups.rule.rewound": _("error: a commit went back, within the last {window}"),
    "groups.rule.stalled": _("error: the last {window} commits are all of the same offset"),
    "groups.rule.falling": _("warning: the lag never fell over the last {window} commits"),
    "groups.rule.moving": _(
        "ok: over the last {window} commits the offset advanced and the lag fell at times"
    ),
    # What holds it up
    "groups.stuck": _("What is the group waiting for?"),
    "groups.until": _("({timer}, {left_us} left)"),
    "groups.finding.none": _("Nothing: the group is not waiting."),
    "groups.finding.no_coordinator": _(
        "The group has no coordinator: no joins, heartbeats or commits until another broker leads its "
        "offsets partition."
    ),
    "groups.finding.no_members": _(
        "The group has no members: {count?one record waits|{count} records wait}."
    ),
    "groups.finding.gathering": _(
        "The coordinator is waiting for the first members; {count?one has|{count} have} joined."
    ),
    "groups.finding.join_waits": _("The group waits for {member} to send JoinGroup."),
    "groups.finding.silent_waits": _(
        "The group waits for {member}, which {members?has|have} crashed and will send no JoinGroup."
    ),
    "groups.finding.frozen_waits": _(
        "The group waits for {member}, whose {members?process is|processes are} frozen, to send JoinGroup."
    ),
    "groups.finding.gone_waits": _(
        "The group waits for {member}, a static member whose process is gone, to send JoinGroup."
    ),
    "groups.finding.join_unheard": _(
        "{member} {members?hears of the rebalance with its next heartbeat, and joins|hear of the "
        "rebalance with their next heartbeats, and join} "
        "then."
    ),
    "groups.finding.pending_waits": _(
        "The group waits for {count?a member id that was handed out but not used|{count} member ids that "
        "were handed out but not used}."
    ),
    "groups.finding.sync_waits": _("The group waits for its leader, {member}, to send the assignment."),
    "groups.finding.revoke_waits": _(
        "{member} has not given up {partitions?one partition|{partitions} partitions} that others are to get."
    ),
    "groups.finding.ghost_waits": _(
        "The group waits for the old {member}, from before its crash: the coordinator still counts it as a "
        "member."
    ),
    "groups.finding.ghost_owner": _(
        "The old {member}, from before its crash, still owns {partitions?one partition|{partitions} "
        "partitions}, so nobody else may read {partitions?it|them}."
    ),
    "groups.finding.assign_waits": _("The coordinator reassigns at the next heartbeat, which is {member}'s."),
    "groups.finding.revoke_unheard": _(
        "{member} {members?hears with its next heartbeat that it has|hear with their next heartbeats "
        "that they have} to give up "
        "{partitions?one partition|{partitions} partitions}."
    ),
    "groups.finding.free_unheard": _(
        "{member} {members?hears with its next heartbeat that it|hear with their next heartbeats that "
        "they} may read "
        "{partitions?one partition|{partitions} partitions}."
    ),
    "groups.finding.epoch_unheard": _(
        "{member} {members?hears of the new epoch with its next heartbeat; its partitions stay|hear of "
        "the new epoch with their next heartbeats; "
        "their partitions stay}."
    ),
    "groups.finding.silent_owner": _(
        "{member} is dead but still owns {partitions?one partition|{partitions} partitions}, so nobody else "
        "may read {partitions?it|them} until its session ends."
    ),
    "groups.finding.frozen_owner": _(
        "{member} is frozen but still owns {partitions?one partition|{partitions} partitions}, so nobody "
        "else may read {partitions?it|them}."
    ),
    "groups.finding.gone_owner": _(
        "{member} restarts as a static member and keeps {partitions?one partition|{partitions} partitions}."
    ),
    "groups.finding.stuck_owner": _(
        "{member} does not poll and owns {partitions?one partition|{partitions} partitions}; its heartbeats "
        "continue."
    ),
    "groups.finding.closing_owner": _(
        "{member} is closing and has stopped reading {partitions?one partition|{partitions} partitions}; the "
        "coordinator has not been informed yet."
    ),
    "groups.finding.taking_owner": _(
        "{member} {members?is|are} taking over {partitions?one partition|{partitions} partitions}: "
        "{members?its|their} next poll() starts reading there."
    ),
    "groups.finding.paused_owner": _(
        "{member} has paused {partitions?one partition|{partitions} partitions}: nobody reads there "
        "until its program resumes."
    ),
    "groups.finding.overdue_owner": _(
        "{member} has not polled for max.poll.interval.ms and sends no more heartbeats; as a static member "
        "it keeps {partitions?one partition|{partitions} partitions}."
    ),
    "groups.finding.new_partitions": _(
        "{partitions?One new partition has|{partitions} new partitions have} no owner: the leader, {member}, "
        "learns of {partitions?it|them} at its next metadata refresh and rejoins."
    ),
    "groups.finding.second_waits": _(
        "{partitions?One partition waits|{partitions} partitions wait} for a second rebalance: the old owner "
        "has to release {partitions?it|them} first."
    ),
    "groups.finding.left_out": _(
        "The assignor left {partitions?one partition|{partitions} partitions} unassigned."
    ),
    "groups.finding.no_leader": _(
        "{partitions?One partition has|{partitions} partitions have} no leader and cannot be read."
    ),
    "groups.finding.slow_owner": _(
        "{member} falls behind on {partitions?one partition|{partitions} partitions}: {count?one "
        "record|{count} records}."
    ),
    "groups.finding.nobody_subscribed": _("No member subscribes to this topic."),
    "groups.finding.more_members_than_partitions": _(
        "More members than partitions: {count?one is|{count} are} idle."
    ),
    # What to do about it
    "groups.cure.no_coordinator": _("Cure: start a broker that has a replica of that partition."),
    "groups.cure.no_members": _("Cure: start a consumer."),
    "groups.cure.gathering": _(
        "Nothing to do: the first rebalance begins when group.initial.rebalance.delay.ms is over."
    ),
    "groups.cure.join_waits": _("Cure: a poll() that comes back sooner, by a lower max.poll.records."),
    "groups.cure.silent_waits": _(
        "Cure: a shorter session timeout finds the dead sooner; a consumer that closes leaves at once."
    ),
    "groups.cure.frozen_waits": _(
        "Cure: let its process run again, or end it; a shorter session timeout finds it sooner."
    ),
    "groups.cure.gone_waits": _(
        "Nothing to do if it is back before its session ends; after that others take over."
    ),
    "groups.cure.join_unheard": _("Nothing to do; a shorter heartbeat interval makes it faster."),
    "groups.cure.pending_waits": _("Nothing to do: an id that nobody uses expires with the session timeout."),
    "groups.cure.sync_waits": _(
        "Cure: restart {member} if it hangs; if it stays silent, its session ends and another member leads."
    ),
    "groups.cure.revoke_waits": _("Cure: let {member} poll: it gives partitions up between two polls."),
    "groups.cure.ghost_waits": _(
        "Cure: a group.instance.id, with which the new {member} takes the old one's place at once; or a "
        "shorter session timeout."
    ),
    "groups.cure.ghost_owner": _(
        "Cure: a group.instance.id, with which the new {member} takes the old one's place at once; or a "
        "shorter session timeout."
    ),
    "groups.cure.assign_waits": _("Nothing to do; a shorter heartbeat interval makes it faster."),
    "groups.cure.revoke_unheard": _("Nothing to do; a shorter heartbeat interval makes it faster."),
    "groups.cure.free_unheard": _("Nothing to do; a shorter heartbeat interval makes it faster."),
    "groups.cure.epoch_unheard": _("Nothing to do."),
    "groups.cure.silent_owner": _(
        "Cure: a shorter session timeout finds the dead sooner; a consumer that closes leaves at once."
    ),
    "groups.cure.frozen_owner": _(
        "Cure: let its process run again, or end it; a shorter session timeout finds it sooner."
    ),
    "groups.cure.gone_owner": _(
        "Nothing to do if it is back before its session ends; after that others take over."
    ),
    "groups.cure.stuck_owner": _(
        "Cure: lower max.poll.records, or pause() and handle slow records in another thread; a shorter "
        "max.poll.interval.ms finds it sooner."
    ),
    "groups.cure.closing_owner": _("Nothing to do: it leaves in a moment."),
    "groups.cure.taking_owner": _("Nothing to do."),
    "groups.cure.paused_owner": _("Cure: resume() in its program."),
    "groups.cure.overdue_owner": _(
        "Cure: let it poll again, or end it; a shorter session timeout frees its partitions sooner."
    ),
    "groups.cure.new_partitions": _("Cure: a shorter metadata.max.age.ms finds new partitions sooner."),
    "groups.cure.second_waits": _("Nothing to do: a cooperative assignor takes two rebalances."),
    "groups.cure.left_out": _("Cure: another assignor, or mend your own."),
    "groups.cure.no_leader": _(
        "Cure: start a broker of its ISR; an unclean election from another replica loses records."
    ),
    "groups.cure.slow_owner": _(
        "Cure: more members, as long as there are fewer than partitions; or less work per record."
    ),
    "groups.cure.nobody_subscribed": _("Cure: let a member subscribe to it."),
    "groups.cure.more_members_than_partitions": _(
        "Cure: more partitions, or fewer members: a partition has one reader at most."
    ),
    "groups.never_read": pgettext_lazy("partition", "dark"),
    "groups.dark": _("nobody"),
    "groups.dark_for": _("dark for {for_us}"),
    "groups.key.reads": _("full: reads it"),
    "groups.key.given": _("hatched: assigned to it, not read by it"),
    "groups.key.target": _("open: its target"),
    "groups.key.revoking": _("minus: told to give it up"),
    "groups.key.held": _("! in a cell: has it and reads nothing"),
    "groups.key.dark": _("dark lane: no reader"),
    "groups.key.status": _("! or × beside the trend: a warning or an error"),
    "groups.cell.reads": _("{member} reads partition {partition}"),
    "groups.cell.given": _("Partition {partition} is assigned to {member}, which does not read it"),
    "groups.cell.held_stuck": _("{member} has partition {partition} and does not poll"),
    "groups.cell.held_leaderless": _("{member} has partition {partition}, which has no leader to read from"),
    "groups.cell.held_paused": _("{member} has paused partition {partition}"),
    "groups.cell.target": _("Partition {partition} is in the target of {member}"),
    "groups.cell.revoking": _("{member} has to give up partition {partition}"),
    "groups.short.end": _("log end"),
    "groups.short.high_watermark": _("HW"),
    "groups.short.stable": _("LSO"),
    "groups.short.stable_lag": _("lag to LSO"),
    "groups.short.committed": _("committed"),
    "groups.short.position": _("position"),
    "groups.short.lag": _("lag"),
    "groups.short.lag_us": _("lag time"),
    "groups.short.trend": _("trend"),
    "groups.trend.about": _(
        "Slope of the lag over the last {seconds} s: it grows or shrinks where the fitted line moves by "
        "at least two records and by more "
        "than twice the scatter around it, however large the lag is."
    ),
    "groups.trend.up": _("grows"),
    "groups.trend.down": _("shrinks"),
    "groups.trend.level": _("level"),
}
