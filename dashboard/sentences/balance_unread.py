"""What the TubeMQ page says of why a partition is not read."""

from django.utils.translation import gettext_lazy as _

UNREAD = {
    "balance.unread.none": _("{key} is read, by {consumer}."),
    "balance.arithmetic": _("{hash} mod {count} = {node}, {consumer}."),
    "balance.arithmetic_nobody": _("{hash} mod {count} = {node}, nobody’s."),
    "balance.unread.left": _("That is in {left_us}."),
    "balance.unread.let_go": _("Master and brokers let go of it in {left_us}."),
    "balance.unread.broker_lets_go": _("The broker lets go of it in {left_us}."),
    "balance.unread.not_configured": _("{key} is not configured: no master knows it."),
    "balance.unread.broker_offline": _("Broker {broker} is offline."),
    "balance.offline_key.kept": _("By the rule {key} stays with its client, so no other one takes it."),
    "balance.offline_key.moved": _(
        "Over the subscribable set {key} is dealt to no client until the broker is back."
    ),
    "balance.offline_key.served": _("The master gives {key} to no client until the broker is back."),
    "balance.unread.no_subscribing": _("Broker {broker} takes no subscription of this topic."),
    "balance.unread.black_listed": _("The topic is blacklisted for this group."),
    "balance.unread.no_client": _("No client runs."),
    "balance.unread.count_off": _("The source count is not used, so the modulo rule gives {key} to nobody."),
    "balance.unread.not_given": _(
        "No client with the group’s source count, {group_count}, has node id {node}."
    ),
    "balance.unread.client_crashed": _(
        "{consumer} has crashed, and the rule keeps {key} for node id {node_id}: nobody replaces it."
    ),
    "balance.unread.client_crashed_dealt": _(
        "{consumer} has crashed, and the deal keeps {key} for it: no other client takes it."
    ),
    "balance.unread.client_gone": _("{consumer} has left, and the rule keeps {key} for node id {node_id}."),
    "balance.unread.client_gone_dealt": _(
        "{consumer} has left, and {key} is its until it is dealt out again."
    ),
    "balance.unread.client_starting": _("{consumer} is starting."),
    "balance.unread.not_dealt": _("The last deal gives {key} to no client."),
    "balance.unread.list_without": _(
        "By the rule it is {consumer}’s, which has a list by hand without {key}."
    ),
    "balance.unread.lists_without": _("Every client has a list by hand, and none of them names {key}."),
    "balance.unread.client_refused": _(
        "By the rule it is {consumer}’s, which is refused with {refused_code}: {why}."
    ),
    "balance.unread.counts": _(
        "{consumer} starts with source count {count}, and the group has {group_count}."
    ),
    "balance.unread.client_stopped": _("{consumer} has stopped."),
    "balance.unread.master_map": _(
        "The master’s map does not show the change before its next cycle, and {consumer} learns of it with the pass after."
    ),
    "balance.unread.cycle": _("The cycle is in {left_us}."),
    "balance.unread.old_map": _(
        "The map of {consumer} is older than the change: it learns of it with its next pass."
    ),
    "balance.unread.ghost": _(
        "{owner}’s dead process is registered at the broker until its 30 s run out, and {consumer} gets 410 until then."
    ),
    "balance.unread.occupied": _(
        "The broker still has {owner} as its owner and refuses {consumer} with 410."
    ),
    "balance.unread.next_cycle": _("No client has it: the master may give it to one in its next cycle."),
    "balance.unread.no_master": _(
        "No master is active, so no client is taken in, no map is renewed and nothing is given out."
    ),
    "balance.unread.loser_hears": _(
        "The master gives it to {consumer} once {loser} has reported its release, "
        "and {loser} hears of that with its next heartbeat."
    ),
    "balance.unread.loser_reports": _(
        "The master gives it to {consumer} once {loser} has reported its release, with its next heartbeat."
    ),
    "balance.unread.gainer_hears": _(
        "The master has planned it for {consumer}, which hears of it with its next heartbeat."
    ),
    "balance.unread.gainer_registers": _("{consumer} has heard that it is its own, and registers it."),
    "balance.unread.this_pass": _("{consumer} registers it in the pass that is under way."),
    "balance.unread.next_pass": _("{consumer} registers it with its next pass."),
    "balance.unread.paused": _("{consumer} has it and is paused."),
    "balance.unread.unconfirmed": _("{consumer} holds a batch of it that is not confirmed."),
    "balance.brief.not_configured": _("not configured"),
    "balance.brief.broker_offline": _("broker offline"),
    "balance.brief.no_subscribing": _("no subscription"),
    "balance.brief.black_listed": _("blacklisted"),
    "balance.brief.no_client": _("no client"),
    "balance.brief.count_off": _("no source count"),
    "balance.brief.not_given": _("no such node"),
    "balance.brief.not_dealt": _("not dealt"),
    "balance.brief.list_without": _("not on its list"),
    "balance.brief.lists_without": _("on no list"),
    "balance.brief.client_crashed": _("crashed"),
    "balance.brief.client_gone": _("left"),
    "balance.brief.client_starting": _("starts"),
    "balance.brief.client_refused": _("refused"),
    "balance.brief.client_stopped": _("stopped"),
    "balance.brief.master_map": _("next cycle"),
    "balance.brief.old_map": _("old map"),
    "balance.brief.ghost": _("dead process"),
    "balance.brief.occupied": _("still another’s"),
    "balance.brief.no_master": _("no active master"),
    "balance.brief.loser_hears": _("a release first"),
    "balance.brief.loser_reports": _("a report first"),
    "balance.brief.gainer_hears": _("next heartbeat"),
    "balance.brief.gainer_registers": _("registers it"),
    "balance.brief.next_cycle": _("next cycle"),
    "balance.brief.this_pass": _("registers now"),
    "balance.brief.next_pass": _("next pass"),
    "balance.brief.paused": _("paused"),
    "balance.brief.unconfirmed": _("unconfirmed"),
}
