"""What an operator may ask the active master: which groups balance for themselves, and what each member of a group
holds, as the members reported it. The master keeps no assignment of its own, so the answer is as old as the reports.

Source: TubeMQ (InLong) WebAdminGroupCtrlHandler.adminQueryClientBalanceGroupSet, WebOtherInfoHandler
.getConsumeGroupDetailInfo. Left out: the other operator calls.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.tubemq import requests as r
from broker_core.tubemq.group import BOUND, CLIENT_REBALANCE, Group


def client_balance_groups(groups: Mapping[str, Group]) -> list[str]:
    """admin_query_client_balance_group_set."""
    return sorted(name for name, group in groups.items() if group.terms.kind == CLIENT_REBALANCE)


def group_detail(name: str, group: Group | None) -> r.ConsumeGroupDetail:
    """admin_query_consume_group_detail. A group that is not there is answered as one without members."""
    detail = r.ConsumeGroupDetail(name)
    if group is None:
        return detail
    terms, check = group.terms, group.check
    detail.kind, detail.topics, detail.filters = terms.kind, terms.topics[:], dict(terms.filters)
    detail.source_count = terms.source_count
    detail.check = [check.status, check.rate, check.clients_min]
    if terms.kind == BOUND:
        detail.is_not_allocated = not group.is_allocated
    if terms.kind == CLIENT_REBALANCE:
        detail.topic_meta_id, detail.topic_meta = group.topic_meta_id, group.topic_meta[:]
    detail.members = [
        r.MemberDetail(member.client_id, member.node_id, sorted(member.held))
        for _, member in sorted(group.members.items())
    ]
    return detail
