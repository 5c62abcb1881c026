"""Addresses of pages, the API and the health page."""

from django.urls import include, path, register_converter

from dashboard.views import (
    analyze,
    api,
    breaking,
    cluster,
    code,
    compare,
    event_lines,
    fidelity,
    groups,
    handout,
    health,
    labs,
    learn,
    log,
    openapi,
    past,
    places,
    pulsar,
    rabbitmq,
    robots,
    rooms,
    runs,
    settings,
    stage,
    tubemq,
)


class LabIdConverter:
    """What a lab id can look like; anything else is not our address."""

    regex = r"[A-Za-z0-9_-]{1,32}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(LabIdConverter, "lab_id")

urlpatterns = [
    path("", stage.stage, name="stage"),
    path("labs/", labs.labs, name="labs"),
    path("labs/new/", settings.new, name="lab-new"),
    path("lab/<lab_id:lab_id>/", stage.lab, name="lab"),
    path("lab/<lab_id:lab_id>/compare/", compare.of_lab, name="lab-compare"),
    path("lab/<lab_id:lab_id>/beside/<lab_id:other_id>/", compare.beside, name="lab-beside"),
    path("break/", breaking.shelf, name="break"),
    path("lab/<lab_id:lab_id>/break/", breaking.of_lab, name="lab-break"),
    path("compare/", compare.compare, name="compare"),
    path("learn/", learn.learn, name="learn"),
    path("learn/play/", learn.play, name="learn-play"),
    path("learn/own/", learn.own, name="learn-own"),
    path("learn/<slug:name>.toml", learn.file, name="learn-file"),
    path("learn/<slug:name>/", learn.lesson, name="learn-lesson"),
    path("learn/<slug:name>/print/", handout.handout, name="learn-print"),
    path("rooms/", rooms.rooms, name="rooms"),
    path("rooms/<str:code>/", rooms.room, name="room"),
    path("rooms/<str:code>/remote/", rooms.remote, name="room-remote"),
    path("rooms/<str:code>/take/", rooms.take, name="room-take"),
    path("analyze/", analyze.analyze, name="analyze"),
    path("analyze/compare/", analyze.compare, name="analyze-compare"),
    path("analyze/<lab_id:study_id>/", analyze.study, name="study"),
    path("lab/<lab_id:lab_id>/kafka/log", log.of_lab, name="log"),
    path("lab/<lab_id:lab_id>/kafka/log/", log.with_slash),
    path("lab/<lab_id:lab_id>/kafka/cluster/", cluster.of_lab, name="cluster"),
    path("lab/<lab_id:lab_id>/kafka/groups/", groups.of_lab, name="groups"),
    path("lab/<lab_id:lab_id>/pulsar/", pulsar.of_lab, name="pulsar"),
    path("lab/<lab_id:lab_id>/rabbitmq/", rabbitmq.of_lab, name="rabbitmq"),
    path("lab/<lab_id:lab_id>/settings/", settings.of_lab, name="lab-settings"),
    path("lab/<lab_id:lab_id>/code/", code.of_lab, name="code"),
    path("lab/<lab_id:lab_id>/tubemq/", tubemq.of_lab, name="tubemq"),
    path("fidelity/", fidelity.fidelity, name="fidelity"),
    path("log/<lab_id:log_id>/", log.of_log, name="log-opened"),
    path("healthz", health.healthz, name="healthz"),
    path("", include("dashboard.logs.urls")),
    path("api/studies/", include("dashboard.studies.urls")),
    path("api/rooms/", include("dashboard.rooms.urls")),
    path("api/places/", places.places, name="api-places"),
    path("robots.txt", robots.robots, name="robots"),
    path("api/", openapi.page, name="api"),
    path("api/openapi.json", openapi.openapi, name="api-document"),
    path("api/labs/", api.labs, name="api-labs"),
    path("api/labs/visit/", stage.visit, name="api-visit"),
    path("api/labs/open/", runs.open_run, name="api-open"),
    path("api/labs/check/", settings.check, name="api-check"),
    path("api/labs/<str:lab_id>/settings/", settings.changes, name="api-settings"),
    path("api/labs/<str:lab_id>/", api.lab, name="api-lab"),
    path("api/labs/<str:lab_id>/restore/", api.restore, name="api-restore"),
    path("api/labs/<str:lab_id>/commands/", api.commands, name="api-commands"),
    path("api/labs/<str:lab_id>/commands/<str:command_id>/", api.command, name="api-command"),
    path("api/labs/<str:lab_id>/snapshot/", api.snapshot, name="api-snapshot"),
    path("api/labs/<str:lab_id>/past/", past.past, name="api-past"),
    path("api/labs/<str:lab_id>/past/frames/", past.frames, name="api-past-frames"),
    path("api/labs/<str:lab_id>/marks/", past.marks, name="api-marks"),
    path("api/labs/<str:lab_id>/trial/", past.trial, name="api-trial"),
    path("api/labs/<str:lab_id>/passport/", past.passport, name="api-passport"),
    path("api/labs/<str:lab_id>/code/", past.code, name="api-code"),
    path("api/labs/<str:lab_id>/why/", past.why, name="api-why"),
    path("api/labs/<str:lab_id>/pulsar/key/", pulsar.key, name="api-lab-pulsar-key"),
    path("api/labs/<str:lab_id>/pulsar/ranges/", pulsar.ranges, name="api-lab-pulsar-ranges"),
    path("api/labs/<str:lab_id>/rabbitmq/try/", rabbitmq.tried, name="api-lab-rabbitmq-try"),
    path("api/labs/<str:lab_id>/rabbitmq/path/", rabbitmq.path, name="api-lab-rabbitmq-path"),
    path("api/labs/<str:lab_id>/rabbitmq/allowed/", rabbitmq.allowed, name="api-lab-rabbitmq-allowed"),
    path(
        "api/labs/<str:lab_id>/rabbitmq/definitions/",
        rabbitmq.definitions,
        name="api-lab-rabbitmq-definitions",
    ),
    path("api/labs/<str:lab_id>/fork/", api.fork, name="api-fork"),
    path("api/labs/<str:lab_id>/branches/", api.branches, name="api-branches"),
    path("api/labs/<str:lab_id>/kafka/comparison/<str:lane>/", api.comparison, name="api-comparison"),
    path("api/labs/<str:lab_id>/run.json", runs.run, name="api-run"),
    path("api/labs/<str:lab_id>/break/", breaking.search, name="api-break"),
    path("api/labs/<str:lab_id>/break/open/", breaking.found, name="api-break-open"),
    path("api/labs/<str:lab_id>/journal/", api.journal, name="api-journal"),
    path("api/labs/<str:lab_id>/events/", api.events, name="api-events"),
    path("api/labs/<str:lab_id>/events/search/", event_lines.event_search_of, name="api-event-search"),
    path("api/labs/<str:lab_id>/events.jsonl", event_lines.event_lines, name="api-event-lines"),
]
