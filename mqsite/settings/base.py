"""Settings that hold everywhere. What a person may change comes from the environment, under the names used
here.

HIGHWATER_RUN_DIR      folder for the database, the Redis socket, the secret key and logs (default <repository>/var)
HIGHWATER_SECRET_KEY   secret key (default: made once, kept in the run folder)
HIGHWATER_ALLOWED_HOSTS  names this site answers to, separated by commas
DATABASE_URL           PostgreSQL instead of SQLite: postgres://user:password@host/name
REDIS_URL              an outside Redis instead of the embedded one
HIGHWATER_TRUSTED_PROXIES  addresses or networks of proxies whose X-Forwarded-For tells the client's address, separated by commas (default none)
HIGHWATER_LABS_ADDRESS_MAX, HIGHWATER_SOCKETS_ADDRESS_MAX  what one network address may have (default 250, 600)
HIGHWATER_LABS_PARTS_ADDRESS_MAX, HIGHWATER_LABS_PARTS_MAX  what an address's labs, and all, may cost (default 800000, 2000000)
HIGHWATER_HOST_ID      what tells this supervisor from others that share its database and Redis (default: machine and run folder)
HIGHWATER_CLIENTS      1 or 0: whether labs may be open to real clients (default: where the site listens on loopback alone)
HIGHWATER_CLIENTS_HOST  the address where they listen (default 127.0.0.1)
HIGHWATER_CLIENTS_PORTS  a port or a range of them, as 5672-5680 (default any free one)
HIGHWATER_CLIENTS_LABS_MAX  labs that are open to clients at one time (default 8)
HIGHWATER_CLIENTS_CONNECTIONS_MAX, HIGHWATER_CLIENTS_BYTES_MAX  connections of one lab, bytes that each may send (default 32, 4 MiB)
LAB_SHARDS             how many shards, hence Celery tasks, the labs are spread over
HIGHWATER_UPLOAD_BYTES_MAX  the largest file that may be uploaded for a study (default 200 MB)
HIGHWATER_DATA_DIRS    folders of this machine whose files studies may read, separated by the system's path separator
HIGHWATER_LOG_DIRS     folders of this machine whose Kafka logs may be looked at and studied, separated by the system's path separator
SPARK_MASTER           Spark of the analysis worker: local[*] by default, local[2], local-cluster[...], spark://host:port
SPARK_REMOTE           a Spark Connect server instead: sc://host:port
SPARK_DRIVER_MEMORY    memory of the embedded Spark (default 4g)
SPARK_CONF             more settings of Spark, "spark.name=value" between blanks; one with blanks in quotes
"""

import os
from ipaddress import ip_network
from pathlib import Path

import dj_database_url
from django.utils.translation import gettext_lazy as _

from mqsite import addresses, host
from mqsite.host import host_id, past_queue, shard_queue, takes_clients
from mqsite.secret import secret_key
from mqsite.supervisor_checks import LOCK_NAME, client_ports

BASE_DIR = Path(__file__).resolve().parent.parent.parent
RUN_DIR = Path(os.environ.get("HIGHWATER_RUN_DIR") or BASE_DIR / "var").resolve()
HOST_ID = host_id(RUN_DIR)
SHARD_QUEUE, WIRE_SHARD = shard_queue, host.WIRE_SHARD
PAST_QUEUE = past_queue(HOST_ID)
SUPERVISOR_LOCK = RUN_DIR / LOCK_NAME
STATIC_ROOT = RUN_DIR / "static"
STATIC_ROOT.mkdir(
    parents=True, exist_ok=True
)  # the run folder with it; WhiteNoise wants to see it at its start

DEBUG = False
SECRET_KEY = secret_key(RUN_DIR)
LISTEN_HOST = os.environ.get("HOST", "127.0.0.1")
CLIENTS_ON = takes_clients(LISTEN_HOST)
CLIENTS_HOST = os.environ.get("HIGHWATER_CLIENTS_HOST") or "127.0.0.1"
CLIENTS_PORTS = client_ports(os.environ.get("HIGHWATER_CLIENTS_PORTS") or "")


