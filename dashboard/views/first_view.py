"""What pages of a lab begin with: its last view, waited for where its worker has still to make it."""

import asyncio
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.labs import selectors, services
from dashboard.page import base_context

FIRST_VIEW_WAIT_S = 4.0
FIRST_VIEW_POLL_S = 0.05


async def first_view(lab_id: str) -> dict[str, Any] | None:
    """The lab's snapshot; None where it has stopped without one, or its worker takes longer than anybody
    waits.

    A lab at rest whose stored view is damaged is woken: its worker makes the view again.
    """
    deadline, is_woken = monotonic() + FIRST_VIEW_WAIT_S, False
    while (snapshot := await sync_to_async(selectors.lab_snapshot)(lab_id=lab_id)) is None:
        if monotonic() > deadline or await sync_to_async(selectors.lab_stopped)(lab_id=lab_id):
            return None
        if not is_woken:
            is_woken = True
            await sync_to_async(services.lab_watched)(lab_ids=[lab_id], wake=True)
        await asyncio.sleep(FIRST_VIEW_POLL_S)
    return snapshot


def no_view(request: HttpRequest, lab_id: str, item: str) -> HttpResponse:
    """The page in place of one of a lab without a view: why it stopped, or that it is being set up."""
    context = base_context(request, item)
    if reason := selectors.lab_stopped(lab_id=lab_id):
        return render(request, "dashboard/stopped.html", {**context, "reason": reason})
    return render(request, "dashboard/opening.html", context, status=503)
