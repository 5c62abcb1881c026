"""Words of the panel "Why?": what a thing is (`why.is`), how its numbers are made up (`why.sum`, its entries
`why.part`), what it is called (`why.thing`). The codes: `broker_core/lab/why/`.
"""

from django.utils.translation import gettext_lazy as _

WHY = {
    "why.is.lane": _("The lane’s last change."),
    "why.is.consumer.live": _("{consumer} is live."),
    "why.is.consumer.slow": _("{consumer} is slow."),
    "why.is.consumer.paused": _("{consumer} is paused."),
    "why.is.consumer.crashed": _("{consumer} is silent, and its broker has not noticed yet."),
    "why.is.consumer.waiting": _("{consumer} has joined and is not served yet."),
    "why.is.consumer.failed": _("{consumer}’s program has ended with an exception."),
    "why.is.consumer.gone": _("{consumer} is gone."),
    "why.is.consumer.frozen": _("{consumer} is frozen, as in a long GC pause."),
    "why.is.consumer.stuck": _("{consumer} is stuck in a record."),
    "why.is.record.held": _("Record {record}, key {key}: {consumer} has it and has not acknowledged it."),
    "why.is.record.of": _("Record {record}, key {key}: its place is {consumer}’s now."),
    "why.is.record.queued": _(
        "Record {record}, key {key}: no consumer holds it now; it waits, or it is done."
    ),
    "why.is.figure.none": _("The lane has had no change yet."),
    "why.is.figure.moved": _("What changed its owner by the last change."),
    "why.is.figure.paused": _("The longest time that a partition had no reader because of the last change."),
    "why.is.figure.redelivered": _("Records given out a second time since the last change began."),
    "why.is.figure.out_of_order": _(
        "Records finished after a later one of their key, since the last change began."
    ),
    "why.is.figure.skew": _("How far the largest share is above the mean."),
    "why.is.figure.waiting.none": _("No record waits."),
    "why.is.figure.waiting.unread": _(
        "{lag} {lag?record waits|records wait}: {count} {count?partition has|partitions have} no reader."
    ),
    "why.is.figure.waiting.silent": _(
        "{lag} {lag?record waits|records wait}, {records} of them for {count} "
        "{count?consumer that does|consumers that do} nothing now."
    ),
    "why.is.figure.waiting.nobody": _("{lag} {lag?record waits|records wait}: no consumer is at work."),
    "why.is.figure.waiting.overload": _(
        "{lag} {lag?record waits|records wait}: more come in than the consumers at work can finish."
    ),
    "why.is.figure.waiting.flow": _(
        "{lag} {lag?record waits|records wait}; the consumers at work can finish as many as come in."
    ),
    "why.is.total.moved": _("How often a key got another consumer since the lab began."),
    "why.is.total.paused": _(
        "How long a part of the keys had no consumer that reads it since the lab began: the mean over all parts."
    ),
    "why.is.total.redelivered": _("Records given out a second time since the lab began."),
    "why.is.total.out_of_order": _("Records finished after a later one of their key since the lab began."),
    "why.is.total.lost": _("Records that no consumer will get any more."),
    "why.is.partition.read": _("Partition {partition} is read by {consumer}."),
    "why.is.partition.paused": _("Partition {partition} is {consumer}’s, and is not read now."),
    "why.is.partition.none": _("No consumer has partition {partition}."),
    "why.is.partition.active": _("{consumer} is the active consumer of partition {partition}."),
    "why.is.partition.registered": _("{consumer} is registered for partition {partition} at its broker."),
    "why.is.partition.unregistered": _("No client is registered for partition {partition}."),
    "why.is.partition.held": _(
        "By the rule partition {partition} is {assigned}’s; {consumer} is still registered for it."
    ),
    "why.is.replicas": _("{partition}: broker {leader} leads in leader epoch {epoch}; the ISR is {isr}."),
    "why.is.replicas.none": _("{partition} has no leader; the ISR is {isr}."),
    "why.is.replica.leader": _("Broker {broker} leads {partition}: LEO {end}, HW {mark}."),
    "why.is.replica.in_sync": _(
        "Broker {broker} follows broker {leader} in {partition} and is in sync: LEO {end}, HW {mark}."
    ),
    "why.is.replica.out": _("Broker {broker} is not in the ISR of {partition}: LEO {end}, HW {mark}."),
    "why.is.broker": _("Broker {broker} leads {leads} {leads?partition|partitions}."),
    "why.is.broker.fenced": _("Broker {broker} is fenced: it may neither lead nor be in sync."),
    "why.is.group": _("Group {group} is {state}, in generation {generation}."),
    "why.is.slot": _("Slot {slot} is in {consumer}’s range from {start} to {end}."),
    "why.is.slot.moved": _(
        "Slot {slot} is in {consumer}’s range from {start} to {end}; before the last change it was {was}’s."
    ),
    "why.is.slot.none": _("Slot {slot} is in the range from {start} to {end}, which no consumer has."),
    "why.is.cursor": _(
        "The cursor’s mark-delete position is {mark_delete}, its read position {read} of {end}."
    ),
    "why.is.queue": _(
        "Queue {queue}: {ready} ready, {unacked} unacked, {consumers} {consumers?consumer|consumers}."
    ),
    "why.is.exchange": _("Exchange {exchange} of type {type}, with {bindings} {bindings?binding|bindings}."),
    "why.sum.share": _(
        "share {share} = {records} of {total} records so far, those whose key or partition it has"
    ),
    "why.sum.share_done": _("share {share} = {records} of the {total} records finished in the last 10 s"),
    "why.sum.partitions": _("it has {count} of {total} partitions"),
    "why.sum.unacked": _("delivered to it and not acknowledged: {unacked} {unacked?record|records}"),
    "why.sum.hash": _("its key’s hash is {hash}, in a range of {consumer}"),
    "why.sum.hash_partition": _(
        "hash of its key {hash} mod {count} partitions = {place}, which is partition {unit}"
    ),
    "why.sum.hash_of": _("hash of its key {hash}, which is partition {unit} by the lane’s rule"),
    "why.sum.moved_none": _("No key has an owner here, so none can move."),
    "why.sum.moved_keys": _("{moved} of {total} keys have another owner than before the change"),
    "why.sum.moved_units": _("{moved} of {total} partitions have another owner than before the change"),
    "why.sum.moved_space": _("{share} of the hash space has another owner than before the change"),
    "why.sum.paused": _("{pause_us} = from {from} to {until}"),
    "why.sum.paused_still": _("{pause_us} since {from}, and it goes on"),
    "why.sum.paused_none": _("Every partition has had a reader."),
    "why.sum.stopped": _("{count} {count?partition has|partitions have} no reader now"),
    "why.sum.redelivered": _("{count} = {total} since the lab began − {before} before the change"),
    "why.sum.out_of_order": _("{count} = {total} since the lab began − {before} before the change"),
    "why.sum.total": _("{total} since the lab began = {before} before the last change + {last} from it on"),
    "why.sum.total_unchanged": _("{total} since the lab began; no change has been made yet"),
    "why.sum.total_paused": _("{mean_us} = {unit_us}, the sum over all parts ÷ {units} {units?part|parts}"),
    "why.sum.dark_now": _("{dark} of {units} {units?part has|parts have} no reader since {from}"),
    "why.sum.lost": _("{count} until now"),
    "why.sum.lost_uncounted": _("This system’s model counts none."),
    "why.sum.skew": _("skew {skew} = {most} records of {consumer} ÷ the mean, {total} ÷ {count} consumers"),
    "why.sum.skew_none": _("There is nothing to share yet."),
    "why.sum.waiting": _(
        "{lag} = {owned} for one consumer alone + {rest} on their way, in a queue for all, or without a reader"
    ),
    "why.sum.waiting_silent": _(
        "{records} {records?waits|wait} for {count} {count?consumer that does|consumers that do} nothing now"
    ),
    "why.sum.waiting_rates": _(
        "{rate}/s come in; {count} {count?consumer|consumers} at work can finish {capacity}/s"
    ),
    "why.sum.lag_position": _("lag {lag} = log end offset {end} − position {position}"),
    "why.sum.lag_committed": _(
        "lag of the group {lag} = high watermark {high_watermark} − committed offset {committed}"
    ),
    "why.sum.lag_confirmed": _("lag {lag} = {end} records in the partition − {confirmed} confirmed"),
    "why.sum.lag_cursor": _(
        "backlog {lag} = {end} entries − {committed} up to the mark-delete position − {acked} acknowledged beyond it"
    ),
    "why.sum.high_watermark": _(
        "high watermark {high_watermark} = the smallest end offset that the leader knows of its ISR"
    ),
    "why.sum.high_watermark_waits": _(
        "high watermark {high_watermark}: the smallest end offset that the leader knows of its ISR is {least}"
    ),
    "why.sum.replica_behind": _("behind by {behind} = the leader’s LEO {leader_end} − its own {end}"),
    "why.sum.follower_mark": _(
        "its HW {mark} came with an answer to a fetch; the leader’s is {leader_mark} now"
    ),
    "why.sum.slice": _("{size} of {space} slots"),
    "why.sum.backlog": _(
        "backlog {backlog} = {end} entries − {first} up to the mark-delete position − {ahead} acknowledged beyond it"
    ),
    "why.sum.queue": _("{published} routed in = {ready} ready + {unacked} unacked + {acked} acknowledged"),
    "why.sum.unacked_by": _("unacked {unacked}, by consumer"),
    "why.sum.exchange": _(
        "{published} published, {unroutable} without a binding that matched, {dropped} dropped"
    ),
    "why.sum.buckets": _("{buckets} {buckets?bucket|buckets}, by destination"),
    "why.part.name": "{name}",
    "why.part.moved_unit": _("{name}: {from} → {to}"),
    "why.part.moved_keys": _("{from} → {to}: {keys} {keys?key|keys}"),
    "why.part.stopped": _("{name} since {since}"),
    "why.part.records": _("{consumer}: {records}"),
    "why.part.end": _("broker {broker}: {end}"),
    "why.part.buckets": _("{destination}: {buckets}"),
    "why.part.unacked": _("{consumer}: {unacked}"),
    "why.button": _("Why is it so? About what is chosen, else the last change"),
    "why.since": _("So since {clock}, because of this:"),
    "why.since_last": _("The last change, at {clock}:"),
    "why.since_unknown": _("Nothing has changed it since the lab began."),
    "why.at": _("as of {clock}"),
    "why.about": _("about"),
    "why.working": _("Looking it up …"),
    "why.figure.waiting": _("waiting now"),
    "why.total.paused": _("without a reader"),
    "why.total.lost": _("lost"),
    "why.thing.total": _("{id}, since the lab began"),
    "why.thing.lane": _("the last change"),
    "why.thing.consumer": _("consumer {id}"),
    "why.thing.partition": _("partition {id}"),
    "why.thing.replicas": _("replicas of {id}"),
    "why.thing.replica": _("replica {id}"),
    "why.thing.broker": _("broker {id}"),
    "why.thing.group": _("group {id}"),
    "why.thing.slot": _("slot {id}"),
    "why.thing.cursor": _("cursor"),
    "why.thing.queue": _("queue {id}"),
    "why.thing.exchange": _("exchange {id}"),
    "why.thing.record": _("record {id}"),
}
