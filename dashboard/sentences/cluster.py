"""Words of the cluster page: brokers, links, copies, what is on the wire, verbs, and the cards after a
fault."""

from django.utils.translation import gettext_lazy as _

CLUSTER = {
    # Head
    "cluster.title": _("Kafka cluster"),
    "cluster.head.healthy": _("All copies are in the ISR."),
    "cluster.head.moving": _(
        "{count?One partition moves|{count} partitions move} to other brokers; all other copies are in the ISR."
    ),
    "cluster.head.under_replicated": _("{count?One partition is|{count} partitions are} under-replicated."),
    "cluster.head.below_min_isr": _(
        "{count?One partition refuses|{count} partitions refuse} writes with acks=all."
    ),
    "cluster.head.offline": _("{count?One partition has|{count} partitions have} no leader."),
    "cluster.head.unnoticed": _(
        "{count?Broker|Brokers} {brokers} {count?does|do} not answer; the controller has not noticed yet."
    ),
    "cluster.sub": _(
        "{up} of {brokers} brokers up, {partitions?one partition|{partitions} partitions}; {truncation}."
    ),
    "cluster.truncation.fetch": _("followers learn from the fetch response where the logs diverge (2.7+)"),
    "cluster.truncation.epoch_request": _(
        "followers ask where the leader epoch ends, and truncate there (0.11 to 2.6)"
    ),
    "cluster.truncation.hw": _("followers truncate to their own high watermark (before 0.11)"),
    "cluster.copy_logs": _("On disk:"),
    "cluster.copy_log": _("{partition} on broker {broker}"),
    # Network
    "cluster.picture": _("Brokers, links and copies of {partition}: arrow keys move, Enter chooses"),
    "cluster.controller": _("Controller"),
    "cluster.broker": _("Broker {broker}"),
    "cluster.broker_label": _("Broker {broker}, {stage}, leads {count?one partition|{count} partitions}"),
    "cluster.consumer": _("Consumer {consumer}"),
    "cluster.client_links": _("Its links are drawn: choose one of them, or draw across it."),
    "cluster.as.leader": _("leader"),
    "cluster.as.follower": _("follower"),
    "cluster.as.copy": _("copy"),
    "cluster.leads_of": _("leads {leads} of {count?one partition|{count} partitions}"),
    "cluster.leads_short": _("leads {count}"),
    "cluster.no_copy": _("no copy of {partition}"),
    "cluster.no_copy_short": _("no copy"),
    "cluster.hears": _("controller hears {brokers}"),
    "cluster.controller_about": _(
        "It elects leaders among the brokers whose heartbeats it hears. Choose it to see and cut its links."
    ),
    "cluster.cut_from": _("Cut from…"),
    "cluster.cut_from_about": _("Lists its links, to cut, slow or heal one of them."),
    "cluster.link_to": _("Link to {node}"),
    # Clients
    "cluster.consumers": _("Consumers"),
    "cluster.read_up_to": _("read up to HW"),
    "cluster.reads": _("{consumer} reads {partition}"),
    "cluster.reads_at": _("{consumer} reads offset {offset} next"),
    "cluster.at": _("at {offset}"),
    "cluster.nobody_reads": _("no consumer reads {partition}"),
    "cluster.nobody_reads_short": _("no reader"),
    "cluster.other_partitions": _("other partitions"),
    "cluster.rate": _("{rate} records/s"),
    "cluster.acks": _("acks"),
    "cluster.acks_label": _("acks={acks}"),
    "cluster.acks_about.0": _("The producer closes and opens again with acks=0: it waits for no answer."),
    "cluster.acks_about.1": _("The producer closes and opens again with acks=1: the leader's log is enough."),
    "cluster.acks_about.all": _(
        "The producer closes and opens again with acks=all: every copy in the ISR must have the record."
    ),
    "cluster.in_flight": _("in flight"),
    "cluster.of": _("{count} of {most}"),
    # What the links say
    "cluster.said.fetch": _("fetch {offset}"),
    "cluster.said.fetch_waits": _("fetch {offset} waits"),
    "cluster.said.no_fetch": _("no fetch"),
    "cluster.said.up_to": _("up to {offset}"),
    "cluster.said.up_to_hw": _("up to {offset}, HW {hw}"),
    "cluster.said.hw": _("nothing, HW {hw}"),
    "cluster.said.acked": _("ok up to {offset}"),
    "cluster.said.no_answers": _("no answers"),
    "cluster.said.unanswered": _("{count?one request waits|{count} requests wait}"),
    "cluster.said.nothing_sent": _("nothing on its way"),
    "cluster.said.more": _("{text} +{count}"),
    "cluster.said.idle": _("link {link}: nothing for {partition}, broker {leader} leads it"),
    "cluster.said.idle_short": _("nothing for {partition}"),
    "cluster.said.no_leader": _("link {link}: nothing, {partition} has no leader"),
    # If a broker died now
    "cluster.died": _("If broker {broker} died now"),
    "cluster.died.lost": _("acknowledged records would be lost:"),
    "cluster.died.only_there": _("{first} to {last} of {partition} exist only there."),
    "cluster.died.only_one_there": _("{first} of {partition} exists only there."),
    "cluster.died.elsewhere": _(
        "{count} more in {partitions?another partition|{partitions} other partitions}."
    ),
    "cluster.died.offline": _("{partition} has no other copy in sync: offline until it comes back."),
    "cluster.died.offline_many": _(
        "{count} partitions have no other copy in sync: offline until it comes back."
    ),
    "cluster.died.nothing": _("Another copy in sync has them all."),
    "cluster.died.is_down": _("It is down already: nothing more is lost with it."),
    "cluster.died.nobody": _("No broker leads this partition."),
    "cluster.died.line": _("If broker {broker} died now: {one} lost with acks=1, {all} with all"),
    "cluster.stage.running": _("running"),
    "cluster.stage.starting": _("registering"),
    "cluster.stage.recovering": _("reading metadata"),
    "cluster.stage.shutting_down": _("shutting down"),
    "cluster.stage.down": _("stopped"),
    "cluster.stage.paused": _("paused"),
    "cluster.stage.crashed": _("crashed"),
    "cluster.stage.fenced": _("fenced"),
    "cluster.stage.disk_lost": _("disk lost"),
    "cluster.stage.disk_slow": _("slow disk"),
    "cluster.stage_about.starting": _("It asks the controller for a broker epoch."),
    "cluster.stage_about.recovering": _(
        "It is registered and catches up with the metadata; then the controller unfences it."
    ),
    "cluster.stage_about.shutting_down": _("It hands its leaderships over before it exits."),
    "cluster.stage_about.down": _("Its process has ended cleanly; its disk stays."),
    "cluster.stage_about.paused": _(
        "Its process is frozen: it receives and sends nothing, and its connections stay open."
    ),
    "cluster.stage_about.crashed": _("Its process is gone; what is on its disk comes back with it."),
    "cluster.stage_about.fenced": _(
        "Its process runs, but it leads nothing and joins no ISR before the controller hears its heartbeats."
    ),
    "cluster.stage_about.disk_lost": _("Its log directory has failed: it has no copies."),
    "cluster.stage_about.disk_slow": _(
        "Each write takes long, so acks come late and its copies may leave the ISR."
    ),
    "cluster.sentence": _("{text}."),
    "cluster.noticed": _("The controller has fenced it."),
    "cluster.unnoticed": _("The controller has not noticed yet."),
    "cluster.link.whole": _("Link between {one} and {other}"),
    "cluster.link.cut": _("Link between {one} and {other}, cut both ways"),
    "cluster.link.cut_one_way": _("Link between {one} and {other}; nothing from {sender} arrives"),
    # The large partition
    "cluster.epoch_short": _("epoch {epoch}"),
    "cluster.epoch_from": _("{epoch} from {start}"),
    "cluster.role.leads": _("leader, epoch {epoch}"),
    "cluster.role.follows": _("follows {leader}"),
    "cluster.role.without_leader": _("has no leader"),
    "cluster.role.not_running": _("not running"),
    "cluster.in_isr": _("in the ISR"),
    "cluster.outside_isr": _("outside the ISR"),
    "cluster.outside_short": _("outside ISR"),
    "cluster.short": _("leader {leader}, epoch {epoch} · ISR {isr} of {replicas} · min ISR {min}"),
    "cluster.short_offline": _("no leader · ISR {isr} of {replicas} · min ISR {min}"),
    "cluster.partition": _("Partition"),
    "cluster.not_yet": _("not yet visible"),
    "cluster.behind": _("behind"),
    "cluster.pending_isr": _("asks for ISR {isr}"),
    "cluster.fetch.truncating": _("truncating"),
    "cluster.fetch.asking_offsets": _("out of range"),
    "cluster.fetch.failed": _("fetcher failed"),
    "cluster.lag": _("{count} behind"),
    "cluster.ahead": _("{count} more than its leader"),
    "cluster.about.healthy": _("Leader {leader} in epoch {epoch}; ISR {isr}: all copies."),
    "cluster.about.hidden": _(
        "{count?One record waits|{count} records wait} for followers: consumers do not see "
        "{count?it|them} yet."
    ),
    "cluster.about.moving": _("Leader {leader} in epoch {epoch}; ISR {isr}."),
    "cluster.move.adds_and_removes": _(
        "It moves: {count?broker|brokers} {adding} must join the ISR, then {old?broker|brokers} "
        "{removing} {old?gives up its|give up their} copy."
    ),
    "cluster.move.adds": _("It moves: {count?broker|brokers} {adding} must join the ISR."),
    "cluster.move.removes": _(
        "It moves: {old?broker|brokers} {removing} {old?gives up its|give up their} copy when all others "
        "are in the ISR."
    ),
    "cluster.about.under_replicated": _(
        "Leader {leader} in epoch {epoch}; ISR {isr}: {count} of {replicas} copies."
    ),
    "cluster.about.spare_copies": _("One more crash leaves {copies?one copy|{copies} copies} in sync."),
    "cluster.about.next_refuses": _("One more crash, and acks=all is refused: min.insync.replicas is {min}."),
    "cluster.about.last_copy": _(
        "It is the only copy in sync: if its broker crashes, the partition is offline."
    ),
    "cluster.about.below_min_isr": _(
        "Leader {leader} in epoch {epoch}; ISR {isr}, but min.insync.replicas is {min}: acks=all is "
        "refused, and the high watermark does not move."
    ),
    "cluster.about.offline": _(
        "No leader: no member of the ISR ({isr}) is alive. Nothing can be written or read."
    ),
    "cluster.starts_at": _("starts at {offset}"),
    "cluster.torn": _("{count} more"),
    "cluster.break_key": _("torn gap: records left out"),
    "cluster.start_key": _("closed foot: start of the log; older records are deleted"),
    "cluster.dot_key": _(
        "dots: requests (open) and responses (filled); at ×0.5 or slower they move at true speed"
    ),
    "cluster.unseen_key": _("hatched: above the copy's high watermark, hidden from consumers"),
    "cluster.late_key": _("flag: high watermark; a follower learns it one fetch later"),
    "cluster.isr_key": _("firm outline: in the ISR; dashed: outside"),
    "cluster.copy_key": _("solid: leader; pale: follower"),
    "cluster.epoch_key": _("bracket at the left: a leader epoch"),
    "cluster.cut_off": _("{count} cut off"),
    # Wire
    "cluster.wire.fetch": _("fetch {offset}, epoch {epoch}"),
    "cluster.wire.fetched": _("{count?one record|{count} records}, HW {hw}"),
    "cluster.wire.fetched_none": _("nothing new, HW {hw}"),
    "cluster.wire.diverging": _("diverges: epoch {epoch} ends at {end}"),
    "cluster.wire.refused": _("refused, code {code}"),
    "cluster.wire.produce": _("{count?one record|{count} records}"),
    "cluster.wire.produce_seq": _("{count?one record|{count} records}, sequence {sequence}"),
    "cluster.wire.produced": _("ack: offset {offset}"),
    "cluster.wire.epochs": _("where does epoch {epoch} end?"),
    "cluster.wire.epoch_ends": _("epoch {epoch} ends at {end}"),
    "cluster.wire.alter_partition": _("ISR {isr}?"),
    "cluster.wire.altered": _("ISR {isr}"),
    "cluster.wire.registration": _("registers"),
    "cluster.wire.registered": _("registered"),
    # Map
    "cluster.map": _("All partitions"),
    "cluster.map_label": _("All partitions: arrow keys move, Enter shows one on the canvas"),
    "cluster.tile_key": _("partition tiles: a bar for each copy, as high as its share of the leader's log"),
    "cluster.tile": _("{partition}: {state}, leader {leader}, {isr} of {replicas} in sync"),
    "cluster.nobody": _("none"),
    "cluster.state.healthy": _("healthy"),
    "cluster.state.under_replicated": _("under-replicated"),
    "cluster.state.below_min_isr": _("below min ISR"),
    "cluster.state.offline": _("offline"),
    # Verbs
    "cluster.verbs": _("Actions"),
    "cluster.choose": _("Choose a broker, a link or a client. Draw across a link to cut or heal it."),
    "cluster.verb.stop": _("Stop"),
    "cluster.verb.crash": _("Crash"),
    "cluster.verb.cut_power": _("Cut power"),
    "cluster.verb.lose_disk": _("Lose disk"),
    "cluster.verb.pause": _("Pause"),
    "cluster.verb.resume": _("Resume"),
    "cluster.verb.come_back": _("Come back"),
    "cluster.verb.slow_disk": _("Slow disk"),
    "cluster.verb.quick_disk": _("Fast disk"),
    "cluster.verb.skew_clock": _("Skew clock"),
    "cluster.verb.set_clock": _("Set clock right"),
    "cluster.verb.cut_link": _("Cut"),
    "cluster.verb.cut_link_from": _("Cut what {sender} sends"),
    "cluster.verb.heal_link": _("Heal"),
    "cluster.verb.slow_link": _("Slow"),
    "cluster.verb.quick_link": _("Fast again"),
    "cluster.verb.pause_writer": _("Pause"),
    "cluster.verb.resume_writer": _("Resume"),
    "cluster.verb_about.stop": _("SIGTERM: it hands its leaderships over, flushes its logs and exits."),
    "cluster.verb_about.crash": _(
        "kill -9: the machine keeps running, so connections break at once and new ones are refused; what "
        "was written stays."
    ),
    "cluster.verb_about.cut_power": _(
        "The machine goes silent: no connection breaks, so clients wait for their time-outs; what was "
        "not flushed is lost."
    ),
    "cluster.verb_about.lose_disk": _("Its log directory fails: the broker halts, and comes back empty."),
    "cluster.verb_about.pause": _("SIGSTOP: it receives and sends nothing; its connections stay open."),
    "cluster.verb_about.resume": _("SIGCONT: it resumes where it left off."),
    "cluster.verb_about.come_back": _("The process starts again on its disk, and registers."),
    "cluster.verb_about.slow_disk": _("Each write takes 200 ms from now on."),
    "cluster.verb_about.quick_disk": _("Writes take no time again."),
    "cluster.verb_about.skew_clock": _("Sets its clock one minute ahead."),
    "cluster.verb_about.set_clock": _("Sets its clock right again."),
    "cluster.verb_about.pause_writer": _(
        "SIGSTOP: its transaction stays open, and it does not notice that time passes."
    ),
    "cluster.verb_about.resume_writer": _(
        "SIGCONT: it continues its transaction, unless it was fenced meanwhile."
    ),
    # An operator
    "cluster.operator_title": _("Operator"),
    "cluster.operator.create_topic": _("New topic"),
    "cluster.operator.add_partitions": _("More partitions"),
    "cluster.operator.reassign": _("Move replicas"),
    "cluster.operator.elect": _("Elect preferred leader"),
    "cluster.operator.elect_unclean": _("Elect unclean"),
    "cluster.operator.start_writer": _("Transactional writer"),
    "cluster.topic_name": _("name of the topic"),
    "cluster.topic_partitions": _("partitions"),
    "cluster.topic_factor": _("replication factor"),
    "cluster.topic_unclean": _("unclean.leader.election.enable"),
    "cluster.topic_settings": _("Retention and cleanup"),
    "cluster.topic_settings_hint": _(
        "Empty: the broker's default, but a segment is closed after 20 s or at 16 KiB if you set neither, and a "
        "compacted topic keeps tombstones for 60 s."
    ),
    "cluster.topic_make": _("Create"),
    "cluster.partitions_of": _("partitions of {topic} in total"),
    "cluster.add_hint": _("Never fewer: a topic only grows. From then on, keys map to other partitions."),
    "cluster.add_make": _("Add"),
    "cluster.reassign_of": _("brokers for {partition}"),
    "cluster.reassign_hint": _(
        "Numbers of brokers, the preferred leader first. The new copies catch up first; then the old ones go."
    ),
    "cluster.reassign_move": _("Move"),
    "cluster.cancel": _("Cancel"),
    # Cards
    "cluster.cards": _("Consequences"),
    "cluster.did.stop": _("{one} was stopped"),
    "cluster.did.crash": _("{one} crashed"),
    "cluster.did.cut_power": _("{one} lost power"),
    "cluster.did.lose_disk": _("{one} lost its disk"),
    "cluster.did.pause": _("{one} was paused"),
    "cluster.did.resume": _("{one} resumed"),
    "cluster.did.come_back": _("{one} came back"),
    "cluster.did.slow_disk": _("Disk of {one} slowed to {amount_us} per write"),
    "cluster.did.quick_disk": _("Disk of {one} fast again"),
    "cluster.did.skew_clock": _("Clock of {one} set {amount_us} ahead"),
    "cluster.did.skew_clock_behind": _("Clock of {one} set {amount_us} behind"),
    "cluster.did.set_clock": _("Clock of {one} set right"),
    "cluster.did.cut_link": _("Link {link} cut"),
    "cluster.did.cut_link_one_way": _("Link {link} cut one way: nothing from {one} arrives"),
    "cluster.did.heal_link": _("Link {link} healed"),
    "cluster.did.slow_link": _("Link {link} slowed to {amount_us}"),
    "cluster.did.quick_link": _("Link {link} fast again"),
    "cluster.verbs_link": _("Link {link}"),
    "cluster.link_name": _("{one}–{other}"),
    "cluster.did.create_topic": _("Topic {one} was created"),
    "cluster.did.reassign": _("{one} moves to brokers {other}"),
    "cluster.did.take_back": _("The move of {one} was taken back"),
    "cluster.did.elect": _("The preferred leader of {one} was elected"),
    "cluster.did.elect_all": _("Preferred leaders were elected"),
    "cluster.did.elect_unclean": _("An unclean leader was elected for {one}"),
    "cluster.did.elect_unclean_all": _("Unclean leaders were elected for leaderless partitions"),
    "cluster.did.start_writer": _("{one} started with transactional.id {other}"),
    "cluster.did.pause_writer": _("{one} was paused"),
    "cluster.did.resume_writer": _("{one} resumed"),
    "cluster.means.nothing": _("No effect so far."),
    "cluster.means.lost.acks_1": _(
        "{count?One acknowledged record is|{count} acknowledged records are} lost:"
        " with acks=1 the leader confirmed {count?it|them} before a follower had {count?it|them}."
    ),
    "cluster.means.lost.unclean_election": _(
        "{count?One acknowledged record is|{count} acknowledged records are} lost:"
        " the new leader comes from outside the ISR and does not have {count?it|them}."
    ),
    "cluster.means.lost.truncated": _(
        "{count?One acknowledged record is|{count} acknowledged records are} lost:"
        " the new leader had cut its log to its high watermark."
    ),
    "cluster.means.lost.destroyed": _(
        "{count?One acknowledged record is|{count} acknowledged records are} lost with the power or the "
        "disk of the"
        " brokers that had {count?it|them}."
    ),
    "cluster.means.duplicated": _(
        "{count?One record is|{count} records are} in the log twice:"
        " the answer was lost, and the producer, not idempotent, sent again."
    ),
    "cluster.means.refused": _(
        "{count?One partition|{count} partitions} refused writes with acks=all: NOT_ENOUGH_REPLICAS."
    ),
    "cluster.means.error": _("The controller refused: {error}."),
    "cluster.means.moved": _("{count?One partition has|{count} partitions have} moved."),
    "cluster.means.fenced": _("A producer was fenced: a newer instance has transactional.id {id}."),
    "cluster.means.without_leader": _(
        "{count?One partition has|{count} partitions have} no leader that answers:"
        " nothing is written or read there, whatever the controller still reports."
    ),
    "cluster.means.unavailable": _(
        "{count?One partition was|{count} partitions were} unavailable, the longest for {longest_us}."
    ),
    "cluster.means.offline": _(
        "{count?One partition is|{count} partitions are} offline: no member of the ISR is alive."
    ),
    "cluster.means.below_min_isr": _(
        "{count?One partition takes|{count} partitions take} no writes with acks=all: too few copies in sync."
    ),
    "cluster.means.under_replicated": _(
        "{count?One partition has|{count} partitions have} fewer copies in sync than they should."
    ),
    "cluster.means.unclean": _(
        "{count?One leader was|{count} leaders were} elected outside the ISR: committed records may be lost."
    ),
    "cluster.means.elections": _("{count?One leadership|{count} leaderships} moved."),
    "cluster.means.cut": _(
        "{count?One record|{count} records} that the new leader does not have {count?was|were} cut off a "
        "copy."
    ),
    "cluster.means.left": _("{count?One copy|{count} copies} left an ISR."),
    "cluster.means.came": _("{count?One copy|{count} copies} joined an ISR."),
    "cluster.was": _("was"),
    "cluster.now": _("now"),
    "cluster.counted": _("{count} {state}"),
    # Time series
    "cluster.series": _("Offsets of {partition}"),
    "cluster.series_sub": _(
        "Log end of each copy, the leader's high watermark, and each follower's lag; sampled each "
        "second, less often with many copies."
    ),
    "cluster.series_wait": _("The chart starts with the next second."),
    "cluster.axis_offset": _("offset"),
    "cluster.axis_lag": _("records behind"),
    "cluster.lag_of": _("lag of {broker}"),
    # Producer
    "cluster.producer": _("Producer"),
    "cluster.producer_waiting": _("waiting"),
    "cluster.producer_words": _(
        "acks={acks}, at most {most} requests in flight; {acked} acked, {failed} failed, {retries?one "
        "retry|{retries} retries}."
    ),
    "cluster.producer_words_id": _(
        "Producer id {id}, epoch {epoch}, acks={acks}, at most {most} requests in flight; {acked} acked, "
        "{failed} failed, "
        "{retries?one retry|{retries} retries}."
    ),
    "cluster.transaction": _("transactional.id {id}, {phase}: {committed} committed, {aborted} aborted."),
    "cluster.phase.uninitialized": _("not initialized"),
    "cluster.phase.initializing": _("asks for its id"),
    "cluster.phase.ready": _("between two transactions"),
    "cluster.phase.in_transaction": _("in a transaction"),
    "cluster.phase.committing_transaction": _("commits"),
    "cluster.phase.aborting_transaction": _("aborts"),
    "cluster.phase.abortable_error": _("must abort"),
    "cluster.phase.fatal_error": _("failed for good"),
    "cluster.acks.all": _("all"),
    "cluster.acks.1": "1",
    "cluster.acks.0": "0",
    "cluster.request_batches": _("{count} batches +{records}"),
    "cluster.batch": _(
        "{count?one record|{count} records} for {partition}, sent {attempts?once more|{attempts} times more}"
    ),
    "cluster.batch_sequence": _(
        "{count?one record|{count} records} for {partition} from sequence {sequence}, sent "
        "{attempts?once more|{attempts} times more}"
    ),
    "cluster.column.to": _("to"),
    "cluster.column.records": _("records"),
    "cluster.column.sequence": _("sequence"),
    "cluster.column.attempts": _("retries"),
    # Tables
    "cluster.column.broker": _("broker"),
    "cluster.column.role": _("role"),
    "cluster.column.isr": _("ISR"),
    "cluster.column.start": _("log start"),
    "cluster.column.hw": _("HW"),
    "cluster.column.leo": _("LEO"),
    "cluster.column.lag": _("behind"),
    "cluster.column.epochs": _("leader epochs"),
    "cluster.column.now": _("now"),
    "cluster.column.partition": _("partition"),
    "cluster.column.state": _("state"),
    "cluster.column.leader": _("leader"),
    "cluster.column.rack": _("rack"),
    "cluster.column.leads": _("leads"),
    "cluster.yes": _("yes"),
    "cluster.no": _("no"),
}
