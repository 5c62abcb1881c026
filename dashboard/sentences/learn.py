"""Words of lessons: the page Learn, the panel that a lesson has on the Stage, and what `run_scenario` prints."""

from django.utils.translation import gettext_lazy as _

LEARN = {
    # What a check asks for, and what came of it. {value}: a figure or a word as the file writes it.
    "check.is": _("{value}"),
    "check.is_not": _("not {value}"),
    "check.at_least": _("at least {value}"),
    "check.at_most": _("at most {value}"),
    "check.more_than": _("more than {value}"),
    "check.less_than": _("less than {value}"),
    "check.both": _("{first} and {second}"),
    "check.nothing": _("nothing"),
    "check.missing": _("no such number"),
    "check.not_yet": _("not yet"),
    "check.holds": _("holds"),
    "check.fails": _("fails"),
    # The parts of a lesson
    "lesson.watch_for": _("Watch for"),
    "lesson.you_will_learn": _("You will learn"),
    "lesson.asked": _("asked"),
    "lesson.sum": _("{count} of {total} checks hold"),
}
