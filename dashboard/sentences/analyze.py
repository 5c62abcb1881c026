"""Words of the Analyze page: the list of studies and the form for a new one, in its three steps."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

ANALYZE = {
    "analyze.title": _("Which strategy serves your messages?"),
    "analyze.sub": _(
        "Give it records, pick strategies, say who joins and leaves. Every figure comes from running the "
        "real rules over all records."
    ),
    # The list
    "studies.title": _("Your studies"),
    "studies.none": _("None yet. The first one takes three steps."),
    "studies.cancel": _("Cancel"),
    "studies.delete": _("Delete"),
    "studies.delete_named": _("Delete {name}"),
    "delete.title": _("Delete “{name}”?"),
    "delete.about": _(
        "Its result, charts and link are deleted permanently. A file that you uploaded for it stays."
    ),
    "delete.yes": _("Delete it"),
    "delete.keep": _("Keep it"),
    "delete.this": _("Delete this study"),
    "studies.cancel_named": _("Cancel {name}"),
    "studies.records": _("{records} {records?record|records}"),
    "studies.strategies": _("{strategies} {strategies?strategy|strategies}"),
    "studies.live": _("live"),
    "studies.more": _("Show all {count}"),
    # Form
    "new.title": _("New study"),
    "new.name": _("Name"),
    "new.name_hint": _("If empty, it is named after its data."),
    "new.start": _("Start the study"),
    "new.starting": _("Starting"),
    "new.wrong": _("Some fields need correcting; the study was not started."),
    "new.summary": _("{strategies} {strategies?strategy|strategies} over {changes} {changes?change|changes}"),
    # Step 1
    "data.title": _("Data"),
    "data.kind": _("Where the records come from"),
    "data.file": _("Your file"),
    "data.flights": _("Flights of 2013"),
    "data.lab": _("One of your labs"),
    "data.zipf": _("Generated keys"),
    "data.folder": _("On the server"),
    "data.drop": _("Drop a file here, or choose one"),
    "data.drop_hint": _("CSV, JSONL, Parquet or a segment of a Kafka log, up to {size}"),
    "data.choose": _("Choose a file"),
    "data.another": _("Another file"),
    "data.uploading": _("Uploading {name}"),
    "data.upload_stop": _("Stop"),
    "data.uploaded": _("{name}, {size}"),
    "data.too_big": _("{name} is {size}; at most {limit} can be uploaded."),
    "data.refused": _("{name} {reason}"),
    "data.upload_failed": _("The upload was interrupted. Choose the file again."),
    "data.delimiter": _("Fields are separated by"),
    "data.comma": _("comma"),
    "data.semicolon": _("semicolon"),
    "data.tab": _("tab"),
    "data.pipe": _("vertical bar"),
    "data.colon": _("colon"),
    "data.other": _("another character"),
    "data.delimiter_other": _("Which character"),
    "data.written": _("How the file is written"),
    "data.key_value": _("Only the first one separates: a key and its value, as kcat -K prints them"),
    "data.nulls": _("Words that mean no value"),
    "data.layout": _("JSON objects"),
    "data.layout_lines": _("one a line"),
    "data.layout_values": _("in any form, or in an array"),
    "data.encoding": _("Encoding"),
    "data.encoding_bytes": _("bytes, as they are"),
    "data.encoding_about": _(
        "Recognised in the first rows. Keys are hashed as the UTF-8 that a producer would send, or as the bytes "
        "of the file."
    ),
    "data.skip": _("Lines to skip at the top"),
    "data.comment": _("Comment lines begin with"),
    "data.escape": _("A quotation mark inside quotation marks"),
    "data.escape_doubled": _("is doubled"),
    "data.escape_backslash": _("has a backslash before it"),
    "data.escape_other": _("has another character before it"),
    "data.escape_character": _("Character before the quotation mark"),
    "data.time_format": _("Time format"),
    "data.header": _("The first line names the columns"),
    "data.preview": _("The first rows"),
    "data.no_record": _("No record was found here; a study needs at least one."),
    "data.preview_none": _("There is no row to show."),
    "data.preview_wait": _("Reading the first rows"),
    "data.bad": _(
        "{bad} of the first rows cannot be read. They will be counted and set aside with their line numbers."
    ),
    "data.null": _("null"),
    "data.key": _("Key"),
    "data.key_hint": _("What decides which consumer gets a record."),
    "data.key_proposed": _("Proposed as the key:"),
    "data.key_none": _(
        "No column has values that repeat in the first rows. Choose the one that decides which consumer gets "
        "a record."
    ),
    "data.key_is.repeats": _(
        "{values} different values in the first {rows} rows, each {per_value} times on average."
    ),
    "data.key_is.few": _(
        "{values} different {values?value|values} in the first {rows} rows: they repeat, but there are few "
        "to distribute."
    ),
    "data.key_is.rare": _("{values} different values in the first {rows} rows: hardly any repeats."),
    "data.key_is.unique": _(
        "This column has a different value in each of the first {rows} rows: as a key it has no order to "
        "keep, and no strategy shows "
        "skew."
    ),
    "data.key_is.constant": _(
        "This column has one value in all of the first {rows} rows: as a key it gives every record to one "
        "consumer."
    ),
    "data.key_is.empty": _("This column is empty in the first rows."),
    "data.time": _("Time"),
    "data.size": _("Size"),
    "data.payload": _("Payload"),
    "data.column_none": _("none"),
    "data.column_choose": _("choose a column"),
    "data.optional": _("optional"),
    "data.flights_key": _("Key"),
    "data.flights_about": _("All 336,776 flights that left New York in 2013, in order of departure."),
    "data.lab_which": _("Lab"),
    "data.lab_none": _("You have no lab yet: open the Stage first."),
    "data.lab_records": _("Records"),
    "data.lab_about": _("The lab's workload, generated again from its seed."),
    "data.shape": _("How keys are spread"),
    "data.shape_zipf": _("Zipf: a few are hot"),
    "data.shape_uniform": _("uniform: all equal"),
    "data.keys": _("Distinct keys"),
    "data.records": _("Records"),
    "data.exponent": _("Exponent"),
    "data.seed": _("Seed"),
    "data.folder_which": _("Folder"),
    "data.folder_all": _("Folders"),
    "data.folder_kafka_log": _("Kafka log"),
    "data.folder_csv": "CSV",
    "data.folder_jsonl": "JSONL",
    "data.folder_parquet": "Parquet",
    "data.folder_about": _("Folders that the operator of this site has opened for studies."),
    "data.folder_closed": _(
        "None is open yet. The operator of this site names folders in HIGHWATER_LOG_DIRS (Kafka logs) or "
        "HIGHWATER_DATA_DIRS (files of every "
        "kind) and restarts it."
    ),
    "data.folder_pick": _("Choose a folder or a file."),
    "data.folder_pick_log": _("Choose the folder of a Kafka log."),
    "data.folder_log": _(
        "A Kafka log: {topics} {topics?topic|topics}, {partitions} {partitions?partition|partitions}."
    ),
    "data.folder_files": _("The {kind} files of this folder, together; or choose one."),
    "data.folder_file": _("{kind}, {size}."),
    "data.folder_inside": _("What is in it: {count}"),
    "data.folder_empty": _("There is nothing here that a study can read."),
    "data.topic": _("Topic"),
    "data.topic_all": _("all {count} topics"),
    "data.topic_one": _("{topic} ({partitions} {partitions?partition|partitions})"),
    # Step 2
    "strategies.title": _("Strategies"),
    "strategies.hint": _(
        "A parameter may hold several numbers separated by commas; each becomes its own strategy."
    ),
    "strategies.count": _("{count} {count?strategy|strategies} chosen"),
    "strategies.numbers": _("{param}: whole numbers from {low} to {high}"),
    "strategies.least": _("choose at least one strategy"),
    "strategies.default": _("Default choice"),
    "strategies.none": _("None"),
    "strategies.document": _("As in the article"),
    # Step 3
    "history.title": _("Who joins and leaves"),
    "history.kind": _("Membership history"),
    "history.given": _("Step by step"),
    "history.rolling_restart": _("Rolling restart"),
    "history.autoscale": _("Autoscale"),
    "history.crash_storm": _("Crash storm"),
    "history.lab": _("From a lab"),
    "history.given_about": _("Your own list of changes, one after the other."),
    "history.rolling_restart_about": _("Each consumer stops and comes back in turn, as in a deployment."),
    "history.autoscale_about": _("Consumers join one by one, as when load grows."),
    "history.crash_storm_about": _("Consumers fall silent one after another and come back."),
    "history.lab_about": _("The changes made in one of your labs."),
    "history.start": _("Consumers at the start"),
    "history.consumers": _("Consumers"),
    "history.from": _("From"),
    "history.to": _("To"),
    "history.crashes": _("Crashes"),
    "history.seed": _("Seed"),
    "history.change": _("Change {number}"),
    "history.what": _("What happens"),
    "history.who": _("Consumer"),
    "history.at": _("Before record"),
    "history.join": _("joins"),
    "history.leave": _("leaves"),
    "history.crash": _("crashes"),
    "history.rejoin": _("comes back"),
    "history.slow": _("slows to"),
    "history.rate": _("records a second"),
    "history.restart": _("restarts"),
    "history.down_s": _("Back after, seconds"),
    "history.names": _("Comes back under"),
    "history.own": _("its own name"),
    "history.new": _("a new name"),
    "history.names_hint": _(
        "Its own name: as on the same host, or in a StatefulSet. A new name: one that no consumer has had, as of a "
        "pod that is replaced."
    ),
    "history.everyone": pgettext_lazy("consumers", "all"),
    "history.add": _("Add a change"),
    "history.remove": _("Remove change {number}"),
    "history.placed": _("Changes happen at given records"),
    "history.placed_hint": _("Without it, every change is measured over all records."),
    "history.chart": _("Consumers after each change"),
    "history.chart_label": _(
        "From {first} to {last} consumers in {changes} {changes?change|changes}, at least {low}, at most "
        "{high}"
    ),
    "service.title": _("Rates, for waits and pauses"),
    "service.rate": _("Records a second, in all"),
    "service.consumer_rate": _("Records a second a consumer can handle"),
    "service.thinned": _(
        "The timed runs take {rate_run} records a second instead of {rate}: over this history a higher "
        "rate would exceed "
        "{records_max} records. Consumers are slowed by the same factor, so they are just as busy; "
        "the measures are rates and ratios."
    ),
    "service.thinned_beyond": _(
        "If the data has more than {records_max} records, the timed runs take {rate_run} a second "
        "instead of {rate}. Consumers are "
        "slowed by the same factor, so they are just as busy; the measures are rates and ratios."
    ),
    # A live study
    "watch.title": _("Watch live"),
    "watch.about": _(
        "One-second windows with a short delay: of a running lab, or of a Kafka log that grows on the server."
    ),
    "watch.what": _("What to watch"),
    "watch.lab": _("A lab"),
    "watch.log": _("A Kafka log"),
    "watch.from": _("Start with"),
    "watch.from_all": _("what the log holds"),
    "watch.from_now": _("what arrives from now on"),
    "watch.start": _("Watch"),
}