def allowed_hosts() -> list[str]:
    """The names given, else this machine's; who listens on every interface cannot know its names, so any is
    taken."""
    if given := os.environ.get("HIGHWATER_ALLOWED_HOSTS"):
        return [name.strip() for name in given.split(",") if name.strip()]
    if LISTEN_HOST in {"0.0.0.0", "::"}:
        return ["*"]
    return sorted({"localhost", "127.0.0.1", "[::1]", LISTEN_HOST})


ALLOWED_HOSTS = allowed_hosts()

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "dashboard",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "mqsite.security.ContentSecurityPolicyMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "mqsite.security.OwnPagesMiddleware",
    "dashboard.older_links.OlderLinksMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "mqsite.urls"
ASGI_APPLICATION = "mqsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
            ],
        },
    }
]

# -- database: the truth -------------------------------------------------------------------------------------
# WAL lets readers pass the one writer; IMMEDIATE takes the write lock at BEGIN, where waiting for it is
# possible, instead of failing in the middle; with WAL, synchronous NORMAL loses nothing when a process is
# killed.
SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": RUN_DIR / "highwater.sqlite3",
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 5,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
}
DATABASES = {
    "default": dj_database_url.config(conn_max_age=60, conn_health_checks=True)
    if os.environ.get("DATABASE_URL")
    else SQLITE
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Redis: transport only -----------------------------------------------------------------------------------
REDIS_URL = addresses.redis_url(os.environ.get("REDIS_URL") or f"unix://{RUN_DIR / 'redis.sock'}")
REDIS_TIMEOUT_S = 0.2

# -- Celery --------------------------------------------------------------------------------------------------
CELERY_BROKER_URL = addresses.celery_url(REDIS_URL)
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 1, "socket_timeout": 5}

# -- limits --------------------------------------------------------------------------------------------------
LAB_SHARDS = int(os.environ.get("LAB_SHARDS", "2"))
# Quotas: of everybody, of one network address (sized for a classroom of forty behind one), of one owner,
# whose token is soon invented.
TRUSTED_PROXIES = [
    ip_network(text.strip(), strict=False)
    for text in os.environ.get("HIGHWATER_TRUSTED_PROXIES", "").split(",")
    if text.strip()
]
LABS_MAX = int(os.environ.get("HIGHWATER_LABS_MAX", "1000"))
LABS_ADDRESS_MAX = int(os.environ.get("HIGHWATER_LABS_ADDRESS_MAX", "250"))
COMPARISONS_ADDRESS_MAX = 40  # that wait or run: a classroom's, each pressing once
COMPARISONS_MAX = 80
COMPARISON_S_MAX = 60.0  # of a worker's time for one
CAPSULES_ADDRESS_MAX = 40  # that wait or are made: a classroom's
CAPSULES_MAX = 80
CAPSULE_S_MAX = 60.0  # of a worker's time for one
BREAKINGS_ADDRESS_MAX = 40  # searches that wait or run: a classroom's
BREAKINGS_MAX = 80
BREAKING_S_MAX = 120.0  # of a worker's time for one
BREAKING_TURN_S = 5.0  # then it goes to the end of the queue
LABS_PARTS_MAX = int(
    os.environ.get("HIGHWATER_LABS_PARTS_MAX", "2000000")
)  # parts of all labs together: broker_core/lab/size.py
LABS_PARTS_ADDRESS_MAX = int(os.environ.get("HIGHWATER_LABS_PARTS_ADDRESS_MAX", "800000"))
CLIENTS_LABS_MAX = int(os.environ.get("HIGHWATER_CLIENTS_LABS_MAX", "8"))
CLIENTS_CONNECTIONS_MAX = int(os.environ.get("HIGHWATER_CLIENTS_CONNECTIONS_MAX", "32"))
CLIENTS_ORDERS_MAX = 20_000  # of one lab's journal, beyond which it takes no client any more
CLIENTS_BYTES_MAX = int(os.environ.get("HIGHWATER_CLIENTS_BYTES_MAX", str(4 << 20)))
LABS_NEWCOMER = 2  # an address that has fewer may use the reserve, see dashboard/quotas.py
SOCKETS_MAX = int(os.environ.get("HIGHWATER_SOCKETS_MAX", "4000"))  # of one web process
SOCKETS_ADDRESS_MAX = int(os.environ.get("HIGHWATER_SOCKETS_ADDRESS_MAX", "600"))
SOCKETS_NEWCOMER = 4
CONSUMERS_PER_LANE_MAX = 512
RECORDS_PER_S_MAX = 5_000
COMMANDS_PENDING_MAX = 1_000  # commands of one lab that may wait for the worker
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024  # bytes of a request's body
SOCKET_MESSAGE_BYTES_MAX = 256  # the longest message a browser has to send is an acknowledgement
SOCKET_MESSAGES_PER_S = 40  # sustained; four times the frames there are to acknowledge
LAB_IDLE_PAUSE_S = float(
    os.environ.get("HIGHWATER_IDLE_PAUSE_S", "600")
)  # a lab nobody watches stops after this
LAB_UNDO_S = 30  # a deleted lab can be had back for this long, then it is gone
LAB_VISIT_KEEP_S = 24 * 3600  # a visitor's copy may make room for others after this long unwatched

