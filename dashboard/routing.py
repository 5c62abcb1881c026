"""Websocket addresses."""

from django.urls import re_path

from dashboard.consumers import LabConsumer, unknown_socket
from dashboard.rooms.consumers import RoomConsumer
from dashboard.studies.consumers import StudyConsumer

websocket_urlpatterns = [
    re_path(r"^ws/labs/(?P<lab_id>[A-Za-z0-9_-]{1,32})/$", LabConsumer.as_asgi()),
    re_path(r"^ws/studies/(?P<study_id>[A-Za-z0-9_-]{1,32})/$", StudyConsumer.as_asgi()),
    re_path(r"^ws/rooms/(?P<code>[A-Za-z0-9]{1,16})/$", RoomConsumer.as_asgi()),
    re_path(r"", unknown_socket),
]
