"""Words inside a lane: bill, sentence of cause and effect, route, pictures, rows. Codes of sentences are the
core's."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

_IDLE_CRASH = _("{consumer} is silent; it had no partition, so nothing waits for it.")
_PAUSED_ACTIVE = _(
    "{consumer} takes no more records: all its partitions wait, {held} {held?record is|records are} unacked."
)
_IDLE_PAUSE = _("{consumer} takes no more records; it had no partition, so nothing waits for it.")

LANES = {
    "rig.pulsar": _("Pulsar"),
    "rig.kafka": _("Kafka"),
    "rig.tubemq": _("TubeMQ"),
    "rig.rabbitmq": _("RabbitMQ"),
    "lane.pulsar": _("Pulsar Key_Shared"),
    "lane.kafka": _("Kafka"),
    "lane.tubemq": _("TubeMQ"),
    "lane.rabbitmq": _("RabbitMQ"),
    "log.link": _("Log"),
    "cluster.link": _("Cluster"),
    "cluster.link_title": _("Brokers, copies and the high watermark of each partition"),
    "groups.link": _("Group"),
    "groups.link_title": _("Members, coordinator and the protocol between them, message by message"),
    "pulsar.link": _("Subscription"),
    "pulsar.link_title": _("Hash space, cursor, permits, and why a consumer is idle"),
    "log.link_title": _("The partitions of this lane as they are on disk"),
    "algorithm.group": _("Rule of sharing"),
    "algorithm.more": _("More"),
    "algorithm.only": _("the only rule"),
    "algorithm.document": _("as in the article"),
    "algorithm.upgrading": _(
        "KIP-848: {assignor} assigns to all members, including {names} (classic); {rule} is not used."
    ),
    "algorithm.own_name": _("Own assignor"),
    "algorithm.own": _("The group runs its own assignor; {rule} is not used."),
    "algorithm.upgraded": _("KIP-848: the coordinator's {assignor} assigns; {rule} is not used."),
    # Bill
    "hero.moved": _("of keys moved, {part} of {whole}"),
    "hero.moving": _("of keys moved so far, {part} of {whole}"),
    "hero.keyless": _("of keys moved: no key has an owner"),
    "hero.no_keys": _("of keys: no record with a key has arrived yet"),
    "hero.dark": _("of keys have had no consumer for {lasted_us}"),
    "hero.was_dark": _("of keys had no consumer for {lasted_us}"),
    "hero.served_none": _("of keys: {consumer} served none"),
    "hero.held": _("of the unacked records have been stuck for {lasted_us}"),
    "hero.was_held": _("of the unacked records were stuck for {lasted_us}"),
    "hero.empty": _("of keys: no consumer for {lasted_us}"),
    "hero.queued": _("{lag?record waits|records wait}: no consumer for {lasted_us}"),
    "hero.waits": _("{lag?record waits|records wait}, {part} of them for {consumer}"),
    "hero.in_hands": _("{lag?record waits|records wait}, {part} of them held by {consumer}"),
    "hero.next": _("Next"),
    # What a bill covers
    "covers": _("Since {clock}: {changes}"),
    "covers.comma": pgettext_lazy("changes", ", "),
    "covers.bill": _("This bill. {covers}"),
    "covers.join_many": _("{count} joined"),
    "covers.leave_many": _("{count} left"),
    "covers.rejoin_many": _("{count} came back"),
    "covers.crash_many": _("{count} crashed"),
    "covers.noticed_many": _("{count} timed out"),
    "covers.changes": _("{count} changes"),
    "covers.start": _("the lab began"),
    "covers.join": _("{who} joined"),
    "covers.leave": _("{who} left"),
    "covers.rejoin": _("{who} came back"),
    "covers.crash": _("{who} crashed"),
    "covers.noticed": _("{who} timed out"),
    "covers.pause": _("{who} paused"),
    "covers.resume": _("{who} resumed"),
    "covers.full_speed": _("{who} got its full speed back"),
    "covers.slow": _("{who} slowed down"),
    "covers.group_freeze": _("{who} paused by GC"),
    "covers.group_thaw": _("{who} resumed after its pause"),
    "covers.group_stick": _("{who} stuck"),
    "covers.group_unstick": _("{who} unstuck"),
    "covers.group_restart": _("{who} restarted"),
    "covers.group_subscribe": _("{who} changed its subscription"),
    "covers.group_freeze_many": _("{count} paused by GC"),
    "covers.group_thaw_many": _("{count} resumed after a pause"),
    "covers.group_restart_many": _("{count} restarted"),
    "covers.group_subscribe_many": _("{count} changed their subscriptions"),
    "covers.pulsar_ranges": _("{who} changed its ranges"),
    "covers.pulsar_priority": _("{who} changed its priority level"),
    "covers.pulsar_ranges_many": _("{count} changed their ranges"),
    "covers.pulsar_priority_many": _("{count} changed their priority levels"),
    "next.ring": _("a newcomer takes a part of the ring from each other consumer"),
    "next.halves": _("a newcomer takes half of the widest range from one other consumer"),
    "next.eager": _("when a consumer joins, all partitions pause and are reassigned"),
    "next.cooperative": _("when a consumer joins, only the partitions that move pause"),
    "next.restart": _("when a consumer joins, all clients restart and the modulo changes"),
    "next.turn": _("a newcomer takes its turn at the queue; nothing moves"),
    # Running bill
    "tally": _("Since the start"),
    "tally.keys_moved": pgettext_lazy("term", "keys moved"),
    "tally.dark": pgettext_lazy("term", "dark"),
    "tally.redelivered": pgettext_lazy("term", "redelivered"),
    "tally.out_of_order": pgettext_lazy("term", "out of order"),
    "figure.space": _("hash space"),
    "figure.partitions": pgettext_lazy("figure", "partitions"),
    "figure.redelivered": _("redelivered"),
    "figure.pause": _("pause"),
    "figure.skew": _("skew"),
    "figure.none": _("No figure yet: no consumer has joined or left."),
    # Why a lane can have no such figure
    "never.pulsar.pause": _(
        "Pulsar pauses no partition: the next record of a key goes straight to its new owner."
    ),
    "never.rabbitmq.partitions": _(
        "RabbitMQ has one queue that all consumers share: nothing can change hands."
    ),
    "never.rabbitmq.pause": _("RabbitMQ pauses nothing: any free consumer takes the next record."),
    # Sentences: cause, then effect, with its number
    "none": _("Nothing has changed yet."),
    "none_cluster": _("The cluster has changed, but no consumer has joined or left yet."),
    "none_dark": _("Nothing has changed yet. During start-up partitions were dark for {dark_us} on average."),
    "under_way": _("The change is under way."),
    "idle": _("No consumers: records wait until one joins."),
    "overload": _(
        "{excess} {excess?record|records}/s more than {count?one|{count}} at work {count?handles|handle}."
    ),
    "silent": _("{who} {count?is|are} silent, not yet noticed."),
    "silent.consumers": _("{count} consumers"),
    "left_gone": _("{consumer} had already been removed: nothing else changes."),
    "slow": _("{consumer} handles {rate} {rate?record|records} a second now; records sent to it wait."),
    "fast": _("{consumer} handles {rate} {rate?record|records} a second now."),
    "paced_later": _(
        "{consumer} is paused; when it resumes, it handles {rate} {rate?record|records} a second."
    ),
    "resumed_slow": _("{consumer} works again, still slow at {rate} {rate?record|records} a second."),
    "full_speed": _("{consumer} works at full speed again."),
    "switched": _("The same history under another rule: {algorithm}."),
    "pulsar.join": _(
        "The newcomer {consumer} took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.join_many": _(
        "The {count} newcomers took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.join_first": _("{consumer} is the only consumer and takes every key: {keys_total} so far."),
    "pulsar.join_first_many": _(
        "The {count} newcomers are the only consumers and share every key: {keys_total} so far."
    ),
    "pulsar.rejoin": _(
        "{consumer} is back and took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.sticky_join": _("{from} reconnected first and gave {consumer} the slots {start} to {end}."),
    "pulsar.sticky_conflict": _(
        "{consumer} waits: its ranges belong to a silent connection, which has 5 s to answer the "
        "broker's ping."
    ),
    "pulsar.leave": _(
        "{consumer} left: its {redelivered} unacked {redelivered?record|records} and {keys_moved} "
        "{keys_moved?key|keys} go to "
        "{several?the others|{other}}."
    ),
    "pulsar.leave_nothing": _(
        "{consumer} left with nothing unacked: its {keys_moved} {keys_moved?key goes|keys go} to "
        "{several?the "
        "others|{other}}."
    ),
    "pulsar.leave_last": _(
        "{consumer}, the last one, left: {unacked} unacked {unacked?record|records} and {keys_total?the "
        "one key|all {keys_total} keys} wait."
    ),
    "pulsar.crash_pending": _(
        "{consumer} is silent. Its keys and {unacked} unacked {unacked?record|records} wait until it is "
        "given up, in {left_us}."
    ),
    "pulsar.crash_unknown": _(
        "{consumer} fell silent before it had connected: the broker never knew about it."
    ),
    "pulsar.crash_noticed_nothing": _(
        "The broker gave up on {consumer}, which held nothing: its keys go to {several?the others|{other}}."
    ),
    "pulsar.crash_noticed": _(
        "The broker gave up on {consumer}: its {unacked} unacked {unacked?record goes|records go} to "
        "{several?the "
        "others|{other}}."
    ),
    "pulsar.ghost_noticed": _(
        "{consumer}'s old connection is closed; its {unacked} unacked {unacked?record is|records are} "
        "redelivered."
    ),
    "pulsar.crash_noticed_gap": _(
        "The broker gave up on {consumer}. Its ranges have no owner now: those keys and {unacked} unacked "
        "{unacked?record|records} wait."
    ),
    "pulsar.crash_noticed_last": _(
        "The broker gave up on {consumer}, the last consumer: its {unacked} unacked {unacked?record|records} "
        "and all keys wait."
    ),
    "pulsar.gap": _("{consumer} left. Its ranges have no owner now: those keys wait."),
    "pulsar.paused": _(
        "{consumer} takes no more records: its keys wait, {held} {held?record is|records are} unacked."
    ),
    "lane.pulsar.Exclusive": _("Pulsar Exclusive"),
    "lane.pulsar.Failover": _("Pulsar Failover"),
    "lane.pulsar.Shared": _("Pulsar Shared"),
    "next.exclusive": _("a newcomer is refused: one consumer has the subscription"),
    "next.standby": _("a newcomer stands by until the active consumer is gone"),
    "next.failover": _("when a consumer joins, the modulo reassigns partitions after 1 s"),
    "never.pulsar.partitions": _("Shared: keys and partitions have no owner, so nothing can change hands."),
    "never.pulsar.pause_shared": _("Shared pauses nothing: any consumer with permits takes the next record."),
    "pulsar.refused": _("{consumer} was refused ({error}): another consumer has the subscription."),
    "pulsar.refused_many": _(
        "{count} consumers were refused ({error}): another consumer has the subscription."
    ),
    "pulsar.standby_left": _("{consumer} left; it was not active, so nothing else changes."),
    "pulsar.exclusive.join": _(
        "{consumer} is the only consumer: it reads {partitions?the one partition|all {partitions} "
        "partitions}."
    ),
    "pulsar.exclusive.leave": _(
        "{consumer} left and no consumer takes over: its {redelivered} unacked {redelivered?record "
        "waits|records wait} for the next one."
    ),
    "pulsar.exclusive.crash_pending": _(
        "{consumer} is silent. Everything waits, {unacked} unacked {unacked?record|records} included, until "
        "the broker gives up on it, in {left_us}."
    ),
    "pulsar.exclusive.crash_noticed": _(
        "The broker gave up on {consumer}. The subscription has no consumer: all messages wait."
    ),
    "pulsar.failover.join": _(
        "{consumer} is active on {active} of {partitions} partitions and stands by for the others."
    ),
    "pulsar.failover.join_standby": _(
        "{consumer} stands by: it gets records only when the active consumer is gone."
    ),
    "pulsar.failover.join_many": _(
        "The {count} newcomers took their places by name; the modulo moved partitions to them."
    ),
    "pulsar.failover.leave": _(
        "{consumer} left: after 1 s the next in line take over and get its {redelivered} unacked "
        "{redelivered?record|records} again."
    ),
    "pulsar.failover.leave_last": _(
        "{consumer}, the last consumer, left: its {redelivered} unacked {redelivered?record waits|records "
        "wait}."
    ),
    "pulsar.failover.crash_pending": _(
        "{consumer} is silent. Its partitions and {unacked} unacked {unacked?record|records} wait: standbys "
        "take over when the broker gives up on it, in {left_us}."
    ),
    "pulsar.failover.crash_noticed": _(
        "The broker gave up on {consumer}: after 1 s the next standbys resume from its last acknowledgement."
    ),
    "pulsar.failover.crash_noticed_last": _(
        "The broker gave up on {consumer}, the last consumer: all partitions wait."
    ),
    "pulsar.shared.join": _(
        "Nothing to move: {consumer} takes its turn, up to 20 records in a row. No order within a key."
    ),
    "pulsar.shared.join_many": _(
        "Nothing to move: the {count} newcomers take their turns. No order within a key."
    ),
    "pulsar.shared.leave": _(
        "{consumer} left: its {redelivered} unacked {redelivered?record goes|records go} to {several?the "
        "others|{other}} before "
        "anything new."
    ),
    "pulsar.shared.leave_nothing": _("{consumer} left with nothing unacked: nothing is redelivered."),
    "pulsar.shared.leave_last": _(
        "{consumer}, the last consumer, left: its {redelivered} unacked {redelivered?record waits|records "
        "wait}."
    ),
    "pulsar.exclusive.paused": _PAUSED_ACTIVE,
    "pulsar.failover.paused": _PAUSED_ACTIVE,
    "pulsar.paused_standby": _(
        "{consumer} takes no more records; it is not active, so nothing waits for it."
    ),
    "pulsar.shared.paused": _(
        "{consumer} takes no more records but still gets some while it has permits: it holds {held} unacked."
    ),
    "pulsar.shared.crash_pending": _(
        "{consumer} is silent. Its {unacked} unacked {unacked?record waits|records wait} until the broker "
        "gives up on it, in {left_us}."
    ),
    "pulsar.shared.crash_noticed": _(
        "The broker gave up on {consumer}: its unacked records go to {several?the others|{other}} before "
        "anything new."
    ),
    "pulsar.join_waits": _(
        "{consumer} waits until {unacked} {unacked?record|records} sent before it joined {unacked?is|are} "
        "acknowledged."
    ),
    "pulsar.join_waits_many": _(
        "The {count} newcomers wait until {unacked} {unacked?record|records} sent before they joined "
        "{unacked?is|are} acknowledged."
    ),
    "pulsar.redeliver": _("{consumer} asks the broker to redeliver everything it has not acknowledged."),
    "pulsar.let_go_many": _(
        "Everything sent before the {count} newcomers joined is acknowledged; they now get their keys."
    ),
    "pulsar.let_go": _(
        "Everything sent before {consumer} joined is acknowledged; {consumer} now gets its keys."
    ),
    "pulsar.hold_acks": _("{consumer} no longer acknowledges anything: what it gets stays unacked."),
    "pulsar.release_acks": _("{consumer} acknowledges again, starting with what it held back."),
    "pulsar.seek": _("The subscription moves: the broker closes its consumers, and they subscribe again."),
    "pulsar.priority": _(
        "{consumer} subscribes again with priority level {level}: lower levels get records only when higher "
        "ones cannot take them."
    ),
    "pulsar.ranges": _(
        "{consumer} subscribes again with other ranges; the broker refuses them if they overlap another "
        "consumer's."
    ),
    "pulsar.unsubscribe": _(
        "{consumer} asks to delete the subscription; only its one connected consumer may."
    ),
    "pulsar.unsubscribe_refused": _(
        "The broker refuses to delete the subscription for {consumer} ({error}): another consumer is "
        "connected."
    ),
    "pulsar.unsubscribed": _(
        "The subscription and its cursor are deleted: {waiting} {waiting?record has|records have} no reader. "
        "The next consumer to join creates a new one."
    ),
    "pulsar.lose_receipts": _(
        "The broker's receipts get lost: after {seconds} s the producer reconnects and resends what has no "
        "receipt."
    ),
    "pulsar.sent_again": _(
        "The producer resent {count} {count?record|records}: those that had arrived are now in the topic "
        "twice."
    ),
    "pulsar.sent_again_dropped": _(
        "The producer resent {count} {count?record|records}: the broker drops those it already has "
        "(deduplication)."
    ),
    "pulsar.ack_refused": _(
        "{consumer}'s client refuses the cumulative acknowledgement ({error}): its records stay unacked."
    ),
    "pulsar.idle": _(
        "{count} of {of} consumers {count?is|are} active on none of the {partitions} "
        "{partitions?partition|partitions}: {count?it stands|they stand} by."
    ),
    "picture.turn": _("next turn: {name}"),
    "picture.unsent": _("{ready} not sent yet"),
    "picture.permits": _("waits for permits"),
    "picture.standby": _("2, 3, …: standbys in their order"),
    "twin.active": _("active consumer"),
    "twin.standbys": _("standbys in order"),
    "twin.read_position": _("read position"),
    "twin.mark_delete": _("mark-delete"),
    "twin.backlog": _("backlog"),
    "newcomers": _("{count} newcomers"),
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
        "The rebalance is stuck until {silent}'s old session expires; {paused} of {partitions} "
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
    "tubemq.crash_pending_idle": _IDLE_CRASH,
    "kafka.paused_idle": _IDLE_PAUSE,
    "tubemq.crash_unknown_idle": _IDLE_CRASH,
    "tubemq.paused_idle": _IDLE_PAUSE,
    "kafka.crash_noticed_idle": _("{consumer} timed out; it left nothing to read again."),
    "tubemq.crash_noticed_idle": _("The broker dropped {consumer}; it had no partition."),
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
    "kafka.passed_over": _(
        "{records?One record|{records} records} will not be read: the group's position was reset to an "
        "offset beyond {records?it|them}."
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
        "{consumer} crashed before the master knew about it: {partitions?one partition waits|{partitions} "
        "partitions wait} until it comes back or leaves."
    ),
    "tubemq.crash_noticed": _(
        "The broker dropped {consumer}; its {partitions} {partitions?partition is|partitions are} "
        "unregistered until it returns."
    ),
    "tubemq.ghost_noticed": _(
        "The broker dropped the session of the old {consumer}; its {partitions} {partitions?partition "
        "is|partitions are} free again."
    ),
    "tubemq.refused": _("{consumer} was refused (code {code}): its sourceCount is not the group's."),
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
    "tubemq.paused": _(
        "{consumer} takes no more records: its {partitions} {partitions?partition "
        "waits|partitions wait}, {held} {held?record is|records are} unconfirmed."
    ),
    "tubemq.idle": _(
        "{count} of {of} clients {count?has|have} no partition: none of the {partitions} maps to "
        "{count?its|their} nodeId."
    ),
    "rabbitmq.join": _("Nothing to move: {consumer} simply takes its turn. No order within a key."),
    "rabbitmq.join_former": _(
        "{consumer} takes its turn. Its old connection still holds {former} unacked {former?record|records}: "
        "{left_us} left."
    ),
    "rabbitmq.join_many": _(
        "Nothing to move: the {count} newcomers simply take their turn. No order within a key."
    ),
    "rabbitmq.join_first": _(
        "{consumer} is the only consumer: it takes what waits in the queue, from the head."
    ),
    "rabbitmq.join_first_many": _(
        "The {count} newcomers are the only consumers: they take what waits in the queue, in turn."
    ),
    "rabbitmq.leave": _("{consumer} left: {redelivered} unacked went back to the head of the queue."),
    "rabbitmq.leave_last": _(
        "{consumer}, the last one, left: {redelivered} unacked wait at the head of the queue."
    ),
    "rabbitmq.paused": _("{consumer} takes no more records and holds {held} unacked."),
    "rabbitmq.paused_former": _(
        "{consumer} is paused while holding {held} unacked; its old connection holds {former}: {left_us} "
        "left."
    ),
    "rabbitmq.crash_pending": _(
        "{consumer} is silent. Its {unacked} unacked {unacked?record waits|records wait} for the heartbeat "
        "timeout: {left_us} left."
    ),
    "rabbitmq.crash_noticed": _(
        "{consumer} missed its heartbeats: its {unacked} unacked went back to the head of the queue."
    ),
    "rabbitmq.ghost_noticed": _(
        "{consumer}'s old connection missed its heartbeats: {unacked} unacked went back to the head of "
        "the queue."
    ),
    "rabbitmq.timed_out": _(
        "{consumer} left a record unacknowledged for over {timeout_us}: the broker closed its channel (406), "
        "and {unacked} unacked went back to the queue."
    ),
    "rabbitmq.timed_out_former": _(
        "{consumer}'s old connection left a record unacknowledged for over {timeout_us}: its channel is "
        "closed (406), {unacked} unacked went back."
    ),
    "rabbitmq.crash_noticed_last": _(
        "{consumer}, the last consumer, missed its heartbeats: its {unacked} {unacked?record waits|records "
        "wait} in the queue."
    ),
    "why": _("Why?"),
    "why.title": _("Why? {lane}"),
    "why.sub": _(
        "From your command to its effect, step by step, with the rule that decided each and its inputs."
    ),
    "why.none": _("No events yet."),
    "why.rule": _("rule"),
    "why.you": _("because of your command: {did}"),
    "why.demo": _("because of the demo: {did}"),
    "why.start": _("because the lab began: {did}"),
    "why.your_earlier": _("because of your command {position}"),
    "why.because": _("because of: {what}"),
    "why.left_out": _("{count} {count?turning point|turning points} between, not kept"),
    "why.earlier": _("because of an earlier event"),
    # Route of the current record
    "route": _("Route of the current record"),
    "route.none": _("no record yet"),
    "route.keyless": _("no key"),
    "route.partition": _("partition {unit}"),
    "route.place": _("place {place}"),
    "route.queue": _("queue"),
    "route.turn": _("in turn"),
    "route.free": _("first free"),
    "route.nobody": _("nobody"),
    "route.waits": _("{to}, waits"),
    "route.waiting": _("waits"),
    # Pictures
    "picture.now": _("outer: now"),
    "picture.was": _("inner: was"),
    "picture.bar_was": _("above: was"),
    "picture.bar_now": _("below: now"),
    "picture.points": _("{points} {points?point|points}"),
    "picture.slots": _("{space} slots"),
    "picture.raised": _("raised: moved"),
    "picture.on_ring": _("on the ring"),
    "picture.on_ring_silent": _("with {silent} silent"),
    "picture.on_ring_silent_title": _("{count} on the ring, {silent} of them silent"),
    "picture.unacked": _("{unacked} unacked"),
    "picture.waiting": _("{waiting} to deliver"),
    "picture.lag": _("lag"),
    "picture.hw": _("HW"),
    "picture.offsets": _(
        "Partition {partition}, led by broker {broker}: high watermark (HW) {hw}, log end offset (LEO) "
        "{leo}; its consumer is at {position}, "
        "so the lag is {lag}."
    ),
    "picture.offsets_offline": _(
        "Partition {partition} has no leader: high watermark (HW) {hw}, log end offset (LEO) {leo} where "
        "it was led last; its consumer is at "
        "{position}, so the lag is {lag}."
    ),
    "note.generation": _("generation {generation}"),
    "note.group_epoch": _("group epoch {generation}"),
    "picture.more": _("and {count} more"),
    "picture.source_count": _("sourceCount {count}"),
    "picture.unregistered": _("unregistered"),
    "client.crashed": _("silent"),
    "client.gone": _("gone"),
    "client.refused": _("refused"),
    "picture.node": _("nodeId"),
    "picture.partitions": _("broker:partition"),
    "picture.tick": _("next tick, s"),
    "picture.queue": _("queue {name}"),
    "picture.ready": _("{ready} ready"),
    "picture.head": _("head waits for an ack"),
    "picture.gauges": _("one cell per consumer: what it holds"),
    "picture.empty": _("empty: nothing waits"),
    "picture.none_ready": _("none ready, {unacked} unacked"),
    "picture.former": _("former connection, {left_us}"),
    "picture.ring_label": _("Hash ring: who owns which part, before and after the last change"),
    "picture.ranges_label": _("Hash ranges: who owns which part, before and after the last change"),
    "picture.grid_label": _(
        "Partitions by consumer; the lag of each, on a cluster with its high watermark and log end"
    ),
    "picture.clients_label": _("Clients, the partitions they registered and their next tick"),
    "picture.queue_label": _("The queue, its consumers and the records in flight"),
    "phase.Empty": _("no members"),
    "phase.PreparingRebalance": _("joining"),
    "phase.CompletingRebalance": _("assigning"),
    "phase.Assigning": _("assigning"),
    "phase.Reconciling": _("reconciling"),
    # Consumer rows
    "rows": _("Consumers"),
    "rows.fair": _("fair"),
    "rows.share": _("share"),
    "rows.rate": _("rec/s"),
    "rows.more": _("Show {count} more, {low} to {high} each"),
    "rows.none": _("No consumers. Press “Add consumer”."),
    "state.live": "",
    "state.slow": _("slow"),
    "state.paused": _("paused"),
    "state.crashed": _("silent"),
    "state.waiting": _("waits"),
    "state.failed": _("failed"),
    "state.gone": _("gone"),
    "state.frozen": _("GC pause"),
    "state.stuck": _("stuck"),
    "verb.group_thaw": _("{consumer} goes on after its pause {where}"),
    "verb.group_unstick": _("{consumer} comes back from its record {where}"),
    "verb.leave": _("{consumer} leaves {where}"),
    "verb.crash": _("Crash {consumer} {where}: silent until the system notices"),
    "verb.pause": _("Pause {consumer} {where}"),
    "verb.slow": _("Slow {consumer} down {where}"),
    "verb.resume": _("Resume {consumer} {where}"),
    "verb.full_speed": _("{consumer} back to full speed {where}"),
    "verb.rejoin": _("{consumer} rejoins {where}"),
    "where": _("Where the actions of a row take effect"),
    "where.all": _("in all lanes"),
    "where.one": _("in {lane} only"),
    "where.lane": _("only here"),
    # Table twins
    "twin.consumer": _("consumer"),
    "twin.share": _("hash space"),
    "twin.before": _("before"),
    "twin.slices": _("slices"),
    "twin.permits": _("permits"),
    "twin.partition": _("partition"),
    "twin.owner": _("owner"),
    "twin.assigned": _("assigned"),
    "twin.lag": _("lag"),
    "twin.position": _("position"),
    "twin.records_lag": _("records-lag"),
    "twin.committed_lag": _("lag (committed)"),
    "twin.passed_over": _("never read"),
    "twin.paused": _("{owner}, paused"),
    "twin.committed": _("committed"),
    "twin.end": _("end offset"),
    "twin.hw": _("HW"),
    "twin.leo": _("LEO"),
    "twin.in_flight": _("in flight"),
    "twin.records": _("records"),
    "twin.former": _("{name}, former connection, until {clock}"),
}
