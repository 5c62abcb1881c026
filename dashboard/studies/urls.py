"""Addresses below /api/studies/."""

from django.urls import path

from dashboard.studies import api

urlpatterns = [
    path("", api.studies, name="api-studies"),
    path("uploads/", api.uploads, name="api-study-uploads"),
    path("folders/", api.folder, name="api-study-folders"),
    path("preview/", api.preview, name="api-study-preview"),
    path("strategies/", api.strategies, name="api-study-strategies"),
    path("history/", api.history, name="api-study-history"),
    path("<str:study_id>/", api.study, name="api-study"),
    path("<str:study_id>/cancel/", api.cancel, name="api-study-cancel"),
    path("<str:study_id>/result/", api.result, name="api-study-result"),
    path("<str:study_id>/ranking/", api.ranking, name="api-study-ranking"),
    path("<str:study_id>/windows/", api.windows, name="api-study-windows"),
    path("<str:study_id>/data/<str:table>.<str:file_format>", api.data, name="api-study-data"),
    path("<str:study_id>/open/", api.open_lab, name="api-study-open"),
]
