"""Words of a room: on the pages of a lab, and on the pages where one joins."""

from django.utils.translation import gettext_lazy as _

ROOM = {
    "room": _("Room"),
    "room.title": _("Let others follow this lab on their own screens"),
    "room.about": _(
        "Everybody who opens this address, or types this code, follows your page. They need no account."
    ),
    "room.code": _("Code of the room"),
    "room.qr": _("QR code of the address {url}"),
    "room.counts": _("{following} following, {looking} looking around, {gone} gone"),
    "room.recall": _("Call all back"),
    "room.recalled": _("All who looked around are called back."),
    "room.lock": _("Lock: everybody follows"),
    "room.unlock": _("Unlock: all may look around"),
    "room.point": _("Point at something"),
    "room.point_stop": _("Stop pointing"),
    "room.pointing": _("Press what all should look at."),
    "room.here": _("here"),
    "room.remote": _("Remote for a second device"),
    "room.hand_over": _("Hand over"),
    "room.remote_about": _(
        "Open this address on your phone: it has Next, Back and Pause. Do not show it to the room."
    ),
    "room.hand_over_about": _(
        "Whoever opens this address presents from then on, with a copy of this lab. It works once."
    ),
    "room.end": _("End the room"),
    "room.presenting": _("You present room {code}"),
    "room.follows": _("Follows the teacher"),
    "room.look": _("Look around"),
    "room.looking": _("You look around in a copy of your own"),
    "room.back": _("Back to the teacher"),
    "room.held": _(
        "You follow the teacher. To press something yourself, look around: you get a copy of your own."
    ),
    "room.locked": _("The teacher has locked the room: everybody follows now."),
    "room.lost": _("Connection to the room lost. Trying again."),
    "room.over": _("The room is over. This page stays as it is."),
    "room.leave": _("Leave the room"),
    "room.taken": _("Another presenter has taken over."),
    "room.ask": _("Ask the room"),
    "room.choose": _("What do you think? You can change your answer until the question is closed."),
    "room.chosen": _("Your answer is in. You can change it until the question is closed."),
    "room.lead": _("The room answers. The lab is paused until you make the change."),
    "room.lead_shown": _("The room answers. Then you show the truth."),
    "room.closed": _("The question is closed. The answer comes next."),
    "room.answered": _("{answered} of {of} have answered"),
    "room.marked": _("{who} {who?has|have} marked the picture"),
    "room.answer": _("{answer}: {count} {count?person|people}"),
    "room.bars_show": _("Show the answers"),
    "room.bars_hide": _("Hide the answers"),
    "room.close": _("Close the question"),
    "room.tell": _("Show the truth"),
    "room.away": _("Put away"),
    "room.fold": _("Fold the question"),
    "room.unfold": _("Open the question"),
    "room.keys": _("Room: open one, or show its code"),
}
JOIN = {
    "join.title": _("Join a room"),
    "join.sub": _("The presenter shows the code: six letters and digits."),
    "join.code": _("Code of the room"),
    "join.go": _("Go"),
    "join.about": _("You see what the presenter shows, on your own screen. You may look around at any time."),
    "join.name": _("Your name (you may leave it empty)"),
    "join.follow": _("Follow the teacher"),
    "join.yours": _("You present this room."),
    "join.present": _("Go on presenting"),
    "join.remote": _("Remote"),
    "join.remote_about": _("These buttons press those of the presenter’s page."),
    "join.next": _("Next"),
    "join.back": _("Back"),
    "join.pause": _("Pause or play"),
    "join.pressed": _("Pressed: {button}"),
    "join.take": _("Present this room"),
    "join.take_about": _("You get a copy of the lab as it is now, and everybody in the room follows you."),
}
