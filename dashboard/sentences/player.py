"""Words of a page that only shows a run: a capsule and the order to make one, and a page within one of another site."""

from django.utils.translation import gettext_lazy as _

EMBED = {
    "take.embed": _("Embed: this page within a page of another site"),
    "embed": _("Embed"),
    "embed.lab": _(
        "This page within another one: readers see it live, look back, ask Why, and change nothing."
    ),
    "embed.lesson": _("This lesson within another page, frame by frame, beginning with the frame shown."),
    "embed.begins": _("Begins"),
    "embed.live": _("live"),
    "embed.moment": _("at the moment shown"),
    "embed.language": _("Language"),
    "embed.readers": _("the reader’s own"),
    "embed.width": _("Width, in pixels"),
    "embed.height": _("Height, in pixels"),
    "embed.pixels": _("must be a whole number from {least} to {most}"),
    "embed.code": _("HTML to copy"),
    "embed.elsewhere": _("Show this lesson on another site"),
    "embed.paste": _("Put this into the other page: it plays there frame by frame, and needs nothing else."),
    "embed.copy": _("Copy the HTML"),
    "embed.copied": _("HTML copied"),
    "embed.try": _("Open it alone"),
    "embed.holds": _("It works as long as this site can be reached from the reader’s browser."),
    "embed.home": _("Open it on its own site"),
    "embed.missing": _("There is nothing to show here"),
    "embed.missing_more": _("The lab is gone, or this site lets no other site show its pages."),
}

PLAYER = {
    **EMBED,
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
    "player.no_orders": _("this page only shows a run, and takes no orders"),
}

TO_LOOK_AT = {
    "caption.start": _("Four ways to share one stream, on the same records."),
    "caption.start_lanes": _("{lanes?One way|{lanes} ways} to share one stream, on the same records."),
    "rows.none": _("No consumers."),
}
"""In place of sentences that ask for an order."""
