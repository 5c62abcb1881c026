"""Kafka's log for pages and programs. Thin: find the partition, ask one question, answer JSON.

    GET  /api/labs/<id>/kafka/log/           the folder of ?topic=&partition=, under ?segment_bytes=...&retention_ms=
    GET  /api/labs/<id>/kafka/log/lookup/    ?offset=, or ?timestamp=&rule=kafka|document
    GET  /api/labs/<id>/kafka/log/batch/     ?segment=&position=
    GET  /api/labs/<id>/kafka/log/segment/   ?base=&from=&to=
    GET  /api/labs/<id>/kafka/log/file/      ?name=leader-epoch-checkpoint: a checkpoint file's text
    GET  /api/labs/<id>/kafka/log/clean/     what compaction would do now
         with ?broker= all of them are of that broker's replica; with ?until_us= (and ?until_position=) of then
    GET  /api/logs/<log id>/...              the same of an opened log
    GET  /api/logs/                          one's uploads, and the folders of this machine that may be looked at
    POST /api/logs/                          multipart `file` (several), `folder`: 201 {log, url}

Reading needs nothing. A request for a lab's log has it written.
"""

import asyncio
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from broker_core.events import Json
from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.logs import labs, opened, source
from dashboard.logs.places import server_folders
from dashboard.logs.source import Query, Source
from dashboard.logs.tasks import clean_soon, count_soon, write_soon
from dashboard.logs.uploads import IncomingFile, UploadHandler, upload_accept
from dashboard.serializers import json_response, refusal_response
from dashboard.threads import in_thread
from dashboard.views.api import api

Question = Callable[[Source, Query], Json]
QUESTIONS: dict[str, Question] = {
    "": lambda found, query: source.folder(found),
    "lookup": source.lookup,
    "batch": source.batch,
    "segment": source.stretch,
    "file": source.text_file,
}
CLEAN_WAIT_S = 2.0
CLEAN_POLL_S = 0.1


@api("GET")
def of_lab(request: HttpRequest, lab_id: str, question: str = "") -> HttpResponse:
    """A question about a lab's log."""
    query = request.GET.dict()
    response = _answer(question, lambda: labs.source_of(lab_id, query), query)
    write_soon()
    return response


@api("GET")
def of_log(request: HttpRequest, log_id: str, question: str = "") -> HttpResponse:
    """A question about an opened log."""
    query = request.GET.dict()
    response = _answer(question, lambda: opened.source_of(log_id, query), query)
    if question == "" and b'"reading":true' in response.content:
        count_soon(log_id)
    return response


@csrf_exempt
def logs(request: HttpRequest) -> HttpResponse:
    """Open a log, or list what can be opened."""
    handler = UploadHandler(request)
    if request.method == "POST":
        # Before anything reads the form, and the check of the CSRF token does: the files go to the disk while
        # they come.
        request.upload_handlers = [handler]
    try:
        return _logs(request)
    finally:
        handler.discard()


@api("GET", "POST")
def _logs(request: HttpRequest) -> HttpResponse:
    token = access.bearer_of(request) or access.visitor_of(request)
    if request.method == "GET":
        folders = [
            {"name": folder.name, "log": folder.log, "url": reverse("log-opened", args=[folder.log])}
            for folder in server_folders()
        ]
        return json_response({"folders": folders, "limits": {"bytes_max": settings.LOG_UPLOAD_BYTES_MAX}})
    if request.content_type != "multipart/form-data":
        raise Refused(415, {"body": _("must be multipart/form-data")})
    try:
        files = [file for file in request.FILES.getlist("file") if isinstance(file, IncomingFile)]
    except (MultiPartParserError, TooManyFilesSent) as error:
        raise Refused(400, {"body": _("must be multipart/form-data")}) from error
    if not files:
        raise Refused(400, {"file": _("choose a file")})
    owner_hash = access.token_hash(token) if token else ""
    log_id = upload_accept(
        files=files, folder=request.POST.get("folder", ""), owner_hash=owner_hash, address=address_of(request)
    )
    return json_response({"log": log_id, "url": reverse("log-opened", args=[log_id])}, 201)


async def clean_of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What compaction would do to a lab's table now: a worker says it."""
    return await _worked_out(request, lambda: (labs.clean_of(lab_id, request.GET.dict()), write_soon())[0])


async def clean_of_log(request: HttpRequest, log_id: str) -> HttpResponse:
    """What compaction would do to an opened log."""

    def find() -> Json | None:
        found = opened.clean_of(log_id)
        if found is None:
            clean_soon(log_id)
        return found

    return await _worked_out(request, find)


async def _worked_out(request: HttpRequest, find: Callable[[], Json | None]) -> HttpResponse:
    """The worker's answer, or {"log": null, "reason": "preparing"} when it takes longer than anybody
    waits."""
    try:
        if request.method != "GET":
            raise Refused(405, {"method": _("must be %(methods)s") % {"methods": "GET"}})
        for _attempt in range(int(CLEAN_WAIT_S / CLEAN_POLL_S)):
            if (answer := await in_thread(find)()) is not None:
                return json_response(source.exact(answer))
            await asyncio.sleep(CLEAN_POLL_S)
        return json_response({"log": None, "reason": "preparing"})
    except Refused as refused:
        return refusal_response(refused)


def _answer(question: str, find: Callable[[], Source], query: Query) -> HttpResponse:
    if question not in QUESTIONS:
        raise Refused(404, {"address": _("there is nothing here")})
    return json_response(source.exact(source.steady(lambda: QUESTIONS[question](find(), query))))
