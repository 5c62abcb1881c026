"""Every address of the site."""

from django.urls import include, path
from django.views.i18n import JavaScriptCatalog, set_language

handler404 = "dashboard.views.stage.not_found"
urlpatterns = [
    path("", include("dashboard.urls")),
    path("i18n/set-language/", set_language, name="set_language"),
    path("i18n/catalog.js", JavaScriptCatalog.as_view(), name="jsi18n"),
]