# -- looking back --------------------------------------------------------------------------------------------
PAST_WAIT_S = 10.0  # how long a look at a lab's past may take with its turn in the queue
PAST_WAITING_MAX = 200  # looks that wait for their turn
PAST_LABS_KEPT, PAST_PARTS_KEPT = (
    6,
    160_000,
)  # labs in memory where somebody looks, and what they cost together

# -- studies -------------------------------------------------------------------------------------------------
SPARK_MASTER = os.environ.get("SPARK_MASTER") or "local[*]"
SPARK_REMOTE = os.environ.get("SPARK_REMOTE") or ""
SPARK_CLASSES = BASE_DIR / "var" / "java"
SPARK_DRIVER_MEMORY = os.environ.get("SPARK_DRIVER_MEMORY") or "4g"
SPARK_CONF = os.environ.get("SPARK_CONF") or ""
UPLOAD_BYTES_MAX = int(os.environ.get("HIGHWATER_UPLOAD_BYTES_MAX") or 200 * 10**6)
UPLOADS_OWNER_BYTES_MAX = 5 * UPLOAD_BYTES_MAX  # all files of one visitor or program
UPLOADS_TOTAL_BYTES_MAX = 50 * UPLOAD_BYTES_MAX  # all files of everybody
UPLOADS_ADDRESS_BYTES_MAX = 20 * UPLOAD_BYTES_MAX  # all files of one network address
UPLOADS_OWNER_MAX = 100
UPLOADS_ADDRESS_MAX = 1_000
UPLOADS_MAX = 5_000
UPLOADS_NEWCOMER = 10
UPLOAD_KEEP_S = 7 * 24 * 3600  # since it was last used
DISK_SPARE_BYTES = 256 * 2**20  # what an upload or a study must leave free for the database
DATA_DIRS = [
    Path(folder).expanduser()
    for folder in os.environ.get("HIGHWATER_DATA_DIRS", "").split(os.pathsep)
    if folder
]
STUDIES_WAITING_OWNER_MAX = 10  # studies of one owner that may be queued
STUDIES_WAITING_ADDRESS_MAX = 80
STUDIES_WAITING_MAX = 200
STUDIES_LIVE_ADDRESS_MAX = 3
STUDIES_LIVE_MAX = 4
STUDIES_OWNER_MAX = 200  # kept; the oldest finished one makes room
STUDIES_ADDRESS_MAX = 1_000  # so here
STUDIES_MAX = 4_000
STUDIES_NEWCOMER = 2
STUDY_KEEP_S = 30 * 24 * 3600  # a finished study, since it ended
STUDY_LEASE_S = 15.0  # a running study without a sign of life for this long has lost its worker
STUDY_LIVE_IDLE_S = 120.0  # a live study that nobody watches stops after this
STUDY_WINDOWS_MAX = 2_000  # windows of a live study that are kept

