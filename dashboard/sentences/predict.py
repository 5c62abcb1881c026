"""Words of what is asked about a change before it is made: who has a key, and a question with its answers."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

PREDICT = {
    "predict": _("Predict"),
    "predict.title": _("Say what the next change will do, then see whether it does"),
    "predict.change": _("The next change"),
    "predict.lane": _("In"),
    "predict.ask": pgettext_lazy("question", "Ask"),
    "change.join": _("a consumer joins"),
    "change.leave": _("{consumer} leaves"),
    "change.crash": _("{consumer} crashes"),
    "predict.partitions_moved": _(
        "{change}. How many of the {total} partitions will have another consumer once {lane} has come to rest?"
    ),
    "predict.keys_moved": _(
        "{change}. How many of the keys will have another consumer once {lane} has come to rest?"
    ),
    "predict.redelivered": _("{change}. How many messages will {lane} deliver a second time?"),
    "predict.pause_us": _(
        "{change}. For how long will a partition of {lane} have no reader, at the longest?"
    ),
    "predict.none": _("none"),
    "predict.all": _("all"),
    "predict.percent": _("{low} to {high} %"),
    "predict.count": _("{low}"),
    "predict.counts": _("{low} to {high}"),
    "predict.more_counts": _("{low} or more"),
    "predict.under": _("less than {high_us}"),
    "predict.times": _("{low_us} to {high_us}"),
    "predict.over": _("more than {low_us}"),
    "predict.truth.partitions_moved": _("{value} of {total} partitions"),
    "predict.truth.keys_moved": _("{value} % of the keys"),
    "predict.truth.redelivered": _("{value} {value?message|messages}"),
    "predict.truth.pause_us": _("{value_us}"),
    "predict.right": _("Right: {truth}."),
    "predict.wrong": _("No: {truth}."),
    "predict.told": _("The answer: {truth}."),
    "predict.rested": _(
        "A copy of this lab was given the change at {clock} and came to rest within {rest_us}."
    ),
    "predict.restless": _(
        "A copy of this lab was given the change at {clock} and had not come to rest after four minutes."
    ),
    "predict.standing": _("{count?One partition has|{count} partitions have} no reader then."),
    "predict.make": _("Make the change"),
    "marking": _("Mark it on the picture"),
    "marking.partition": _("Which of the {total} partitions will another consumer have? ({change})"),
    "marking.slot": _("Which slices will another consumer have? ({change})"),
    "marking.record": _("Which of the {total} messages that are out will come again? ({change})"),
    "marking.names": _("Press them, or type their numbers:"),
    "marking.marked": _("{count} marked."),
    "marking.show": _("Show the answer"),
    "marking.send": pgettext_lazy("marks", "Send"),
    "marking.end": _("Done"),
    "marking.told.partition": _("{right} right, {missed} missed, {wrong} wrong, of {all} that will move."),
    "marking.told.slot": _(
        "{right} right, {wrong} wrong; {all} {all?piece|pieces} will move, {missed} of them not marked."
    ),
    "marking.told.record": _("{right} right, {missed} missed, {wrong} wrong, of {all} that will come again."),
    "marking.none.partition": _("None will move; {wrong} marked for nothing."),
    "marking.none.slot": _("Nothing will move; {wrong} marked for nothing."),
    "marking.none.record": _("None will come again; {wrong} marked for nothing."),
    "predict.again": _("Another question"),
    "predict.working": _("A copy of the lab is being given the change"),
    "who.key": _("Who has key"),
    "who.when": _("and after"),
    "who.unchanged": _("no change"),
    "who.now": _("now {to}"),
    "who.after": _("then {to}"),
    "who.same": _("then the same"),
    "who.partition": _("{consumer}, partition {unit}"),
    "who.nobody": _("nobody"),
    "who.nobody_partition": _("nobody, partition {unit}"),
    "who.waits": _("{consumer}, but it waits"),
    "who.follow": _("Follow its newest record"),
    "way.open": _("Follow a record through all lanes"),
    "way.title": _("A record's way"),
    "way.record": _("Record"),
    "way.of_key": _("or newest of key"),
    "way.show": pgettext_lazy("record", "Show"),
    "way.line": _("Record {record} with key {key}, sent at {clock}, followed until {until}."),
    "way.working": _("The lab runs again from the moment when the record was sent"),
    "way.picture": _("When the record waited, who had it, and when it was done, by lane"),
    "way.partition": _("to partition {unit}"),
    "way.received": _("received by {consumer} after {after_us}"),
    "way.dropped": _("released by {consumer} after {after_us}"),
    "way.done": _("done by {consumer} after {after_us}"),
    "way.gone": _("a consumer that is gone"),
    "way.in_hand": _("not done yet"),
    "way.waits": _("still waits"),
    "way.switched": _("then the lane's rule was switched, and its history told again"),
    "who.no_owner": _("No consumer has a key: each message goes to whoever is next."),
}
