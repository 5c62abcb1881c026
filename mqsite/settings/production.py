"""Settings behind TLS: everything is redirected to https, cookies travel only there. `manage.py check
--deploy` is clean."""

from mqsite.settings.base import *  # noqa: F403

SECURE_SSL_REDIRECT = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
LANGUAGE_COOKIE_SECURE = True
VISITOR_COOKIE_SECURE = True
