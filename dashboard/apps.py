"""The dashboard: labs in the database, their web pages, their live feed and the tasks that drive them."""

from django.apps import AppConfig

from broker_core.kafka.assignors import custom
from dashboard import database
from dashboard.assignors.runner import RUNNER


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        custom.use_runner(RUNNER.ask)
        database.prepare()
