"""The dashboard: labs in the database, their web pages, their live feed and the tasks that drive them."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
