"""Words around the page: top bar, freshness, theme, errors."""

from django.utils.translation import gettext_lazy as _

CHROME = {
    "skip": _("Skip to the stage"),
    "skip.content": _("Skip to the content"),
    "nav.main": _("Main"),
    "nav.stage": _("Stage"),
    "nav.labs": _("Labs"),
    "nav.compare": _("Compare"),
    "nav.learn": _("Learn"),
    "nav.analyze": _("Analyze"),
    "theme": _("Theme"),
    "theme.auto": _("auto"),
    "theme.light": _("light"),
    "theme.dark": _("dark"),
    "theme.label": _("Theme: {theme}. Press to change it."),
    "fresh.live": _("live"),
    "fresh.paused": _("paused"),
    "fresh.behind": _("behind"),
    "fresh.disconnected": _("disconnected"),
    "fresh.connecting": _("connecting"),
    "fresh.title": _("Age of the newest frame on this screen, compared with the fastest of the last minute"),
    "close": _("Close"),
    "notice.pending": _("Sent. The server has not answered yet."),
    "notice.arrived": _("The server has answered: your command is accepted."),
    "notice.network": _(
        "The server does not respond. Retrying with the same command; nothing is done twice."
    ),
    "notice.unreachable": _("The server does not respond. The page may be out of date; please try again."),
    "notice.refused": _("Nothing changed: {reason}"),
    "notice.failed": _("Nothing changed: the server answered {status}."),
    "notice.full": _(
        "Too many live pages are open, on this site or in your network. This one tries again in 30 seconds."
    ),
    "notice.gone": _("This lab was deleted. Its owner can restore it for a short time on the Labs page."),
    "notice.to_labs": _("Open Labs"),
    "stopped.title": _("This lab has stopped"),
    "stopped.more": _(
        "An internal error stopped it; this is its last state. A fresh copy starts with the same "
        "workload and lanes."
    ),
    "rules.older": _(
        "This lab was made under older rules and replayed under today's: its past may differ from what "
        "was seen then."
    ),
    "stopped.copy": _("Start a fresh copy"),
    "stopped.reason": _("What went wrong"),
    "stopped.unseen": _(
        "An error stopped it before there was anything to show. Its commands are kept; the other labs "
        "keep running."
    ),
    "stopped.to_labs": _("To the labs"),
    "fresh.stopped": _("stopped"),
    "notice.copied": _("Link copied."),
    "notice.copy_by_hand": _("Copy this link: {link}"),
    "notice.own_copy": _(
        "This lab belongs to someone else. You can watch it, or make your own copy and change that."
    ),
    "notice.make_copy": _("Make my own copy"),
    "notice.no_copy": _(
        "You are looking at the demo that all visitors share, without a copy of your own: {reason}."
    ),
    # An address where there is nothing
    "page.no_page": _("There is no page {id}"),
    "page.no_page_more": _("The link may be incomplete or misspelt."),
    "page.no_lab": _("There is no lab {id}"),
    "page.no_lab_more": _("Its owner may have deleted it, or the link is incomplete."),
    "page.no_lab_page": _("Lab {id} has no such page"),
    "page.no_lab_page_more": _(
        "The lab is there, but it has no lane of this name, or none that this page is about."
    ),
    "page.no_log": _("There is no opened log {id}"),
    "page.no_log_more": _("An uploaded log is kept for a day; or the link is incomplete."),
    "page.no_study": _("There is no study {id}"),
    "page.no_study_more": _("The study may have been deleted, or the link is incomplete."),
    # A request that cannot be served
    "page.busy": _("The server is busy"),
    "page.busy_more": _(
        "Its database cannot be reached right now. Nothing that was accepted is lost; please try again "
        "in a moment."
    ),
    "page.full": _("The server's disk is full"),
    "page.full_more": _(
        "Nothing new can be stored. What is there can still be read; please try again in a few minutes."
    ),
    "page.damaged": _("What is stored here cannot be read"),
    "page.damaged_more": _("Its row in the database is damaged. Everything else keeps working."),
    "page.foreign": _("This came from another site"),
    "page.foreign_more": _("Only pages of this site can change something here. Open it and try again there."),
    "page.broken": _("Something broke on our side"),
    "page.broken_more": _("Nothing that was accepted is lost. Please try again in a moment."),
    "page.to_stage": _("To the stage"),
    "page.to_labs": _("To the labs"),
    "page.to_analyze": _("To the studies"),
    "page.opening": _("The lab is being set up"),
    "page.opening_more": _("The worker has not responded yet. This page retries automatically."),
    "moment.opening": _("Opening the lab at {clock}, speed {speed}"),
    "moment.opening_more": _(
        "You get a copy of your own, paused at that moment. The original stays untouched."
    ),
    "moment.opened": _(
        "This is your own copy of the lab, paused at {clock}, speed {speed}. Press Play to go on. The "
        "original stays untouched."
    ),
    "past.back": _("One step back"),
    "past.behind": _("{span} before now"),
    "past.branch": _("An order given here starts a branch: a copy of the lab from this moment on"),
    "past.by": _("One step is"),
    "past.hash": _("State hash of this moment: the same moment always has the same"),
    "past.position": _("Records so far / place of the last command, where the state is known"),
    "past.now": _("Back to now"),
    "past.unit.change": _("a change"),
    "past.unit.event": _("an event"),
    "past.unit.message": _("a message on the wire"),
    "past.unit.record": _("a record"),
    "moment.copied": _("Link to what this page shows copied."),
    "moment.no_script": _("This needs JavaScript."),
    "moment.wrong": _("This link does not name a moment of the lab"),
    "moment.wrong_more": _("The link may be incomplete. The lab itself is still there."),
    "moment.as_it_is": _("Open the lab as it is now"),
}
