"""Words of the page of a consumer group: the sequence chart, states and timers, members and verbs,
partitions. Kafka's own names stay."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

GROUPS = {
    # Head
    "groups.title": _("Consumer group"),
    "groups.to_stage": _("Stage of this lab"),
    "groups.to_cluster": _("Cluster"),
    "groups.to_log": _("Log"),
    "groups.to_offsets": _(
        "The partition of __consumer_offsets that keeps this group, on its coordinator's disk"
    ),
    "groups.head.no_coordinator": _(
        "The group has no coordinator: its broker does not answer, and no other broker has taken over."
    ),
    "groups.head.pending": _(
        "The group has no members; {count?one member id has|{count} member ids have} been handed out but "
        "not used."
    ),
    "groups.head.empty": _("The group has no members."),
    "groups.head.gathering": _(
        "{members?The only member has|All {members} members have} joined; the coordinator waits in case more "
        "arrive."
    ),
    "groups.head.joining": _(
        "Rebalancing: {waiting} of {members} {members?member|members} joined, {dark} of {partitions} "
        "partitions dark."
    ),
    "groups.head.syncing": _("Rebalancing: the leader assigns, {dark} of {partitions} partitions dark."),
    "groups.head.assigning": _(
        "Assigning: the coordinator does so at the next heartbeat; {dark} of {partitions} partitions dark."
    ),
    "groups.head.reconciling": _(
        "Reconciling: {behind} of {members} {members?member|members} not at the target yet, {dark} of "
        "{partitions} partitions dark."
    ),
    "groups.head.silent": _(
        "{names} {count?is|are} silent; the coordinator finds out when {count?its session times|their "
        "sessions time} out."
    ),
    "groups.head.away": _(
        "{names} {count?restarts|restart} as {count?a static member|static members}: the group reserves "
        "{count?its|their} partitions until {count?its session times|their sessions time} out."
    ),
    "groups.head.stuck": _(
        "{names} {count?does|do} not poll; {count?its|their} heartbeats continue, so the group considers "
        "{count?it|them} alive."
    ),
    "groups.head.zombie": _(
        "{names} {count?is no longer a member and reads|are no longer members and read} on: {count?a "
        "zombie|zombies}."
    ),
    "groups.head.leaderless": _(
        "{leaderless} of {partitions} partitions {leaderless?has|have} no leader and cannot be read."
    ),
    "groups.head.twice": _(
        "Stable: {members} members; {twice} of {partitions} partitions {twice?is|are} read by more than "
        "one of them."
    ),
    "groups.head.dark": _("{dark} of {partitions} partitions {dark?has|have} no reader."),
    "groups.head.idle": _(
        "Stable: {members?one member|{members} members}, {idle?one|{idle}} without a partition."
    ),
    "groups.head.stable": _(
        "Stable: {members?one member reads|{members} members read} {partitions?one "
        "partition|{partitions} partitions}."
    ),
    "groups.sub": _("Group {group}, {protocol}, assignor {assignor}."),
    "groups.sub_unassigned": _("Group {group}, {protocol}."),
    "groups.sub_group": _("Group {group}."),
    "groups.sub_classic": _(
        "{names} {count?speaks|speak} the classic protocol: {assignor} assigns to {count?it|them}, too, "
        "and {count?its own assignor is|their own "
        "assignors are} not asked."
    ),
    "groups.sub_where": _("Coordinator: broker {broker}, leader of __consumer_offsets-{partition}."),
    "groups.sub_old": _("The old coordinator answers, the default in Kafka 3.9."),
    "groups.sub_committed": _("isolation.level is read_committed."),
    "groups.sub_reset": _("auto.offset.reset is {reset}."),
    "groups.sub_nobody": _("Its records are in __consumer_offsets-{partition}, which has no leader."),
    "groups.protocol.eager": _("classic protocol, eager"),
    "groups.protocol.cooperative": _("classic protocol, cooperative"),
    "groups.protocol.consumer": _("consumer protocol (KIP-848)"),
    # Sequence chart
    "groups.sequence": _("Protocol"),
    "groups.sequence_sub": _("Time runs downwards, not to scale. Hover over a message for its fields."),
    "groups.sequence_label": _(
        "Messages between members and coordinator: arrow keys move, Enter keeps a message"
    ),
    "groups.fold": _("Fold"),
    "groups.now": _("now"),
    "groups.nothing_said": _("No messages yet."),
    "groups.coordinator": _("Coordinator"),
    "groups.on_broker": _("broker {broker}"),
    "groups.coordinator_on": _("The coordinator runs on broker {broker}."),
    "groups.no_coordinator": _("no coordinator"),
    "groups.tool": _("tool"),
    "groups.static": pgettext_lazy("member", "static"),
    "groups.with_tags": _("{name} ({tags})"),
    "groups.classic": pgettext_lazy("member", "classic"),
    "groups.leads": _("Leader of the group: it assigns the partitions."),
    "groups.parked": _("{what} waits at the coordinator: {waited_us}"),
    "groups.waits": _("waits {waited_us}"),
    "groups.message_label": _("{what} of {member}. {note}"),
    "groups.from": _("{member} and broker {broker}"),
    "groups.not_yet": _("not yet"),
    "groups.asked": _("Request"),
    "groups.answered": _("Answer"),
    "groups.time.sent": _("sent"),
    "groups.time.arrived": _("arrived"),
    "groups.time.answered": _("answered"),
    "groups.time.received": _("received"),
    "groups.time.lost": _("connection lost"),
    # Timers
    "groups.timers_left": _("{kind} left"),
    "groups.timer.session": _("session"),
    "groups.timer.pending": _("unused member id"),
    "groups.timer.rebalance": _("rebalance timeout"),
    "groups.timer.poll": _("max.poll.interval"),
    "groups.timer.initial_delay": _("initial delay"),
    "groups.timer.join": _("join phase"),
    "groups.timer.sync": _("sync phase"),
    # States
    "groups.machine": _("State"),
    "groups.state_now": _("The group is {state}."),
    "groups.event.rebalance": _("rebalance"),
    "groups.event.all_joined": _("all joined"),
    "groups.event.all_left": _("all left"),
    "groups.event.leader_synced": _("leader synced"),
    "groups.event.member_joined": _("member joined"),
    "groups.event.members_or_topics_changed": _("change"),
    "groups.event.target_assigned": _("target assigned"),
    "groups.event.all_reconciled": _("all reconciled"),
    "groups.unknown": _("Without a coordinator the group's state is unknown."),
    "groups.note.generation": _("generation {number}"),
    "groups.note.generation_leader": _("generation {number}, leader"),
    "groups.note.epoch": _("epoch {number}"),
    "groups.generation": pgettext_lazy("group", "generation"),
    "groups.group_epoch": _("group epoch"),
    "groups.assignment_epoch": _("assignment"),
    "groups.member_epoch": pgettext_lazy("epochs", "members"),
    "groups.generation_words": _(
        "Each rebalance starts a new generation; requests that carry an old number are refused."
    ),
    "groups.epochs_words": _(
        "A change raises the group epoch ({epoch}), the assignor follows ({assigned}), then each member at "
        "its own pace: {behind} still behind."
    ),
    # Members
    "groups.members": _("Members"),
    "groups.choose": _("Choose a member or the coordinator: its actions appear below."),
    "groups.doing.reads": _("reads {count?one partition|{count} partitions}"),
    "groups.doing.idle": _("has no partition"),
    "groups.doing.awaits_join": _("JoinGroup waits"),
    "groups.doing.awaits_sync": _("SyncGroup waits"),
    "groups.doing.UNREVOKED_PARTITIONS": _("has to give up"),
    "groups.doing.UNRELEASED_PARTITIONS": _("waits for others to release partitions"),
    "groups.doing.UNKNOWN": _("unknown state"),
    "groups.doing.outside": _("not a member yet"),
    "groups.doing.searching": _("looks for the coordinator"),
    "groups.doing.unanswered": _("gets no answer"),
    "groups.doing.stuck": _("poll loop is stuck"),
    "groups.doing.stuck_out": _("stuck; no longer a member"),
    "groups.doing.stuck_silent": _("poll loop is stuck; no heartbeats"),
    "groups.doing.zombie": _("no longer a member, still reads {count?one partition|{count} partitions}"),
    "groups.doing.starting": _("its process starts"),
    "groups.doing.paused": _("paused: no heartbeats"),
    "groups.doing.crashed": _("crashed, not noticed yet"),
    "groups.doing.gone": _("its program is gone, not noticed yet"),
    "groups.doing.paused_out": _("paused; no longer a member"),
    "groups.doing.crashed_out": _("crashed; no longer a member"),
    "groups.doing.away": _("restarts; its place is kept"),
    "groups.doing.closing": _("closes"),
    "groups.doing.failed": _("its program failed"),
    "groups.doing.failed_with": _("failed: {error}"),
    # Verbs
    "groups.verb.join": _("New member"),
    "groups.verb.leave": _("Leave"),
    "groups.verb.crash": _("Crash"),
    "groups.verb.rejoin": _("Start again"),
    "groups.verb.group_restart": _("Restart"),
    "groups.verb.group_freeze": _("Long GC pause"),
    "groups.verb.group_thaw": _("End the pause"),
    "groups.verb.group_stick": _("Stuck poll"),
    "groups.verb.group_unstick": _("Poll again"),
    "groups.verb.group_subscribe": _("Change subscription"),
    "groups.verb.cluster_add_partitions": _("{more} more partitions"),
    "groups.verb.group_subscribe_pattern": _("Subscribe by pattern"),
    "groups.at_partition": _(
        "One partition: commit an offset while the group has no members, or send a record there."
    ),
    "groups.at_partition_of": _("One partition, at {member}: what its program calls on its consumer."),
    "groups.at_which": _("Partition"),
    "groups.at_offset": _("Offset"),
    "groups.verb.group_pause_partition": _("Pause it"),
    "groups.verb.group_resume_partition": _("Resume it"),
    "groups.verb.group_seek": _("Seek to the offset"),
    "groups.verb.group_seek_beginning": _("To the beginning"),
    "groups.verb.group_seek_end": _("To the end"),
    "groups.verb.group_commit": _("Commit the offset"),
    "groups.verb.group_reset_offsets": _("Commit for the group"),
    "groups.verb.cluster_send_record": _("Send a record there"),
    "groups.subscribe": _("Subscribe to {topic}"),
    "groups.unsubscribe": _("Unsubscribe from {topic}"),
    "groups.verb_about.group_restart": _(
        "It closes, and a new process starts two seconds later; a static member comes back as the same one."
    ),
    "groups.verb_about.group_freeze": _(
        "Freezes the process: no polls and no heartbeats, so its session expires."
    ),
    "groups.verb_about.group_thaw": _(
        "It resumes where it left off; if the group has removed it, it is a zombie."
    ),
    "groups.verb_about.group_stick": _(
        "It hangs on its next record; heartbeats continue, so only max.poll.interval.ms can expire."
    ),
    "groups.verb_about.group_unstick": _("It finishes its record and polls again."),
    "groups.verb_about.group_subscribe": _(
        "It reads other topics from its next poll on, and the group rebalances."
    ),
    "groups.verb_about.group_subscribe_pattern": _(
        "It reads every topic whose whole name matches, also those that come later."
    ),
    "groups.pattern_of": _("Topics that {member} reads, as a regular expression"),
    "groups.pattern_hint": _(
        "The whole name has to match: orders.* reads orders and orders-eu, flights|audit these two."
    ),
    "groups.pattern_make": _("Subscribe"),
    "groups.pattern_cancel": _("Cancel"),
    "groups.by_pattern": _("By the pattern {pattern} it reads {topics}."),
    "groups.by_pattern_none": _("No topic has a name that the pattern {pattern} matches."),
    "groups.sentence": _("{text}."),
    "groups.verb_about.group_pause_partition": _(
        "poll() returns no records of it until it is resumed; the group does not rebalance, and nobody "
        "else may read it."
    ),
    "groups.verb_about.group_resume_partition": _("poll() returns its records again, from where it was."),
    "groups.verb_about.group_seek": _(
        "The next poll() reads from there; an offset that the log does not hold is reset by "
        "auto.offset.reset."
    ),
    "groups.verb_about.group_seek_beginning": _("It reads again from the log start offset."),
    "groups.verb_about.group_seek_end": _("It goes on at the log end; what lies before is passed over."),
    "groups.verb_about.group_commit": _(
        "commitSync of this offset: whoever is assigned the partition next begins there."
    ),
    "groups.verb_about.group_reset_offsets": _(
        "kafka-consumer-groups --reset-offsets: refused while the group has members."
    ),
    "groups.verb_about.cluster_send_record": _("The producer names the partition, so no key decides."),
    "groups.verb_about.cluster_add_partitions": _(
        "Topic {topic} has {count} partitions from then on; members learn it with their next metadata."
    ),
    "groups.verb_about.join": _("One more consumer starts and joins the group."),
    "groups.verb_about.leave": _("close(): it commits, sends LeaveGroup, and the others rebalance at once."),
    "groups.verb_about.crash": _(
        "Its machine goes silent: the coordinator finds out when the session times out."
    ),
    "groups.verb_about.rejoin": _("The program starts again, as a new member."),
    # Grid
    "groups.more_members": _(
        "{count?One more member is|{count} more members are} to the right: scroll sideways. →"
    ),
    "groups.more_figures": _(
        "{count?One more column is|{count} more columns are} to the right: scroll sideways. →"
    ),
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
    # The same history under each assignor
    "groups.own.title": _("An assignor of your own"),
    "groups.own.run": _("Run in this group"),
    "groups.own.back": _("Back to the lane's"),
    "groups.own.none": _("A Python function that shares the partitions out. Every member restarts with it."),
    "groups.own.off": _(
        "Off: the kernel of this server has no filter for system calls (seccomp), so nobody's function "
        "is run here."
    ),
    "groups.own.runs": _("The group runs your function: its leader calls it in each rebalance."),
    "groups.own.so_too": _("{said} (so did {others})"),
    "groups.own.so_many": _("{said} (so did {count} others)"),
    "groups.own.limits": _(
        "It runs in a process of its own: no imports, files or network; 256 MB, 300,000 steps. Sets keep "
        "the order in which they are filled. A "
        "partition may go to two members: it is read twice then. With COOPERATIVE = True members keep "
        "what does not move, and the "
        "function must leave a partition out until its owner has given it up."
    ),
    "groups.compare.title": _("The same history under each assignor"),
    "groups.compare.start": _("Compare"),
    "groups.compare.none": _(
        "Runs this lab's joins, faults and records again, up to now, once for each assignor and for KIP-848."
    ),
    "groups.compare.waiting": _("Waits for the worker."),
    "groups.compare.running": _("{name}: {percent} % of the history; {done} done."),
    "groups.compare.done": _("Run again up to {until}, each with its own brokers, coordinator and programs."),
    "groups.compare.failed": _("It failed: {reason}"),
    "groups.compare.own": _("(this lane)"),
    "groups.compare.consumer": _("KIP-848, uniform"),
    "groups.compare.consumer_range": _("KIP-848, range"),
    "groups.compare.range_global": _("Article range"),
    "groups.compare.round_robin_hashed": _("Article robin"),
    "groups.compare.custom": _("your own assignor"),
    "groups.compare.name": _("assignor"),
    "groups.compare.generation": _("rebalances"),
    "groups.compare.moved": _("moved"),
    "groups.compare.spread": _("spread"),
    "groups.compare.dark_us": _("pause, partition-s"),
    "groups.compare.dark_most": _("dark at once"),
    "groups.compare.duplicates": _("duplicates"),
    "groups.compare_about.generation": _("The last generation, or group epoch."),
    "groups.compare_about.moved": _("How often a partition changed readers."),
    "groups.compare_about.spread": _("Now: the most partitions that a member has, less the fewest."),
    "groups.compare_about.dark_us": _("The time partitions spent without a reader, summed over partitions."),
    "groups.compare_about.dark_most": _("The most partitions without a reader at any one moment."),
    "groups.compare_about.duplicates": _("Records read a second time."),
    # Tables
    "groups.others": _("Groups that read the topic"),
    "groups.others_sub": _(
        "Every group gets every record: a broadcast. Within a group each record goes to exactly one member."
    ),
    "groups.column.group": _("group"),
    "groups.column.handled": _("handled"),
    "groups.column.at": _("at"),
    "groups.column.member": _("member"),
    "groups.column.message": _("message"),
    "groups.column.answer": _("answer"),
    "groups.column.waited": _("waited"),
    "groups.column.doing": _("does"),
    "groups.column.epoch": _("generation or epoch"),
    "groups.column.assigned": _("assigned"),
    "groups.column.owned": _("reads"),
    "groups.column.target": _("target"),
    "groups.column.session": _("session left"),
    "groups.column.member_id": _("member id"),
    "groups.column.partition": _("partition"),
    "groups.column.owner": _("read by"),
    "groups.column.start": _("log start"),
    "groups.column.end": _("log end"),
    "groups.column.hw": _("HW"),
    "groups.column.stable": _("LSO"),
    "groups.column.stable_lag": _("lag to LSO"),
    "groups.column.committed": _("committed"),
    "groups.column.position": _("position"),
    "groups.column.passed_over": _("never read"),
    "groups.column.lag": _("lag"),
    "groups.column.lag_us": _("lag in time"),
    "groups.column.status": _("status and its rule"),
    "groups.column.trend": _("trend"),
    "groups.keys": _(
        "Keys: 1 to 9 choose a member, C the coordinator; L leave, X crash, B start again, R restart, G "
        "GC pause, K stuck poll, S subscription, "
        "P pattern, J new member, A partitions; F fold, T tables, Space play"
    ),
}
