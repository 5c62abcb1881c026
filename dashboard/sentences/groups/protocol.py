"""Group page: head, sequence of messages, timers, states of the group."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

PROTOCOL = {
    # Head
    "groups.title": _("Consumer group"),
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
    "groups.others_word": _("others"),
    "groups.leads": _("Leader of the group: it assigns the partitions."),
    "groups.parked": _("{what} waits at the coordinator: {waited_us}"),
    "groups.parked_many": _("{count} × {what} wait at the coordinator, the longest {waited_us}"),
    "groups.waits": _("waits {waited_us}"),
    "groups.message_label": _("{what} of {member}. {note}"),
    "groups.messages_label": _("{count} × {what} of the others. The first: {note}"),
    "groups.lost_of": _("{lost} of {count} lost"),
    "groups.from": _("{member} and broker {broker}"),
    "groups.one_of": _("{from}, one of {count} drawn here as one"),
    "groups.not_yet": _("not yet"),
    "groups.asked": _("Request"),
    "groups.answered": _("Answer"),
    "groups.time.sent": _("sent"),
    "groups.time.arrived": _("arrived"),
    "groups.time.answered": _("answered"),
    "groups.time.received": _("received"),
    "groups.time.lost": _("connection lost"),
    # Timers
    "groups.first_of": _("first of {count}"),
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
}
