"""The Celery app. Queues: labs.<shard>.<host> (a task each drives a shard's labs), wire.<n>.<host> (so for labs that
real clients are at), past.<host> (looking at labs'
pasts), default, and analysis (studies, on Spark)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.dev")

app = Celery("highwater")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["dashboard.labs", "dashboard.studies", "dashboard.logs"])
