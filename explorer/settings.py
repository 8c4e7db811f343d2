"""Django's settings. A fresh clone needs none of the environment's; docs/reference/settings.md describes each."""

from explorer.server import environment, openid_environment, static_version
from groups.places import ROOT, data_folder

VAR = environment.folder("REBALANCE_VAR", data_folder())
"""What the program keeps: the database, its secret, uploads, collected static files. Never in git."""

DEBUG = environment.flag("DEBUG", default=False)
SECRET_KEY = environment.secret("SECRET_KEY", VAR / "secret-key")

CLUSTERS_KEY = environment.secret("CLUSTERS_KEY", VAR / "clusters-key")
"""What the passwords and keys of clusters are encrypted with where they are stored."""

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", ",".join(LOOPBACK))

# -- who may ask (explorer.access): loopback is reached by every account of the machine and by every page in a browser
REQUIRE_TOKEN = environment.flag("REQUIRE_TOKEN", default=True)
ACCESS_TOKEN = environment.secret("ACCESS_TOKEN", VAR / "token", random_bytes=32)
ACCESS_TOKEN_PLACE = environment.place_of_secret("ACCESS_TOKEN", VAR / "token")
LOGIN = environment.login("LOGIN")
"""How people of a team sign in, each with an account of their own; empty: local mode, in which the token opens everything."""
ACCESS_START = ""
"""What ``serve`` draws at its start, so that its cookies end with it. Processes that stand side by side have none."""

LINKS_ONLY = False
"""Whether nothing is answered but what share links lead to: ``serve --links-only``."""

BEHIND_TLS = environment.flag("BEHIND_TLS", default=False)
"""Whether the proxy in front speaks TLS: then it is believed which scheme was asked, and cookies go over TLS alone."""
HSTS_S = environment.whole("HSTS_S", 365 * 24 * 3600, least=0, most=10 * 365 * 24 * 3600)
CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None

# -- sessions of a team's people (explorer.accounts); a cookie of this name is set by no page without TLS, and by no other host
SESSION_COOKIE_NAME = f"{'__Host-' if BEHIND_TLS else ''}rebalance-session"
SESSION_COOKIE_SECURE = BEHIND_TLS
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
TOKEN_REQUESTS_A_MINUTE = environment.whole("TOKEN_REQUESTS_A_MINUTE", 3_000, least=10, most=1_000_000)
SESSION_COOKIE_AGE = environment.whole("SESSION_IDLE_MINUTES", 12 * 60, least=5, most=30 * 24 * 60) * 60
SESSION_MOST_S = environment.whole("SESSION_HOURS", 7 * 24, least=1, most=90 * 24) * 3600
"""How long a session lasts without a request, and in all."""
TRUSTED_PROXIES = environment.proxies("TRUSTED_PROXIES")
"""Connections whose ``X-Forwarded-For`` is believed: networks, and ``unix`` for the server's own Unix socket."""
PROXY_USER_HEADER = environment.user_header("PROXY_USER_HEADER", LOGIN, TRUSTED_PROXIES)
"""The header in which a trusted proxy names who has signed in there; its account is made when it is first seen, as a viewer."""
OIDC = openid_environment.openid(LOGIN)
"""The OpenID Connect provider where people sign in, and what its groups may do."""
AUTHENTICATION_BACKENDS = [
    # A session of a way that LOGIN no longer has is none.
    *([] if OIDC and "password" not in LOGIN else ["django.contrib.auth.backends.ModelBackend"]),
    *(["explorer.accounts.openid.Backend"] if OIDC else []),
]
AUDIT_KEEP_DAYS = environment.whole("AUDIT_KEEP_DAYS", 365, least=1, most=3650)
"""How long the audit log is kept: a year has every yearly review's questions in it, at some hundred bytes an entry."""
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

DATABASES = {"default": environment.database("DATABASE_URL", VAR / "rebalance-explorer.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.admin",
    "django.contrib.staticfiles",
    "channels",
    "groups",
    "simulations",
    "explorer",
    "explorer.accounts",
    "explorer.pages.account",
    "explorer.pages.home",
    "explorer.pages.board",
    "explorer.pages.compare",
    "explorer.pages.imports",
    "explorer.pages.inspector",
    "explorer.pages.laboratory",
    "explorer.pages.runs",
    "explorer.sharing",
    "explorer.pages.sweeps",
    "explorer.pages.clusters",
    "explorer.pages.timelines",
]

MIDDLEWARE = [
    "explorer.server.requests.noting_requests",
    "explorer.server.staticfiles.StaticFilesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "explorer.pages.imports.receiving.forgetting_uploads",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "explorer.server.csrf.PagesAndPrograms",
    "explorer.server.signed_in.SignedIn",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "explorer.urls"
ASGI_APPLICATION = "explorer.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "explorer.web.templates.PageTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,  # the admin's
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "explorer.accounts.pages.refused_actions",
            ]
        },
    },
]

