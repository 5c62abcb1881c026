"""Words of a lesson: the panel that it has on the Stage, and what `run_scenario` prints."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from dashboard.sentences.lanes import LANES

LESSON = {
    # What a check asks for, and what came of it. {value}: a figure, a word as the file writes it, or the
    # state of a consumer as its row has it.
    "check.is": _("{value}"),
    "check.is_not": _("not {value}"),
    "check.at_least": _("at least {value}"),
    "check.at_most": _("at most {value}"),
    "check.more_than": _("more than {value}"),
    "check.less_than": _("less than {value}"),
    "check.both": _("{first} and {second}"),
    "check.nothing": _("nothing"),
    "check.missing": _("not there:"),
    "check.not_yet": _("not yet"),
    "check.holds": _("holds"),
    "check.fails": _("fails"),
    "check.asked": _("{time}, should be {asked}"),
    "check.told": _("{word}: {figure}{text}"),
    **{
        f"check.state.{state}": LANES[f"state.{state}"]
        for state in ("slow", "paused", "crashed", "waiting", "failed", "gone")
    },
    # The parts of a lesson
    "lesson": _("Lesson"),
    "lesson.watch_for": _("Watch for"),
    "lesson.you_will_learn": _("You will learn"),
    "lesson.checks": _("Checks"),
    "lesson.asked": _("asked"),
    "lesson.sum": _("{held}/{total}"),
    # begins as the button does: its name holds what is seen
    "lesson.checks_label": _("Checks {held}/{total}: {known} {known?is|are} due, {held} {held?holds|hold}"),
    "lesson.all_hold": _("{count} of {total} checks hold"),
    # Its frames
    "lesson.frames": _("Frames of the lesson"),
    "lesson.back": _("Back"),
    "lesson.next": pgettext_lazy("frame", "Next"),
    "lesson.to_end": pgettext_lazy("frame", "To the end"),
    "lesson.place": _("{number}/{total}"),
    "lesson.stop": _("Frame {number}: {word}, {time}"),
    "lesson.way": _("On the way to frame {number}."),
    "lesson.way_named": _("On the way to frame {number}: {word}."),
    "lesson.way_to_end": _("On the way to the end of the lesson."),
    "lesson.long_way": _("It is long: {seconds} s even at ×{speed}."),
    "lesson.progress": _("{now} of {end}"),
    "lesson.over": _("over"),
    "lesson.meddled": _(
        "The run was changed by hand, last at {time}; checks describe this run, not the lesson's plan."
    ),
    "lesson.planned": _("The lesson's plan: {caption}"),
    "lesson.skip": _("Skip"),
    "lesson.ask.hint": _("What do you think? Keys 1 to 4 answer; Skip goes on."),
    "lesson.keys.answer": _("answer the lesson's question (1 to 4)"),
    "lesson.stop_asks": _("Frame {number}: {word}, {time}, with a question"),
    "lesson.after": _("Next lesson"),
    "lesson.all": _("All lessons"),
}
