"""The site that serves Highwater: settings, addresses, the ASGI and Celery entrances."""

from mqsite.celery import app as celery_app

__all__ = ["celery_app"]
