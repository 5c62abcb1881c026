"""Every address of the site."""

from django.urls import include, path

handler404 = "dashboard.views.missing.not_found"
urlpatterns = [path("", include("dashboard.urls"))]
