"""Every address of the site."""

from django.urls import include, path

handler404 = "dashboard.views.missing.not_found"
handler500 = "dashboard.views.failed.failed"
urlpatterns = [path("", include("dashboard.urls"))]
