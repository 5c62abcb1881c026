"""Addresses below /api/rooms/."""

from django.urls import path

from dashboard.rooms import api

urlpatterns = [
    path("", api.rooms, name="api-rooms"),
    path("<str:code>/", api.room, name="api-room"),
    path("<str:code>/seat/", api.seat, name="api-room-seat"),
    path("<str:code>/copy/", api.copy, name="api-room-copy"),
    path("<str:code>/links/", api.secret_links, name="api-room-links"),
    path("<str:code>/press/", api.press, name="api-room-press"),
    path("<str:code>/take/", api.take, name="api-room-take"),
    path("<str:code>/question/", api.question, name="api-room-question"),
    path("<str:code>/task/", api.task, name="api-room-task"),
    path("<str:code>/task/copy/", api.task_copy, name="api-room-task-copy"),
    path("<str:code>/answer/", api.answer, name="api-room-answer"),
]
