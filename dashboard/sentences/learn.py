"""Words of the page Learn: the course, a lesson's own page, and the editor for a teacher's own lesson."""

from django.utils.translation import gettext_lazy as _

LEARN = {
    "learn.title": _("Learn"),
    "learn.sub": _("{count} lessons with captions and numbers that check themselves, at your own pace"),
    # Finding
    "learn.search": _("Search lessons"),
    "learn.levels": _("Level"),
    "learn.level.all": _("All levels"),
    "learn.level.first": _("First"),
    "learn.level.deeper": _("Deeper"),
    "learn.level.expert": _("Expert"),
    "learn.found": _("{count} {count?lesson|lessons} found"),
    "learn.none": _("No lesson matches. Try another word, or all levels."),
    # Start here
    "learn.start": _("Start here"),
    "learn.start_sub": _("{count} lessons, {minutes} {minutes?minute|minutes}"),
    "learn.done_count": _("{count} done"),
    "learn.done": _("done"),
    # Between a count and the next.
    "learn.semicolon": _("; "),
    "learn.minutes": _("{minutes} min"),
    # Behind a level.
    "learn.level_minutes": _(", {minutes} min"),
    "learn.begin": _("Start lesson {number}"),
    "learn.begin_next": _("Start the next lesson"),
    "learn.go_on": _("Go on at frame {frame} of {frames}"),
    "learn.at_frame": _("at frame {frame} of {frames}"),
    # Chapters
    "learn.chapters": _("Six chapters"),
    "learn.chapters_sub": _("in the order of the articles"),
    "learn.chapter.hashing": _("Consistent hashing and ranges"),
    "learn.chapter.assignors": _("Assignors and rebalances"),
    "learn.chapter.log": _("The log"),
    "learn.chapter.replication": _("Replication and the high watermark"),
    "learn.chapter.tubemq": _("Clients that decide"),
    "learn.chapter.rabbitmq": _("Exchanges and queues"),
    "learn.about.hashing": _("Pulsar"),
    "learn.about.assignors": _("Kafka groups"),
    "learn.about.log": _("Kafka on disk"),
    "learn.about.replication": _("Kafka cluster"),
    "learn.about.tubemq": _("TubeMQ"),
    "learn.about.rabbitmq": _("RabbitMQ"),
    "learn.all": _("All {count} lessons"),
    # A lesson's own page
    "learn.play": _("Start this lesson"),
    "learn.virtual": _("{virtual} of virtual time"),
    "learn.checks": _("{count} {count?check|checks}"),
    "learn.frames": _("Frames"),
    "learn.still": _("The key frame, at {time}"),
    "learn.made_by": _("Made by the Highwater project; it plays with seed {seed}."),
    "learn.file": _("Its scenario file"),
    "learn.change": _("Change it in the editor"),
    "learn.previous": _("Previous lesson"),
    "learn.next": _("Next lesson"),
    "learn.in_chapter": _("Lesson {number} of {count}"),
    # One's own
    "learn.own": _("Write your own lesson"),
    "learn.own_line": _("Captions, commands and checks in one text, with a run button and a link to share."),
    "learn.open_editor": _("Open the editor"),
    "learn.own_title": _("Your own lesson"),
    "learn.own_sub": _(
        "A lesson is a text file: seed, lanes, timed commands, captions, checks. Begin with a lesson that is "
        "there, change it, and run it."
    ),
    "learn.from": _("Begin with"),
    "learn.from_none": _("an empty text"),
    "learn.load": _("Load"),
    "learn.text": _("Text of the scenario file"),
    "learn.choose": _("or choose a file"),
    "learn.run": _("Run"),
    "learn.share": _("Copy a link to this text"),
    "learn.shared": _("The link is copied. It holds the whole text; this site does not keep it."),
    "learn.share_by_hand": _("Copy this link:"),
    "learn.share_empty": _("There is no text to share."),
    "learn.share_long": _("The text is too long for a link. Share the file instead."),
    "learn.share_bad": _("This link holds no text of a lesson."),
    "learn.to_line": _("Go to line {line}"),
    "learn.line": _("line {line}"),
}
