"""What the TubeMQ page says: its head, what each client would take and has, masters and brokers, calls; causes
stand in `balance_unread.py`."""

from django.utils.translation import gettext_lazy as _

from dashboard.sentences.balance_unread import UNREAD

_NEVER = _("not called yet")

BALANCE = {
    # Head
    "balance.title": _("TubeMQ clients"),
    "balance.head.no_master": _("No master is active."),
    "balance.head.nobody": _("No client runs: {count?one partition waits|all {count} partitions wait}."),
    "balance.head.offline": _(
        "{many?Broker|Brokers} {brokers} {many?is|are} offline: "
        "{many?its|their} {count?partition is|{count} partitions are} not read."
    ),
    "balance.head.refused": _("{consumer} is refused with {code}."),
    "balance.head.refused_many": _("{count} clients are refused, {consumer} with {code}."),
    "balance.head.fight": _("{owner} and {rival} both want {key}."),
    "balance.head.fight_many": _(
        "{count} partitions are wanted by more than one client, {key} by {owner} and {rival}."
    ),
    "balance.head.wanted": _("More than one client wants {key}, and none has it."),
    "balance.head.wanted_many": _(
        "{count} partitions are wanted by more than one client, and none has {key}."
    ),
    "balance.head.unread": _("{count} of {of} partitions {count?is|are} not read."),
    "balance.head.well": _(
        "{clients?One client reads|{clients} clients read} {count?the partition|all {count} partitions}."
    ),
    "balance.sub.no_master": _(
        "What is held is read all the same: brokers ask no master. Nobody new can join, and no map is renewed."
    ),
    "balance.sub.well": _(
        "Each works out its own share from the same map; a broker takes one owner for each partition."
    ),
    "balance.sub.dealt": _(
        "One program shares them out for all, and each client registers its own; a broker takes one owner for each."
    ),
    "balance.sub.hand": _(
        "A list by hand overrules the rule for its client; a broker takes one owner for each."
    ),
    "balance.sub.served": _("The master gives them out, and hears from each client what it holds."),
    "balance.sub.nobody": _("The brokers keep the records and how far the group has confirmed."),
    "balance.offline.kept": _(
        "Their owners keep them by the rule, and no other client may take them: nothing moves."
    ),
    "balance.offline.moved": _(
        "A deal leaves them out and levels the rest, so others’ partitions move: once the clients learn of it, and "
        "again at its return."
    ),
    "balance.offline.served": _(
        "The master takes them from their clients with its next cycle, and gives them out again at its return."
    ),
    "balance.sub.others": _("{count?One other partition is|{count} other partitions are} not read, either."),
    "balance.sub.refused": _("The master says why: {why}."),
    "balance.sub.refused_start": _(
        "Its own start() refuses the arguments, and no master hears of it: {why}."
    ),
    "balance.sub.fight": _(
        "A broker has one owner for each partition, and refuses the other client with 410."
    ),
    # The rules
    "balance.each": _("Each client for itself"),
    "balance.each_served": _("What the master gives each client"),
    "balance.rules": _("Rule of the group"),
    "balance.rules_about": _(
        "Another rule runs this lane’s history again from the start, with its last 20,000 records: offsets, lag and "
        "redeliveries are then those of that course."
    ),
    "balance.rule.modulo": _("hash(key) mod {count} = node id"),
    "balance.rule.off": _("the count is off: modulo gives nobody anything"),
    "balance.rule.sticky": _("keep what one had, then share the rest"),
    "balance.rule.by_lag": _("most waiting first, to whoever has least"),
    "balance.rule.own": _("a rule of your own"),
    "balance.rule.own_failed": _("your rule failed: previous shares kept"),
    "balance.rule.hand": _("partitions chosen by hand"),
    "balance.rule.server": _("once a cycle, by the master"),
    "balance.rule.article": _("the master: hash(key) mod number of clients"),
    # Columns
    "balance.who": _("client, node id"),
    "balance.pass": _("next pass, map"),
    "balance.column.takes": _("would take"),
    "balance.column.has": _("has"),
    "balance.column.releases": _("releases"),
    "balance.column.registers": _("registers"),
    "balance.formula.takes": _("A, by the rule"),
    "balance.formula.has": _("H, registered"),
    "balance.given.takes": _("given"),
    "balance.given.has": _("has"),
    "balance.given.releases": _("is to release"),
    "balance.given.registers": _("is to register"),
    "balance.how": _("Legend"),
    "balance.legend": _(
        "A: by the rule. H: registered. S: may be subscribed by the client’s own map. Hatched: in A and not in S. "
        "Thick outline: registered with the last pass. +2: two more."
    ),
    "balance.left": _("in {left_us}"),
    "balance.by_list": _("list"),
    "balance.own_count": _("mod {count}"),
    "balance.own_count_off": _("no count"),
    "balance.left_brief": _("{left_us}"),
    "balance.map_age": _("map {age_us} old"),
    "balance.map_brief": _("map {age_us}"),
    "balance.title.takes": _("{key}: the rule gives it to {consumer}"),
    "balance.title.own_count": _("{key}: {consumer} would take it by its own source count, {count}"),
    "balance.title.has": _("{key}: {consumer} has registered it"),
    "balance.title.releases": _("{key}: {consumer} releases it with its next pass"),
    "balance.title.registers": _("{key}: {consumer} registers it with its next pass"),
    "balance.state.booting": _("starts"),
    "balance.state.starting": _("registers"),
    "balance.state.started": _("runs"),
    "balance.state.refused": _("refused: {code}"),
    "balance.state.stopping": _("stops"),
    "balance.state.stopped": _("has stopped"),
    "balance.state.crashed": _("crashed"),
    "balance.state.gone": _("has left"),
    "balance.folded": _("{count} more {count?client|clients}: {busy} {busy?has|have} something to do."),
    "balance.folded_quiet": _("{count} more {count?client has|clients have} nothing to do."),
    "balance.more_chips": _("and {keys}"),
    "balance.label.difference": _(
        "What each of {clients} {clients?client|clients} would take, has, releases and registers"
    ),
    "balance.label.brokers": _("Masters and {brokers} {brokers?broker|brokers} with their partitions"),
    "balance.label.first": _("Time from the start of each client to its first record"),
    # Masters and brokers
    "balance.servers": _("Masters and brokers"),
    "balance.lag_about": _("records that wait at the right"),
    "balance.master": _("Master"),
    "balance.subscribable": _("S now {count}/{of}"),
    "balance.master_active": _("{name}: {clients} {clients?client|clients}"),
    "balance.master_standby": _("{name}: standby"),
    "balance.master_down": _("{name}: down"),
    "balance.cycle": _("new map in {left_us}"),
    "balance.broker": _("Broker {id}"),
    "balance.broker_state.online": _("subscribable"),
    "balance.broker_state.offline": _("offline"),
    "balance.broker_state.closed": _("takes no subscription"),
    "balance.broker_state.black_listed": _("blacklisted"),
    "balance.waits_for": _("waits for {consumer}"),
    "balance.nobody": _("nobody’s"),
    "balance.soon": _("{consumer}, in {left_us}"),
    "balance.fought": _("{owner}; {rival} gets 410"),
    "balance.rivalled": _("{owner}; {rival} wants it"),
    "balance.owner_but": _("{owner}: {why}"),
    "balance.more_partitions": _("{count} more {count?partition|partitions}"),
    "balance.partition_title": _("{key}: {owner}, {lag} behind, offset {offset} of {end}"),
    "balance.query_about": _(
        "admin_query_consume_group_detail: the master keeps no assignment of its own, so this is as old as the reports "
        "of the clients, 13 s apart."
    ),
    # Beside the pictures
    "balance.more": _("More of this group"),
    "balance.tab.orders": _("Orders"),
    "balance.tab.first": _("Time to the first record"),
    "balance.tab.own": _("A rule of your own"),
    "balance.tab.query": _("Operator’s query"),
    # Time to the first record
    "balance.first_about": _(
        "From start(): a client that shares out for itself needs four requests and no timer; one that its master serves "
        "waits for a cycle and up to three heartbeats."
    ),
    "balance.waiting": _("{left_us}, none yet"),
    "balance.bound": _("server-side"),
    "balance.at_most": _("up to {left_us}; {most_us} if an event is stuck"),
    "balance.wait.cycle": _("cycle"),
    "balance.wait.loser": _("loser"),
    "balance.wait.report": _("report"),
    "balance.wait.gainer": _("gainer"),
    "balance.wait.reads": _("requests"),
    "balance.wait.boot": _("its process starts"),
    "balance.wait.refused": _("refused"),
    "balance.wait.nothing": _("nothing given"),
    "balance.wait_part": _("{what} {part_us}"),
    "balance.wait_apart": _("apart: {what} {part_us}"),
    # Calls
    "balance.calls": _("17 calls"),
    "balance.last_of": _("last answers of"),
    "balance.call.call": _("Call"),
    "balance.call.hint": _("Press a call to make it."),
    "balance.call.never": _NEVER,
    "balance.call.void": _("returned"),
    "balance.answer.label": _("The answer to your call"),
    "balance.answer.none": _("You have not called it yet."),
    "balance.answer.waits": _("Your call waits for its answer."),
    "balance.answer.about": _("your call at {consumer}, ({argument}), at {at}"),
    "balance.answer.map": _("{count}, {open} subscribable"),
    "balance.answer.batch": _("{key}, {count} {count?record|records}"),
    "balance.answer.offset": _("offset {offset}"),
    "balance.answer.offsets": _("offset {offset} of {end}"),
    "balance.answer.context": _("confirm context {context}"),
    "balance.answer.no_key": _("no key"),
    "balance.answer.more": _("and {count} more"),
    "balance.answer.info": _("{key}: offset {offset} of {end}, updated at {at}"),
    "balance.answer.open": _("{key} subscribable"),
    "balance.answer.closed": _("{key} not subscribable"),
    "balance.check.no_topics": _("no topic is given"),
    "balance.check.topic_blank": _("a topic is blank"),
    "balance.check.topic_long": _("a topic is longer than 64 characters"),
    "balance.check.filters_many": _("a topic has more than 500 filters"),
    "balance.check.filter_blank": _("a filter is blank"),
    "balance.check.filter_long": _("a filter is longer than 256 characters"),
    "balance.check.node_outside": _("the node id is not below the source count"),
    "balance.check.running": _("it is running: shutdown first"),
    "balance.check.key_blank": _("the partition key is blank"),
    "balance.check.context_blank": _("the confirm context is blank"),
    "balance.check.context_not_four": _("the confirm context has not four parts"),
    "balance.check.context_part_blank": _("a part of the confirm context is blank"),
    "balance.check.context_old": _("this batch is not the one that is out"),
    "balance.field.master": _("master"),
    "balance.field.partition": _("partition"),
    "balance.field.offset": _("offset"),
    "balance.field.context": _("confirm context"),
    "balance.field.is_consumed": _("consumed"),
    "balance.field.wait_ms": _("wait in ms"),
    "balance.field.source_count": _("source count"),
    "balance.field.node_id": _("node id"),
    "balance.field.topic": _("topic"),
    "balance.field.topics": _("topics"),
    "balance.field.filters": _("filters, with commas"),
    "balance.field.partitions": _("partitions"),
    "balance.field.bootstrap": _("bootstrap offsets in bytes"),
    "balance.field.consumed": _("consumed"),
    "balance.field.broker": _("broker"),
    "balance.field.accepts": _("takes subscriptions"),
    "balance.field.listed": _("blacklisted"),
    "balance.field.count": _("partitions on it, in all"),
    "balance.any": _("any"),
    "balance.not_offsets": _("must be lines of partition=offset"),
    "balance.not_number": _("must be a whole number"),
    "balance.yes": _("yes"),
    "balance.no": _("no"),
    "balance.code.400": _("an argument that is not taken"),
    "balance.code.401": _("not the owner of this partition"),
    "balance.code.402": _("no answer"),
    "balance.code.403": _("not on this broker"),
    "balance.code.404": _("not found, or nothing new"),
    "balance.code.405": _("all partitions are frozen"),
    "balance.code.406": _("no partition is registered"),
    "balance.code.407": _("all partitions rest"),
    "balance.code.408": _("all partitions are in use"),
    "balance.code.410": _("another client has registered it"),
    "balance.code.411": _("not registered here"),
    "balance.code.412": _("registered by another client"),
    "balance.code.415": _("certificate refused"),
    "balance.code.420": _("the client is not started"),
    "balance.code.421": _("refused less than 5 s ago, so not asked again yet"),
    "balance.code.422": _("not subscribable in this client’s map"),
    "balance.code.424": _("the group balances in another way"),
    "balance.code.425": _("the group reads other topics"),
    "balance.code.426": _("the group has other filters"),
    "balance.code.427": _("the group has another session key"),
    "balance.code.428": _("the group selects offsets the other way"),
    "balance.code.429": _("the group has another source count"),
    "balance.code.430": _("this node id is another client’s"),
    "balance.code.431": _("no broker has this topic"),
    "balance.code.450": _("the group may not read this topic"),
    "balance.code.452": _("read too fast, by the flow rules"),
    "balance.code.500": _("an exception at the server"),
    "balance.code.503": _("the service is not available"),
    "balance.code.599": _("an exception on the way"),
    "balance.served": _("These clients have none of the 17 calls: the master gives their partitions out."),
    # Orders
    "balance.of_cluster": _("Of brokers and masters"),
    "balance.form.restart": _("Restart with …"),
    "balance.form.assign": _("Partitions by hand"),
    "balance.form.by_rule": _("By the rule again"),
    "balance.form.hold": _("Hold a batch"),
    "balance.form.confirm": _("Confirm what is held"),
    "balance.form.offline": _("Broker offline"),
    "balance.form.online": _("Broker back"),
    "balance.form.accept": _("Subscriptions"),
    "balance.form.black_list": _("Blacklist"),
    "balance.form.expand": _("More partitions"),
    "balance.form.failover": _("Master fails over"),
    "balance.form.master_offline": _("Master offline"),
    "balance.form.master_online": _("Master back"),
    "balance.form.from_max": _("Consume from the end"),
    "balance.form_about.restart": _("Its process starts again with another source count or node id"),
    "balance.form_about.assign": _("It takes the partitions of a list, from given offsets"),
    "balance.form_about.by_rule": _("It takes what the rule gives it"),
    "balance.form_about.hold": _("Its next batch is handled and not confirmed"),
    "balance.form_about.confirm": _("The batches that it holds back are confirmed, or come again"),
    "balance.form_about.offline": _("A broker’s process dies; its partitions stay configured"),
    "balance.form_about.online": _("It starts with its disk and its offsets"),
    "balance.form_about.accept": _("Whether a broker takes subscriptions of the topic"),
    "balance.form_about.black_list": _("Whether the group may subscribe the topic"),
    "balance.form_about.expand": _("The topic has more partitions on a broker"),
    "balance.form_about.failover": _("The standby takes over: it knows the configuration and no client"),
    "balance.form_about.master_offline": _(
        "A master’s process dies; if it was the active one a standby is elected after 5 s"
    ),
    "balance.form_about.master_online": _("It starts as a standby; alone it is elected after 5 s"),
    "balance.form_about.from_max": _(
        "With its next heartbeat each client registers its partitions again, at the end that it last heard of"
    ),
    "balance.own.none": _("The group follows the lane’s rule."),
    "balance.own.off": _(
        "Rules of your own are off: the kernel of this server has no filter for system calls (seccomp)."
    ),
    "balance.own.runs": _("The group follows your rule."),
    "balance.own.failed": _("Your rule failed in line {line}: {reason}. Previous shares kept."),
    "balance.own.failed_whole": _("Your rule failed: {reason}. Previous shares kept."),
    "balance.own.run": _("Use this rule"),
    "balance.own.back": _("The lane’s rule again"),
    # Causes
    "balance.why": _("Why is it not read?"),
    **UNREAD,
    # Tables
    "balance.twin.consumer": _("client"),
    "balance.twin.node": _("node id/source count"),
    "balance.twin.state": _("state"),
    "balance.twin.map": _("its map"),
    "balance.twin.takes": _("would take"),
    "balance.twin.has": _("has"),
    "balance.twin.releases": _("releases"),
    "balance.twin.registers": _("registers"),
    "balance.twin.pass": _("next pass"),
    "balance.twin.key": _("partition"),
    "balance.twin.broker": _("its broker"),
    "balance.twin.subscribable": _("subscribable"),
    "balance.twin.shown": _("in the map"),
    "balance.twin.takers": _("given to"),
    "balance.twin.owner": _("owner"),
    "balance.twin.offset": _("offset, bytes"),
    "balance.twin.end": _("end, bytes"),
    "balance.twin.reported": _("as it last reported"),
    "balance.twin.lag": _("records behind"),
    "balance.twin.why": _("not read because"),
    # Verbs
    "balance.verbs": _("What can be done to it"),
    "balance.choose": _("Choose a client."),
    "balance.chosen": _("Of {consumer}"),
    "balance.verb.join": _("join"),
    "balance.verb.pause": _("pause"),
    "balance.verb.resume": _("resume"),
    "balance.verb.slow": _("slow"),
    "balance.verb.full_speed": _("full speed"),
    "balance.verb.crash": _("crash"),
    "balance.verb.rejoin": _("rejoin"),
    "balance.verb.leave": _("leave"),
    "balance.verb_about.join": _("A client more; the group starts again with the new source count"),
    "balance.verb_about.pause": _("It takes no more records, and keeps its partitions"),
    "balance.verb_about.resume": _("It takes records again"),
    "balance.verb_about.slow": _("It works at a tenth of its speed"),
    "balance.verb_about.full_speed": _("It works at its own speed again"),
    "balance.verb_about.crash": _("Its process dies without a word; nobody replaces it"),
    "balance.verb_about.rejoin": _("A process with its node id starts again"),
    "balance.verb_about.leave": _("It releases all and leaves; the group starts again without it"),
    "balance.keys.previous": _("Previous client"),
    "balance.keys.next": _("Next client"),
}
