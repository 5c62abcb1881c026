"""Words of the page /api/ and of the OpenAPI document, and of the last order as a curl command."""

from django.utils.translation import gettext_lazy as _

CURL = {
    "curl.last": _("Copy as a curl command: {kind}"),
    "curl.title": _("Copy your last order as a curl command"),
    "curl.copied": _("Copied. OWNER_TOKEN comes with the answer of POST /api/labs/ or of a fork."),
    "curl.failed": _("The browser does not let this page copy."),
}
API = {
    "api.title": _("The interface for programs"),
    "api.sub": _(
        "A program can do everything that the buttons do. Whatever is wrong is answered 4xx with the field and the reason, and nothing is changed."
    ),
    "api.document": _("As an OpenAPI document:"),
    "api.more": _("What each command does, each setting and the live feed:"),
    "api.token": _(
        "A command needs the owner_token that POST /api/labs/ answers, as Authorization: Bearer. Reading needs nothing."
    ),
    "api.example": _("For example"),
    "api.bodies": _("What a body holds"),
    "api.query": _("query"),
    "api.body": _("body"),
    "api.answers": _("answers"),
    "api.needed": _("needed"),
    "api.granted": _("What was asked for."),
    "api.refused": _("Refused: the fields that are wrong, each with its reasons."),
    "api.busy": _("The server is busy or full; Retry-After says when to try again."),
    "api.group.labs": _("Labs and commands"),
    "api.group.past": _("A lab’s past"),
    "api.group.lanes": _("Questions to a lane"),
    "api.group.rooms": _("Rooms"),
    "api.group.logs": _("Kafka’s log"),
    "api.group.studies": _("Studies"),
    "api.api-labs.post": _("Make a lab and set it playing."),
    "api.api-check.post": _(
        "Check the settings of a lab without making it; the same as TOML, curl and Python."
    ),
    "api.api-visit.post": _("The lab of this browser, a copy of the demo where it has none."),
    "api.api-lab.get": _("What a lab is."),
    "api.api-lab.patch": _("Give a lab another name."),
    "api.api-lab.delete": _("Delete a lab; it can be undone for a moment."),
    "api.api-own.post": _("Make a lab, whose token you send, this browser's own."),
    "api.api-restore.post": _("Undo a deletion."),
    "api.api-commands.post": _("Give a lab a command. Sending it twice does it once."),
    "api.api-command.get": _("What became of a command."),
    "api.api-settings.post": _("Which commands bring a lab to these settings, and what takes a new lab."),
    "api.api-snapshot.get": _("The last view."),
    "api.api-journal.get": _("Scenario and commands: all that it takes to have this lab again."),
    "api.api-run.get": _("A lab up to a moment as a file that is opened again."),
    "api.api-capsules.post": _(
        "Have a capsule made: a run, or a part of it, as one HTML file that plays offline."
    ),
    "api.api-capsule.get": _("How far a capsule is."),
    "api.api-capsule-file.get": _("The capsule as a file."),
    "api.api-open.post": _(
        "Open such a file: a lab that goes through the run again and is paused at its end."
    ),
    "api.api-events.get": _("Turning points after a sequence number."),
    "api.api-event-search.get": _("Search the turning points by words, kind, lane and consumer."),
    "api.api-event-lines.get": _("All turning points as a file, one JSON object a line."),
    "api.api-fork.post": _("Copy a lab as it is, as it was at a moment, or under another workload."),
    "api.api-branches.get": _("The lab, the one that it left, and those that left either."),
    "api.api-past.get": _("A lab at a moment, or some steps from there."),
    "api.api-past-frames.get": _("A stretch of the past as pictures to play."),
    "api.api-marks.get": _("All that happened since 0:00."),
    "api.api-lab-pulsar-key.get": _("Where a key goes now, after the next join and after each leave."),
    "api.api-lab-pulsar-ranges.get": _("What sticky ranges would cover, and what the broker would say."),
    "api.api-lab-rabbitmq-try.get": _("Every binding of an exchange beside a message: which match, and why."),
    "api.api-lab-rabbitmq-path.get": _("Where a message went."),
    "api.api-lab-rabbitmq-allowed.get": _("What the server would answer to a user’s operation."),
    "api.api-lab-rabbitmq-definitions.get": _("What is declared, as a definitions file."),
    "api.api-rooms.post": _(
        "Open a room for a lab or a lecture’s deck, or move the room of this browser to it."
    ),
    "api.api-room.get": _("What a room shows, and who you are in it."),
    "api.api-room.patch": _(
        "Show something else, lock or unlock the room, call all back. The presenter may."
    ),
    "api.api-room.delete": _("End a room. The presenter may."),
    "api.api-room-seat.post": _("Take a seat in a room, under a name or none."),
    "api.api-room-copy.post": _("A copy of the presenter’s lab, to look around in."),
    "api.api-room-links.post": _(
        "A new secret link, for a remote or for the next presenter. The presenter may."
    ),
    "api.api-room-press.post": _("Press a button of the remote. The presenter and the remote may."),
    "api.api-room-question.post": _(
        "Ask the room about a change: a copy of the lab carries it out, and question and truth are what came of it; "
        "or ask what a slide of the deck asks. The presenter may."
    ),
    "api.api-room-question.patch": _(
        "Close the question, tell its truth, show or hide what the room has answered. The presenter may."
    ),
    "api.api-room-question.delete": _("Put the question away. The presenter may."),
    "api.api-room-answer.post": _(
        "Answer the question, or change one’s answer while it is open. An attendee with a seat may."
    ),
    "api.api-room-task.get": _("What a task of the room can be about. The presenter may."),
    "api.api-room-task.post": _(
        "Set the room a task: a check that each attendee’s own copy of the lab is to come to. The presenter may."
    ),
    "api.api-room-task.delete": _("End the task, and with recall=1 call all back. The presenter may."),
    "api.api-room-task-copy.post": _(
        "One’s own copy of the lab to do the task in, as the lab was when the task was set. An attendee with a seat may."
    ),
    "api.api-room-take.post": _("Take over a room with the secret of its hand-over."),
    "api.api-comparison.get": _("The lane’s group on the same history under each assignor and protocol."),
    "api.api-break.get": _("How the last search for what breaks a promise about this lab stands."),
    "api.api-break.post": _("Search for the shortest schedule of faults that breaks a promise about a lane."),
    "api.api-break.delete": _("End that search."),
    "api.api-break-open.post": _(
        "Open what it found as a lab that is paused at the moment at which the promise broke."
    ),
    "api.api-comparison.post": _("Have that comparison worked out, up to now."),
    "api.api-lab-log.get": _("The folder of a replica’s log."),
    "api.api-lab-log-clean.get": _("What a round of compaction would do now."),
    "api.api-lab-log-question.get": _("A question to the log: lookup, batch, segment or file."),
    "api.api-logs.get": _("Folders of logs on the server."),
    "api.api-logs.post": _("Open files of a log."),
    "api.api-log.get": _("The folder of an opened log."),
    "api.api-log-clean.get": _("What a round of compaction of an opened log would do."),
    "api.api-log-question.get": _("A question to an opened log: lookup, batch, segment or file."),
    "api.api-studies.get": _("One’s own studies."),
    "api.api-studies.post": _("Start a study."),
    "api.api-study-uploads.get": _("One’s own files, and the limits."),
    "api.api-study-uploads.post": _("Send a file of messages."),
    "api.api-study-folders.get": _("Folders of data on the server."),
    "api.api-study-preview.post": _("Columns, proposed key and first rows of a source."),
    "api.api-study-strategies.get": _("Which strategies there are."),
    "api.api-study-history.post": _("What a membership history amounts to."),
    "api.api-study.get": _("What a study is."),
    "api.api-study.delete": _("Delete a study and its result."),
    "api.api-study-cancel.post": _("Cancel a study."),
    "api.api-study-result.get": _("The result of a study."),
    "api.api-study-ranking.get": _("The ranking under other weights and constraints."),
    "api.api-study-windows.get": _("Windows of a live study."),
    "api.api-study-data.get": _("A table of the result as a CSV or Parquet file."),
    "api.api-study-open.post": _("A lab with the study’s keys."),
    "api.api-trial.get": _(
        "What a change would do at a moment, tried on a copy of the lab, and who would have a key."
    ),
    "api.api-code.get": _(
        "The last run of one of the lab's algorithms, line by line with its variables; without `of`, which ones there are."
    ),
    "api.api-passport.get": _("Where a record went in each lane, and when: received, released, done."),
    "api.api-why.get": _(
        "What one thing of a lane is, how its numbers are made up, and the turning points that made it so."
    ),
    "api.api-places.get": _("Pages, labs and lessons: where one can go from any page."),
    "api.api-document.get": _("This document."),
}
