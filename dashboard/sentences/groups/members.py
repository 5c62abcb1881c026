"""Group page: members, what can be ordered of them, assignors beside one another."""

from django.utils.translation import gettext_lazy as _

MEMBERS = {
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
    "groups.at_key": _("Key of the record"),
    "groups.at_value": _("Value of the record"),
    "groups.verb.group_pause_partition": _("Pause it"),
    "groups.verb.group_resume_partition": _("Resume it"),
    "groups.verb.group_seek": _("Seek to the offset"),
    "groups.verb.group_seek_beginning": _("To the beginning"),
    "groups.verb.group_seek_end": _("To the end"),
    "groups.verb.group_commit": _("Commit the offset"),
    "groups.verb.group_reset_offsets": _("Commit for the group"),
    "groups.verb.cluster_send_record": _("Send a record there"),
    "groups.verb.cluster_send_record_tombstone": _("Send a tombstone there"),
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
    "groups.verb_about.cluster_send_record_tombstone": _(
        "The key without a value: in a compacted topic it removes the key's records before it."
    ),
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
    "groups.others_column": _(
        "The last column is {count} members together. The leader, who has just changed or is silent, and whom you "
        "choose have columns of their own."
    ),
    "groups.more_figures": _(
        "{count?One more column is|{count} more columns are} to the right: scroll sideways. →"
    ),
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
    "groups.compare.beside": _("Two to four of them side by side"),
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
    "groups.keys.member": _("Choose the first member; 2 to 9 the others"),
    "groups.keys.coordinator": _("Choose the coordinator"),
}
