"""/fidelity/: how many recorded answers of each product the core gives, and what is known to differ."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.fidelity.answers import products
from dashboard.page import base_context


@require_safe
def fidelity(request: HttpRequest) -> HttpResponse:
    """The page."""
    shown = products()
    total = {name: sum(each[name] for each in shown) for name in ("recorded", "met")}
    return render(
        request,
        "dashboard/fidelity.html",
        {**base_context(request, "fidelity"), "products": shown, "total": total},
    )