# Stored times are UTC; the browser shows them where its reader lives.
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

# -- static files: hashed names that a browser may keep for good; no build step, nothing from a CDN
STATIC_URL = "/static/"
STATIC_ROOT = static_version.versioned(VAR / "static", ROOT / "static", with_admin=bool(LOGIN))
# WhiteNoise warns about a folder that is not there, which it is not before the first start.
for folder in (STATIC_ROOT.parent, STATIC_ROOT):
    folder.mkdir(mode=0o700, exist_ok=True)
STATICFILES_DIRS = [ROOT / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "explorer.server.staticfiles.PlotlyFinder",
    *(["django.contrib.staticfiles.finders.AppDirectoriesFinder"] if LOGIN else []),
]
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "explorer.server.staticfiles.HashedStorage"
    },
}

# -- the task queue and the channel layer: within this process, or Redis where REDIS_URL is set
REDIS_URL = environment.redis("REDIS_URL")

CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_BROKER_TRANSPORT = "explorer.server.redis_transport:Transport" if REDIS_URL else None
CELERY_BROKER_TRANSPORT_OPTIONS = (
    # A task that is not acknowledged within this time is delivered again; the lease keeps it harmless.
    {"visibility_timeout": 3600}
    if REDIS_URL
    # The transport's default of 1 s would let a click wait up to a second; 0.02 s costs 0.5 % of a core.
    else {"polling_interval": 0.02}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker waits for Redis as long as it is away, and goes on with what it has meanwhile.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ROUTES = (
    "explorer.server.queues.route",
    {
        "simulations.run": {"queue": "runs"},
        "simulations.sweep": {"queue": "imports"},
        "simulations.remedies": {"queue": "imports"},
        "simulations.proof": {"queue": "imports"},
        "groups.refold": {"queue": "runs"},
    },
)
CELERY_TASK_DEFAULT_QUEUE = "runs"
# A worker takes a task when it has a free place for it, so that the others can take what waits.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # A feed asks Redis to answer within 5 s, if only that there is nothing; redis-py's own patience is 5 s, too, so
        # that every quiet feed broke off.
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 15}],
            "capacity": 1000,
            "expiry": 60,
        },
    }
    if REDIS_URL
    else {"BACKEND": "explorer.server.layers.ThreadSafeInMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
}

# -- bounds that an installation may want to move; the fixed ones are next to the code that they bound
RUNS_WAITING_MOST = environment.whole("RUNS_WAITING_MOST", 20, least=1, most=1000)
"""Runs that may wait or run at once: with more, a newcomer would wait minutes behind them without knowing."""

RUN_BYTES_MOST = environment.whole("RUN_BYTES_MOST", 512 * 1024**2, least=1024**2, most=2**50)
"""Bytes of one run, its changes and moments among them: a scenario of a few KB can make gigabytes."""

RUNS_BYTES_MOST = environment.whole("RUNS_BYTES_MOST", 20 * 1024**3, least=1024**2, most=2**50)
"""Bytes of all runs together, those that wait counted as large as a run may be: what is admitted has room."""

RUNS_KEEP_DAYS = environment.whole("RUNS_KEEP_DAYS", 0, least=0, most=3650)
IMPORTS_KEEP_DAYS = environment.whole("IMPORTS_KEEP_DAYS", 0, least=0, most=3650)
UPLOADS_KEEP_DAYS = environment.whole("UPLOADS_KEEP_DAYS", 7, least=1, most=3650)
"""How long runs, imports that have ended, and files that were uploaded are kept; 0: until somebody deletes them."""

WORKER_THREADS = environment.whole("WORKER_THREADS", 4, least=1, most=64)
"""Tasks at once in the embedded worker: each has a child process, so more than the cores only share them."""

# Where the entries of imported logs stand: a folder that web and workers share, or a URL (hdfs://, s3://) that Arrow reads.
STORE_URL = environment.text("STORE_URL", str(VAR / "store"))

UPLOAD_FOLDER = environment.text("UPLOAD_FOLDER", "")
"""Where uploaded files stand until their import has ended; ``imports`` in ``REBALANCE_VAR`` where it is not set."""

FILE_RIGHTS = environment.choice("FILE_RIGHTS", "OWNER", of=("OWNER", "GROUP")).lower()
"""Who may read uploads and the store next to the account that writes them."""

SPARK_MASTER = environment.text("SPARK_MASTER", "")
"""Where imports and sweeps run that name no master: this machine, or a cluster by its master's URL."""

