"""Words of the keys, of the sheet that lists them (?) and of the palette (Ctrl-K)."""

from django.utils.translation import gettext_lazy as _

KEYS = {
    "keys.title": _("Keys of this page"),
    "keys.sheet": _("Show the keys of this page"),
    "keys.of.page": _("On this page"),
    "keys.of.time": _("Time"),
    "keys.of.site": _("Everywhere"),
    "keys.written": _("A letter acts only while you are not typing in a field."),
    "keys.cap.space": _("Space"),
    "keys.cap.escape": _("Esc"),
    # Time
    "keys.play": _("Play or pause"),
    "keys.step": _("One step forward"),
    "keys.back": _("One step back"),
    "keys.ten_on": _("Ten steps forward"),
    "keys.ten_back": _("Ten steps back"),
    "keys.change_on": _("To the next change"),
    "keys.change_back": _("To the change before"),
    "keys.frame_on": _("On to the next frame of the lesson"),
    "keys.frame_back": _("Back to the frame before"),
    "keys.now": _("Back to now, while you look at the past"),
    "keys.branch_before": _("Branch before"),
    "keys.branch_after": _("Next branch"),
    "keys.tables": _("Tables in place of pictures, and back"),
    # What several pages have
    "keys.parts": _("Move between the parts of a picture; Enter presses one"),
    "keys.let_go": _("Choose nothing"),
    "keys.close": _("Close what is open"),
    "keys.previous_consumer": _("Previous consumer"),
    "keys.next_consumer": _("Next consumer"),
    # The palette
    "palette.open": _("Search pages, labs, lessons and actions"),
    "palette.short": _("Search"),
    "palette.hint": _("A page, a lab, a lesson, an action"),
    "palette.found": _("{count} found"),
    "palette.none": _("Nothing matches. Try fewer letters."),
    "palette.failed": _("Labs and lessons cannot be listed right now."),
    "palette.action": _("Action"),
    "palette.page": _("Page"),
    "palette.tab": _("This lab"),
    "palette.lab": _("Lab"),
    "palette.lesson": _("Lesson"),
    "palette.own_lesson": _("Write a lesson of your own"),
    "palette.compare": _("Compare studies"),
}