# -- Kafka logs ----------------------------------------------------------------------------------------------
LOG_DIRS = [
    Path(folder).expanduser()
    for folder in os.environ.get("HIGHWATER_LOG_DIRS", "").split(os.pathsep)
    if folder
]
LOG_UPLOAD_BYTES_MAX = 64 * 2**20  # all files of one upload together
BODY_BYTES_MAX = (
    max(UPLOAD_BYTES_MAX, LOG_UPLOAD_BYTES_MAX) + 2**20
)  # what any request may bring; each address has its own, smaller limit
BODIES_ADDRESS_BYTES_MAX = (
    10 * BODY_BYTES_MAX
)  # of requests that are on their way at one time, of one network address
BODIES_BYTES_MAX = 25 * BODY_BYTES_MAX  # and of everybody
LOG_UPLOADS_OWNER_MAX = 20  # uploads of one visitor or program that are kept
LOG_UPLOADS_ADDRESS_MAX = 120
LOG_UPLOADS_MAX = 200  # of everybody
LOG_UPLOADS_NEWCOMER = 2
LOG_KEEP_S = 24 * 3600  # an uploaded log, since it came
LAB_LOG_WATCHED_S = 10.0  # a lab's log is written while somebody asked for it this long ago
LAB_LOG_KEEP_S = 600.0  # and removed when nobody has for this long: the lab tells it again
LAB_LOGS_OPEN_MAX = 24  # partitions of labs that are written at one time

# -- pace ----------------------------------------------------------------------------------------------------
SHARD_TASK_S = float(
    os.environ.get("HIGHWATER_SHARD_TASK_S", "30")
)  # one Celery task drives a shard this long, then enqueues the next, or leaves it to a host with fewer
SHARD_CLOCK = os.environ.get("HIGHWATER_SHARD_CLOCK", "time.monotonic")  # stories in a browser move their own
SHARD_POLL_S = 0.2  # how often the database is asked when Redis does not wake the shard
LEASE_S = 2.0  # how long a lab stays its shard's without a sign of life
FRAME_INTERVAL_S = 0.1  # at most ten frames a second,
FRAME_INTERVAL_MAX_S = 0.4  # under load at least two
FEED_WINDOW = 20  # frames sent past the last acknowledgement
DEMO_PRE_RUN_US = 60_000_000  # virtual age of the demo lab when it is first seen

# -- language ------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# -- static files --------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "dashboard.finders.PackageFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# -- security ------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "default-src": "'self'",
    "img-src": "'self' data: blob:",  # blob: a chart saved as a picture
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
X_FRAME_OPTIONS = "DENY"
EMBED_ANCESTORS = os.environ.get(
    "HIGHWATER_EMBED_ANCESTORS", "*"
)  # which sites may show /embed/, as CSP's frame-ancestors has them; 'none': no site
SECURE_REFERRER_POLICY = "same-origin"
VISITOR_COOKIE = "highwater_visitor"
VISITOR_COOKIE_AGE_S = 365 * 24 * 3600
VISITOR_COOKIE_SECURE = False
CSRF_COOKIE_SAMESITE = "Lax"
SILENCED_SYSTEM_CHECKS: list[str] = []

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "filters": {"not_of_py4j": {"()": "mqsite.logs.NotOfPy4j"}},
    "root": {
        "handlers": ["stderr"],
        "filters": ["not_of_py4j"],
        "level": os.environ.get("HIGHWATER_LOG_LEVEL", "INFO"),
    },
    "loggers": {
        "django.request": {"level": "ERROR"},
        "daphne.http_protocol": {"level": "WARNING"},
        "django.channels.server": {"level": "WARNING"},
        "py4j": {
            "level": "CRITICAL"
        },  # it logs each connection that a lost Java takes along; the study says it once
    },
}
