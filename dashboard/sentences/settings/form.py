"""The form of a lab's settings: labels, units, groups, and what it says of a lab that runs."""

from django.utils.translation import gettext_lazy as _

FORM = {
    "setting.lab.name": _("Name"),
    "setting.lab.name.about": _(
        "Without a name a lab is called after its workload and the time when it began."
    ),
    "setting.lab.seed": _("Seed"),
    "setting.lab.seed.about": _("The same seed and the same commands give the same run, to the microsecond."),
    "setting.lab.consumers": _("Consumers"),
    "setting.lab.consumers.about": _("How many join each lane at the start."),
    "setting.lab.consumer_rate": _("Speed of a consumer"),
    "setting.lab.consumer_rate.about": _("Records a second that one consumer handles."),
    "setting.lab.lanes": _("Lanes"),
    "setting.lab.lanes.about": _(
        "Each lane is a broker of its own that gets the same records. One model may have several lanes with different settings."
    ),
    "setting.workload.kind": _("Where records come from"),
    "setting.workload.kind.about": _(
        "Real flights, or made-up keys: all alike, a few favourites (Zipf), or one that is far too popular."
    ),
    "setting.workload.rate": _("Record rate"),
    "setting.workload.rate.about": _("Records that arrive each second, in every lane."),
    "setting.workload.key": _("Key"),
    "setting.workload.key.about": _("Which column of a flight decides where its record goes."),
    "setting.workload.keys": _("Number of keys"),
    "setting.workload.keys.about": _("How many different keys there are."),
    "setting.workload.exponent": _("Skew"),
    "setting.workload.exponent.about": _(
        "The exponent of Zipf’s law: 0 is even, above 1 a few keys have most records."
    ),
    "setting.workload.share": _("Share of the hot key"),
    "setting.workload.share.about": _("The part of all records that the one hot key has, from 0 to 1."),
    "setting.group.cluster": _("Cluster"),
    "setting.group.producer": _("Producer"),
    "setting.group.group": _("Consumers and their group"),
    "setting.group.log": _("Log"),
    "setting.group.subscription": _("Subscription"),
    "setting.group.acknowledgement": _("Acknowledgement and redelivery"),
    "setting.group.clients": _("Clients"),
    "setting.group.queue": _("Queue"),
    "setting.unit.ms": _("ms"),
    "setting.unit.us": _("µs"),
    "setting.unit.byte": _("bytes"),
    "setting.unit.percent": _("%"),
    "setting.unit.per_second": _("records/s"),
    "setting.unit.record": _("records"),
    "setting.unit.message": _("messages"),
    "setting.unit.minute": _("minutes"),
    "settings.new.title": _("New lab"),
    "settings.new.sub": _(
        "Six settings make a lab; the rest is behind the tabs, one for each lane. Whatever you leave alone has the value that is shown."
    ),
    "settings.new.make": _("Create the lab"),
    "settings.new.more": _("More settings"),
    "settings.new.settings_of": _("Settings of each lane"),
    "settings.new.add_lane": _("Add a lane"),
    "settings.new.remove_lane": _("Remove this lane"),
    "settings.new.default": _("default {value}"),
    "settings.new.range": _("{low} to {high}"),
    "settings.new.from_to": _("from {low}"),
    "settings.new.none": _("not set"),
    "settings.new.on": _("on"),
    "settings.new.parts": _("Costs {count} of {most} parts."),
    "settings.new.copy": _("Copy as"),
    "settings.new.copied": _("Copied. It makes exactly this lab."),
    "settings.new.by_hand": _("Copy this text:"),
    "settings.new.wrong": _(
        "{count?A setting is|{count} settings are} wrong: see {count?its field|the fields}."
    ),
    "settings.new.right": _("All settings are valid."),
    "settings.new.keys_kept": _("keys of a study"),
    "settings.new.commands": _("A program sends commands with the owner_token of the answer: the API."),
    "settings.panel.sub": _(
        "Change what you like. Some settings change at once by a command; the others need a new lab."
    ),
    "settings.panel.none": _("No change yet."),
    "settings.panel.now": _("{count?One command changes|{count} commands change} this lab now."),
    "settings.panel.rest": _("Needs a new lab: {fields}"),
    "settings.panel.apply": _("Apply now"),
    "settings.panel.open": _("Open a new lab with these"),
    "settings.panel.applied": _("Applied."),
    "settings.panel.others": _("This lab is not yours: open a new one with these settings."),
    "settings.panel.now_tag": _("changes at once"),
}
