"""Addresses of Kafka's logs: below /api/logs/, and those of a lab's log."""

from django.urls import path

from dashboard.logs import api

urlpatterns = [
    path("api/logs/", api.logs, name="api-logs"),
    path("api/logs/<str:log_id>/", api.of_log, name="api-log"),
    path("api/logs/<str:log_id>/clean/", api.clean_of_log, name="api-log-clean"),
    path("api/logs/<str:log_id>/<str:question>/", api.of_log, name="api-log-question"),
    path("api/labs/<str:lab_id>/kafka/log/", api.of_lab, name="api-lab-log"),
    path("api/labs/<str:lab_id>/kafka/log/clean/", api.clean_of_lab, name="api-lab-log-clean"),
    path("api/labs/<str:lab_id>/kafka/log/<str:question>/", api.of_lab, name="api-lab-log-question"),
]
