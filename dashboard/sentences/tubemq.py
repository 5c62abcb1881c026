"""What pages say of the orders to a TubeMQ lane: captions, the timeline's ticks, turning points. Codes are the core's."""

from django.utils.translation import gettext_lazy as _

TUBEMQ_ORDERS = {
    "caption.tubemq_restart": _("{consumer} starts again with its own sourceCount or nodeId."),
    "caption.tubemq_assign": _("{consumer} is given its partitions by hand."),
    "caption.tubemq_call": _("A person calls {call} at {consumer}."),
    "caption.tubemq_hold": _("{consumer} handles its next batch and does not confirm it."),
    "caption.tubemq_confirm": _("{consumer} confirms the batches that it holds."),
    "caption.tubemq_offline": _("Broker {broker} goes offline."),
    "caption.tubemq_online": _("Broker {broker} is back, with its disk."),
    "caption.tubemq_accept": _(
        "Broker {broker} {accepts?accepts subscriptions of the topic again|accepts no subscriptions of the topic}."
    ),
    "caption.tubemq_black_list": _(
        "The group {listed?may not subscribe the topic: it is on the black list|may subscribe the topic again}."
    ),
    "caption.tubemq_expand": _("The topic has {count} partitions on broker {broker}."),
    "caption.tubemq_failover": _("The standby master takes over."),
    "caption.tubemq_master_offline": _("Master {master} goes offline."),
    "caption.tubemq_master_online": _("Master {master} starts again, as a standby."),
    "caption.tubemq_consume_from_max": _("The group consumes from the end."),
    "caption.tubemq_rule": _("The group is given {own?an assignment rule of its own|its lane’s rule again}."),
    "tick.tubemq_restart": _("{consumer} starts again"),
    "tick.tubemq_assign": _("{consumer} by hand"),
    "tick.tubemq_call": _("{call}"),
    "tick.tubemq_hold": _("{consumer} holds a batch"),
    "tick.tubemq_confirm": _("{consumer} confirms"),
    "tick.tubemq_offline": _("broker {broker} offline"),
    "tick.tubemq_online": _("broker {broker} back"),
    "tick.tubemq_accept": _("broker {broker} subscriptions"),
    "tick.tubemq_black_list": _("black list"),
    "tick.tubemq_expand": _("broker {broker} expanded"),
    "tick.tubemq_failover": _("master fails over"),
    "tick.tubemq_master_offline": _("master {master} offline"),
    "tick.tubemq_master_online": _("master {master} back"),
    "tick.tubemq_consume_from_max": _("from the end"),
    "tick.tubemq_rule": _("rule"),
    "event.tubemq.group.joined": _("The group now has {clients} {clients?client|clients}"),
    "event.tubemq.group.left": _("{consumer} left the group of {clients} {clients?client|clients}"),
    "event.tubemq.group.rule": _("The group has {own?a rule of its own|its lane’s rule again}"),
    "event.tubemq.group.dealt": _(
        "The operator dealt {partitions} {partitions?partition|partitions} to {members} "
        "{members?client|clients}; {moved} moved"
    ),
    "event.tubemq.group.uneven": _(
        "For {seconds} s most has been waiting for {consumer}, {waiting} messages now: the operator deals again"
    ),
    "event.tubemq.group.rule_failed": _("The group’s own rule failed: {reason}"),
    "event.tubemq.client.restarting": _(
        "{consumer} starts again with sourceCount {source_count} and nodeId {node_id}"
    ),
    "event.tubemq.client.given": _("A person chose the partitions of {consumer}"),
    "event.tubemq.client.called": _("A person calls {call} at {consumer}"),
    "event.tubemq.client.answered": _("{call} at {consumer} ended with code {code}"),
    "event.tubemq.client.returned": _("{call} at {consumer} has returned"),
    "event.tubemq.client.threw": _("{call} at {consumer} threw {exception}"),
    "event.tubemq.client.holding": _("{consumer} holds its next batch back"),
    "event.tubemq.client.confirming": _("{consumer} confirms what it holds back"),
    "event.tubemq.broker.offline": _("Broker {broker} went offline, with {partitions} partitions"),
    "event.tubemq.broker.online": _("Broker {broker} is online again"),
    "event.tubemq.broker.accepts": _("Broker {broker} accepts subscriptions of the topic"),
    "event.tubemq.broker.accepts_not": _("Broker {broker} accepts no subscriptions of the topic"),
    "event.tubemq.topic.black_listed": _("{topic} is on the black list of the group"),
    "event.tubemq.topic.allowed": _("{topic} is off the black list of the group"),
    "event.tubemq.topic.expanded": _("The topic has {partitions} partitions on broker {broker}"),
    "event.tubemq.group.from_max": _(
        "An operator has {clients} {clients?client|clients} consume from the end, each with its next heartbeat"
    ),
    "event.tubemq.client.from_max": _(
        "{consumer} registers its {partitions} {partitions?partition|partitions} again, at the end that it knows of"
    ),
    "event.tubemq.master.offline": _("{master} went offline: a standby that is up is elected after 5 s"),
    "event.tubemq.master.online": _("{master} has started again, as a standby"),
    "event.tubemq.master.failing_over": _("{master} is elected to be the active master"),
    "event.tubemq.master.took_over": _("{master} answers clients, as the active master"),
    "event.tubemq.master.stepped_down": _("{master} answers clients no more: it stands by"),
}
