"""Words of the log page: a partition's folder, the look-up, a batch's bytes, compaction, opening a file."""

from django.utils.translation import gettext_lazy as _

LOG = {
    # Head
    "log.sub": _("{segments?One segment|{segments} segments}, {size}, offsets {from} to {to}."),
    "log.sub_waiting": _(
        "{segments?One segment|{segments} segments}, {size}, offsets {from} to {to}; {deleted?one more "
        "waits|{deleted} more "
        "wait} for deletion."
    ),
    "log.sub_empty": _("No record has arrived here yet."),
    "log.sub_preparing": _(
        "The worker is writing this broker's records as segments and indexes; the first ones show in a moment."
    ),
    "log.page": _("Log of {folder}"),
    "log.topic": _("Topic"),
    "log.partition": _("Partition"),
    "log.of": _("Log of"),
    "log.not_here": _("Not here: {what}. The page shows {folder}."),
    "log.broker": _("broker {broker}"),
    "log.broker.crashed": _("broker {broker} (crashed)"),
    "log.broker.stopped": _("broker {broker} (stopped)"),
    "log.broker.paused": _("broker {broker} (paused)"),
    "log.broker.disk_lost": _("broker {broker} (disk lost)"),
    "log.partition_end": _("{partition} (LEO {end})"),
    "log.replica.leads": _("Broker {broker} leads this partition."),
    "log.replica.follows": _("Broker {broker} follows broker {leader}."),
    "log.replica.without_leader": _("Broker {broker} has a replica, but the partition has no leader."),
    "log.replica.crashed": _(
        "Broker {broker} has crashed: this is what is on its disk; the HW is that of its last checkpoint."
    ),
    "log.replica.stopped": _(
        "Broker {broker} was shut down cleanly: this is what is on its disk; the HW is that of its last "
        "checkpoint."
    ),
    "log.replica.paused": _("Its process is paused: nothing is written."),
    "log.replica.disk_lost": _("The disk of broker {broker} is lost: there is nothing left of this replica."),
    "log.replica.behind": _("It lacks {count?one record|{count} records} that its leader has."),
    "log.replica.ahead": _(
        "It has {count?one record|{count} records} more than its leader: its next fetch cuts them off."
    ),
    "log.replica.marks": _("Log start {start}, HW {hw}, LEO {leo}."),
    "log.replica.gaps": _("{count?One offset was|{count} offsets were} compacted away."),
    "log.truncated.follower": _(
        "Truncated to offset {base_offset}: {records?one record was|{records} records were} cut off."
    ),
    "log.truncated.lost": _("The disk was lost, and the whole log with it."),
    "log.texts": _("Checkpoint files, as they are on the disk"),
    "log.text_empty": _("(empty)"),
    "log.to_cluster": _("Cluster"),
    "log.open": _("Open a segment file"),
    "log.settings": _("Log settings"),
    "log.article": _("The article's walk"),
    # Settings
    "log.index_interval_bytes": _(
        "About one index entry per this many bytes of log. Fewer bytes: a denser index, a shorter scan."
    ),
    "log.retention_bytes_about": _(
        "Old segments are deleted while the log without them is still this large. −1: no limit."
    ),
    "log.retention_ms_about": _(
        "A segment is deleted when its latest record is older than this. −1: no limit."
    ),
    "log.apply": _("Apply"),
    "log.defaults": _("Back to the defaults"),
    "log.unit_bytes": _("bytes"),
    "log.unit_ms": _("ms"),
    "log.whole_number": _("Enter a whole number."),
    "log.offset_range": _("An offset is a whole number from 0 to {most}."),
    "log.timestamp_range": _("A timestamp is a whole number of milliseconds from 0 to {most}."),
    "log.no_limit": _("no limit"),
    # Folder
    "log.folder": _("The folder, bytes to scale"),
    "log.folder_label": _("Segments of {folder} to scale: arrow keys move, Enter looks up"),
    "log.segment_label": _(
        "Segment {base_offset}, {size}, {entries} index entries: look up its first offset"
    ),
    "log.entries": _("{entries?one index entry|{entries} index entries}"),
    "log.file_end": _("the file ends here"),
    "log.files_go": _(
        "{count?.deleted: its files are removed|{count} .deleted: the next files are removed} in {left_us}"
    ),
    "log.committed": _("committed {offset}"),
    "log.retention_bytes": _("retention.bytes {size}"),
    "log.retention_ms": _("retention.ms {time}"),
    "log.retention_reaches": _("{rule} reaches here; only whole segments are deleted"),
    "log.files": _("Files of the folder: {count}, {size}"),
    "log.file_name": _("file"),
    "log.file_bytes": _("bytes"),
    "log.rolled.size": _("Segment {base_offset} began: the previous one had reached segment.bytes."),
    "log.rolled.time": _("Segment {base_offset} began: the previous one was older than segment.ms."),
    "log.rolled.index_full": _("Segment {base_offset} began: the index of the previous one was full."),
    "log.rolled.offset_span": _("Segment {base_offset} began: relative offsets have only four bytes."),
    "log.deleted.retention_bytes": _("Segment {base_offset} was deleted by retention.bytes."),
    "log.deleted.retention_ms": _("Segment {base_offset} was deleted by retention.ms."),
    "log.deleted.start_offset": _(
        "Segment {base_offset} was deleted: the log start offset has moved past it."
    ),
    "log.removed.file_delete_delay": _("The files of segment {base_offset} are gone."),
    "log.compacted.cleaned": _(
        "Compacted up to offset {end_offset}: {records_read} {records_read?record|records} read, "
        "{records_kept} kept."
    ),
    "log.hollow": _(
        "{count?One segment holds|{count} segments hold} only zeros from some byte on: sparse files, "
        "whose records do not exist."
    ),
    "log.behind": _("{count} records behind the lab."),
    "log.behind_time": _("{time} behind the lab: {count} records."),
    "log.counting": _("The records are still being counted."),
    "log.damage.cut": _("Segment {segment}: the batch at byte {position} is cut off."),
    "log.damage.no_batch": _("Segment {segment}: the bytes at {position} are not a record batch."),
    "log.damage.old_format": _("Segment {segment}: messages of an older format from byte {position}."),
    "log.damage.crc": _("Segment {segment}: the CRC of the batch at byte {position} is wrong."),
    "log.damage.records": _("Segment {segment}: the records of the batch at byte {position} cannot be read."),
    "log.damage.index_missing": _("{name} is missing: without it the log is read from its start."),
    "log.damage.indexes_missing": _(
        "{count} index files are missing: without them each segment is read from its start."
    ),
    "log.damage.index": _("Segment {segment}: an index does not match its log."),
    "log.damage.unfinished": _("Segment {segment}: left over from a compaction that did not finish."),
    "log.turning": _("What happened, newest first"),
    "log.turning_none": _("Nothing has been rolled or deleted while somebody looked."),
    # Look-up
    "log.find": _("Look up"),
    "log.by": _("Look up by"),
    "log.by_offset": _("offset"),
    "log.by_timestamp": _("timestamp"),
    "log.value_offset": _("Offset"),
    "log.value_timestamp": _("Timestamp, in ms since 1970 (UTC)"),
    "log.rule": _("Rule for the time index"),
    "log.rule_kafka": _("Kafka: at or below"),
    "log.rule_document": _("article: at or above"),
    "log.rule_about": _(
        "The article continues from the time index entry at or above the target. Records before that "
        "entry may already be late "
        "enough: this rule can miss them."
    ),
    "log.back": _("Back"),
    "log.next": _("Next"),
    "log.play": _("Play"),
    "log.pause": _("Pause"),
    "log.place": _("{place} of {count}"),
    "log.step.segment_offset": _("Segment: the largest base offset not above {target} is {chosen}"),
    "log.step.segment_time": _("Segment: the first whose latest record is not before {target} is {chosen}"),
    "log.step.index": _(
        "Index: binary search over {entries?one entry|{entries} entries}, {probes?one probe|{probes} "
        "probes}, gives {row}"
    ),
    "log.step.index_none": _("Index: no entry at or below it, so the scan begins at byte 0"),
    "log.step.time": _(
        "Time index: {entries?one entry|{entries} entries}, {probes?one probe|{probes} probes}; the last "
        "at or below is {row}"
    ),
    "log.step.time_document": _(
        "Time index by the article: {entries?one entry|{entries} entries}, {probes?one probe|{probes} "
        "probes}; the first at or above is {row}"
    ),
    "log.step.time_none": _("Time index: no entry at or below it, so the segment is read from its start"),
    "log.step.scan": _(
        "Scan: {skipped?one batch header|{skipped} batch headers} skipped, {bytes} bytes, then {found}"
    ),
    "log.step.scan_none": _(
        "Scan: {skipped?one batch header|{skipped} batch headers} read, {bytes} bytes, nothing found"
    ),
    "log.looking.low": _("Slot {slot} holds {value}: not above {target}, so it or a later one"),
    "log.looking.high": _("Slot {slot} holds {value}: above {target}, so an earlier one"),
    "log.looking.scan": _("Passing batch {offset}: it ends before {target}"),
    "log.bytes_span": _(".log, byte {from} to {to}"),
    "log.index_label": _("Rows of the index around the answer, joined to bytes of the log"),
    "log.time_label": _("Rows of the time index around the answer"),
    "log.scan_label": _("Batches of one index gap, bytes to scale"),
    "log.message.offset_below_start": _("Offset {target} is gone: the log starts at {start}."),
    "log.message.offset_at_end": _("Offset {target} is the next one to be written: nothing is there yet."),
    "log.message.offset_beyond_end": _("Offset {target} is beyond the log end offset, {end}."),
    "log.message.time_beyond_last": _("Every record is earlier than {target}."),
    "log.message.not_found": _("No record at or after {target} was found."),
    "log.message.missed": _(
        "The article's rule found {found}; Kafka's finds {kafka_found}, which is earlier and late enough."
    ),
    "log.message.next_kept": _("Offset {target} was compacted away; the next one kept is {found}."),
    "log.message.damaged": _("The segment is damaged where {target} would be: nothing can be read there."),
    "log.message.hollow": _("Where {target} would be the file holds only zeros."),
    "log.message.old_format": _("{target} is in messages of an older format, whose headers are not scanned."),
    "log.message.gone": _(
        "Offset {found} was there when you asked. Retention has deleted it since: the log starts at {start}."
    ),
    "log.message.other": _("Nothing was found for {target}."),
    # Batch
    "log.batch": _("The batch, {bytes} bytes"),
    "log.batch_none": _("The batch"),
    "log.batch_where": _("Segment {segment}, byte {position}"),
    "log.batch_wait": _("Look something up, or press a batch: its bytes are shown here."),
    "log.previous": _("Previous batch"),
    "log.following": _("Next batch"),
    "log.bytes": _("Bytes of the batch"),
    "log.fields": _("Fields of the batch"),
    "log.bytes_below": _("{count?one more byte|{count} more bytes} below"),
    "log.fields_below": _("{count?one more field|{count} more fields} below"),
    "log.more_bytes": _("{count?one more byte|{count} more bytes}, not shown"),
    "log.crc_ok": _("{crc}, CRC-32C ok"),
    "log.crc_wrong": _("{crc}, CRC-32C wrong"),
    "log.attributes": _("{value}: {words}"),
    "log.codec.0": _("no codec"),
    "log.codec.1": _("gzip"),
    "log.codec.2": _("snappy"),
    "log.codec.3": _("lz4"),
    "log.codec.4": _("zstd"),
    "log.attr.create": _("create time"),
    "log.attr.append": _("append time"),
    "log.attr.transactional": _("transactional"),
    "log.attr.control": _("control batch"),
    "log.attr.horizon": _("delete horizon"),
    "log.problem": _("The log says of this batch: {reason}"),
    "log.records_left": _("{count?one more record|{count} more records}, not shown"),
    "log.records": _("Records of the batch"),
    "log.record_of": _("Record {offset}"),
    "log.null": _("null"),
    "log.empty": _("empty"),
    "log.compressed": _("{bytes} compressed bytes"),
    "log.column.offset": _("offset"),
    "log.column.timestamp": _("timestamp (UTC)"),
    "log.column.key": _("key"),
    "log.column.value": _("value"),
    "log.column.headers": _("headers"),
    # Compaction
    "log.clean": _("Compaction of {folder}: each key keeps its last value, at its own offset"),
    "log.clean_label": _("Records before and after compaction, one column an offset"),
    "log.before": _("before"),
    "log.after": _("after"),
    "log.zone.clean": _("clean"),
    "log.zone.clean.short": _("clean"),
    "log.zone.dirty": _("dirty ratio {ratio}, {isDue?above|not above} {least}"),
    "log.zone.dirty.short": _("dirty {ratio}"),
    "log.zone.active": _("active, untouched"),
    "log.zone.active.short": _("active"),
    "log.clean_dry": _(
        "If it ran now: {before} {before?record|records} before, {after} after; {bytes_before} would "
        "become {bytes_after}."
    ),
    "log.clean_due": _(
        "A round is due: {before} {before?record|records} before, {after} after; {bytes_before} become "
        "{bytes_after}."
    ),
    "log.clean_stopped": _("Read up to byte {byte} of segment {segment}, where the log is damaged."),
    "log.clean_record": _("Offset {offset}, key {key}: {fate}"),
    "log.clean_hint": _("Point at a record, or go to it with the arrow keys: its whole key is written here."),
    "log.clean_tomb": _(
        "{key}∅ is a tombstone: it stays until delete.retention.ms is over, so that slow readers still "
        "see the deletion."
    ),
    "log.fate": _("fate"),
    "log.fate.kept": _("kept"),
    "log.fate.superseded": _("superseded"),
    "log.fate.tombstone": _("tombstone"),
    "log.zone_word": _("part"),
    # Tables
    "log.column.base": _("base offset"),
    "log.column.size": _("bytes"),
    "log.column.count": _("records"),
    "log.column.entries": _("index entries"),
    "log.column.state": _("state"),
    "log.column.position": _("byte"),
    "log.column.last": _("last offset"),
    "log.column.slot": _("slot"),
    "log.state.live": _("closed"),
    "log.state.active": _("active"),
    "log.state.cleaned": _("compacted"),
    "log.state.gone": _(".deleted, waits"),
    "log.state.deleted": _(".deleted, files are removed in {left_us}"),
    "log.keys.run": _("Play the look-up"),
    "log.keys.back": _("One step of the look-up back"),
    "log.keys.next": _("Next step of the look-up"),
    "log.hour": _("h"),
    "log.day": _("d"),
    # Opening a file
    "log.open_title": _("Open a segment of a real Kafka broker"),
    "log.open_about": _(
        "A .log file, with its .index and .timeindex if you have them: at most {size} in total. It is "
        "read here and shown to "
        "anyone with the link."
    ),
    "log.drop": _("Drop the files here, or"),
    "log.pick": _("choose files"),
    "log.upload": _("Upload"),
    "log.uploading": _("{percent} of {size} sent"),
    "log.reading": _("Sent. The server is reading the segment."),
    "log.wrong_kind": _("{name} is not a .log, .index or .timeindex file."),
    "log.no_log": _("There is no .log file among them."),
    "log.too_large": _("{bytes} bytes in total; at most {limit} can be opened: {most} bytes."),
    "log.is_empty": _("{name} is empty."),
    "log.refused": _("Not opened: {reason}"),
    "log.refused_status": _("Not opened: the server answered {status}."),
    "log.folders": _("Folders on the server"),
    "log.chosen": _("{count?One file|{count} files}, {size}"),
}
