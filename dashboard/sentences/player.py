"""Words of a capsule, of the order to make one, and of a page that only plays a run back."""

from django.utils.translation import gettext_lazy as _

PLAYER = {
    "take.capsule": _("Capsule: this run as one page that plays offline"),
    "capsule": _("Capsule"),
    "capsule.title": _(
        "This run, or a part of it, as one file that plays in any browser, without a network."
    ),
    "capsule.page": _("Page"),
    "capsule.from": _("From, in seconds"),
    "capsule.until": _("To, in seconds"),
    "capsule.make": _("Make it"),
    "capsule.seconds": _("must be a number of seconds, such as 12.5"),
    "capsule.waiting": _("Waiting for a worker"),
    "capsule.working": _("Playing the run again: {share}"),
    "capsule.save": _("Save the capsule, {size} kB"),
    "capsule.holds": _(
        "It has the timeline, a lesson’s frames, Why, tables, the newest events and questions before its first changes, "
        "in English and Chinese. It takes no orders, has no charts, and shows the moments that it keeps."
    ),
    "capsule.about": _(
        "Capsule: {from} to {until}, {count} moments. Without orders, charts and the moments in between."
    ),
    "capsule.no_why": _(
        "this capsule has no answer about that at this moment; it has those of the list above"
    ),
    "capsule.no_question": _(
        "There is no question at this moment: a capsule has one before each of its first changes."
    ),
    "capsule.not_here": _("this is not in the capsule, only on the site"),
    "player.no_orders": _("this page plays a run back, and takes no orders"),
}