# Places that a page or the API may import from: folders of this machine, s3://bucket/prefix, hdfs://…
IMPORT_PREFIXES = environment.words("IMPORT_PREFIXES", "")
IMPORT_ENGINE = environment.choice("IMPORT_ENGINE", "AUTO", of=("AUTO", "LOCAL", "SPARK")).lower()
"""What reads logs: Spark, or this machine's processes without it; ``auto`` chooses by size."""

WATCH_CLUSTERS = environment.flag("WATCH_CLUSTERS", default=True)
"""Whether this server watches clusters, each in a child process; else `manage.py watch` does."""

LIVE_KEEP_DAYS = environment.whole("LIVE_KEEP_DAYS", 7, least=1, most=3650)
LIVE_ENTRIES_MOST = environment.whole("LIVE_ENTRIES_MOST", 20_000, least=100, most=10**7)
"""How long recorded timelines of live groups are kept, and how many entries one has before the next begins."""

WEBHOOK_NETWORKS = environment.networks("WEBHOOK_NETWORKS")
"""Networks that the webhooks of alerts may reach next to public addresses."""

globals().update(environment.mail_server("MAIL_URL", "MAIL_FROM"))
"""``EMAIL_…``: the mail server by which alerts reach people; none where ``EMAIL_HOST`` is empty."""

PUBLIC_URL = environment.address("PUBLIC_URL")
"""Where users reach this server: what the links in messages begin with."""

UPLOAD_BYTES_MOST = environment.whole("UPLOAD_BYTES_MOST", 2 * 1024**3, least=1024, most=2**50)
"""Bytes of one import's uploaded files: they are kept on the server's disk until the import is over."""

DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
"""Bytes of a request's body outside of files: a scenario is a page of text, not a book."""

DATA_UPLOAD_MAX_NUMBER_FIELDS = 2100
"""Fields of a form: an upload has one for the path of each of its files."""

FILE_UPLOAD_HANDLERS = ["explorer.pages.imports.receiving.Keeping"]
FILE_UPLOAD_PERMISSIONS = 0o600
"""What is kept is the server's alone; the static files are collected with these rights, too."""

DATA_UPLOAD_MAX_NUMBER_FILES = 2000
"""Files of one upload: a broker's offsets topic has 50 partitions of a few segments each."""

# -- code that is trusted like the program's own
ASSIGNOR_FILES = environment.words("ASSIGNOR_FILES", "")
"""Python files with client-side assignors: they are run, so nothing but this and a command line may name one."""

# -- the browser's own defences
X_FRAME_OPTIONS = "DENY"
# `check --deploy` looks for Django's own class, which ours extends (W003). Behind TLS the gate sends the header of HSTS with
# every answer, also those that never reach Django (W004), and the proxy alone is reached from elsewhere (W008).
SILENCED_SYSTEM_CHECKS = ["security.W003", *(["security.W004", "security.W008"] if BEHIND_TLS else [])]
CSRF_FAILURE_VIEW = "explorer.web.endpoint.csrf_failure"
CSRF_COOKIE_SAMESITE = "Strict"
# Behind a proxy that speaks TLS, our own pages come from https while the server hears http.
CSRF_TRUSTED_ORIGINS = [
    f"https://{host.replace('.', '*.', 1) if host.startswith('.') else host}"
    for host in ALLOWED_HOSTS
    if host not in (*LOOPBACK, "*")
]
SECURE_REFERRER_POLICY = "same-origin"

LOG_LEVEL = environment.choice("LOG_LEVEL", "WARNING", of=("DEBUG", "INFO", "WARNING", "ERROR"))
LOG_FORMAT = environment.choice("LOG_FORMAT", "TEXT", of=("TEXT", "JSON")).lower()
"""Whether log lines are text for a reader, or JSON objects for a log store."""

OTEL_EXPORTER_OTLP_ENDPOINT = environment.address("OTEL_EXPORTER_OTLP_ENDPOINT")
"""Where spans of requests and tasks are sent; empty for nowhere."""

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "explorer.sharing.logs.WithoutTokens",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "explorer.server.json_lines.JsonLines"},
    },
    "filters": {"refusals": {"()": "explorer.server.refusal_lines.WithoutExpectedTracebacks"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "filters": ["refusals"],
            "formatter": "json" if LOG_FORMAT == "json" else "line",
        },
        # For the status page.
        "last": {"()": "explorer.server.status.last_lines.LastLines"},
    },
    "root": {"handlers": ["stderr", "last"], "level": LOG_LEVEL},
    # A mistyped address or scenario is reported to its sender: no line for each in the server's log.
    "loggers": {
        "django.request": {"level": "ERROR" if LOG_LEVEL == "WARNING" else LOG_LEVEL},
        "django.security": {"level": LOG_LEVEL if LOG_LEVEL in ("DEBUG", "INFO") else "CRITICAL"},
    },
}
