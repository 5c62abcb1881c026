"""The ASGI entrance: HTTP goes to Django, websockets to the live feed. Served by `daphne mqsite.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.dev")
django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (Django must be set up first)

from dashboard.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter({"http": django_application, "websocket": URLRouter(websocket_urlpatterns)})
