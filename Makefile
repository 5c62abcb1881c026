# make run     the whole product: http://127.0.0.1:8000/   (HOST=, PORT=, REDIS_URL=, DATABASE_URL=)
# make test    everything, in a real browser too           make check   what is quick
# make bench   the measured figures (bench-smoke: that they run)   make seed SEED=7   one simulated life again
# make simulate   200 labs; 2,000 clusters, consumer groups, Pulsar subscriptions, TubeMQ clusters and RabbitMQ brokers under faults; a million messages of Key_Shared; laws on new examples

# The newest Python that the locks are made for; another: make PYTHON=/path/to/python3.11
PYTHON ?= $(shell for p in python3.12 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' 2>/dev/null && echo $$p && exit; done; echo python3)
VENV := .venv/bin
export HOST PORT REDIS_URL DATABASE_URL
# Where the environment forbids keeping bytecode, each of the many processes would compile all sources anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := run
.PHONY: install install-dev run test lint check bench bench-smoke clients fidelity seed simulate lock browser node postgres

install:
	@$(PYTHON) -I mqsite/install.py

install-dev:
	@$(PYTHON) -I mqsite/install.py --dev

run: install
	@$(VENV)/python -m mqsite.supervisor

# The JavaScript's tests first and pytest last, so that its summary closes the output. On all cores runs what shares no clock with
# others, with one Spark, one site and one PostgreSQL for all who need it; then stories in three browsers on three sites, side by side; what is marked `alone`
# (tests/conftest.py) follows, one after another; nothing of the core is.
# The simulations try other lives at each commit: 15 of each kind, or SEEDS; what is marked `long` (a minute of real processes) is
# left to `make simulate`. Each part ends with what every folder took.
test: lint node browser postgres
	node --test tests/js/*.test.mjs tests/js/*/*.test.mjs
	HIGHWATER_SEEDS=$(or $(SEEDS),15) $(VENV)/python -m pytest -n auto --dist loadgroup -q --folders -m "not alone and not story and not long"
	$(VENV)/python -m pytest -n 2 --dist loadfile -q --folders -m "story and not alone and not slow" tests/browser
	$(VENV)/python -m pytest -q --folders -m alone --ignore=tests/core

lint: install-dev
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-logo

check: lint
	$(VENV)/python -m pytest -n auto -q -m "not slow" tests/core tests/scenarios tests/test_architecture.py

bench: install-dev
	@$(VENV)/python -m tests.bench

# Also part of `make test` and, where they take long, of `make simulate` (tests/test_bench.py): that no bench dies.
bench-smoke: install-dev
	@$(VENV)/python -m tests.bench --smoke

# The suites of pika, py-amqp, kombu, aiormq and aio-pika against `highwater serve`: half an hour, and not part of `make test`, for they are fetched
# from PyPI. pika's are not there: HIGHWATER_PIKA=FOLDER names its source. Some alone: make clients SUITES="kombu py-amqp".
clients: install-dev
	@$(VENV)/python -m tests.clients $(SUITES)

# What the page /fidelity/ says: how many recorded answers of the real systems the core gives.
fidelity: install-dev
	@$(VENV)/python -m broker_core.conformance tests/vectors --results dashboard/fidelity/results.json

seed: install-dev
	@test -n "$(SEED)" || { echo "Which seed? make seed SEED=7" >&2; exit 2; }
	SEED=$(SEED) $(VENV)/python -m pytest -q $(or $(TESTS),tests/simulation)

# Whole labs (at most 200); Kafka clusters under faults, 500 steps each, and consumer groups on them; Pulsar's subscriptions, and a million messages through
# Key_Shared; TubeMQ; RabbitMQ; a million frames of any kind at its server, and 200 runs of real clients again; then the core's laws on other examples than those of `make test`, what is
# marked `long`, and the frames of all lessons in a browser, of which `make test` opens the first six.
simulate: install-dev
	HIGHWATER_SEEDS=$(or $(SEEDS),2000) HIGHWATER_PULSAR_MESSAGES=$(or $(MESSAGES),1000000) \
	$(VENV)/python -m pytest -n auto -q tests/simulation/test_seeds.py tests/simulation/test_cluster_seeds.py tests/simulation/test_retention_seeds.py tests/simulation/test_compaction_seeds.py tests/simulation/test_group_seeds.py \
	tests/simulation/test_subscription_seeds.py tests/simulation/test_tubemq_seeds.py tests/simulation/test_rabbit_seeds.py tests/simulation/test_frame_seeds.py tests/simulation/test_client_seeds.py tests/simulation/test_key_shared_laws.py
	HIGHWATER_NEW_EXAMPLES=1 $(VENV)/python -m pytest -n auto -q tests/core
	$(VENV)/python -m pytest -n auto --dist loadgroup -q -m long tests
	$(VENV)/python -m pytest -n 2 -q -m "story and slow" tests/browser

# Needs uv. No index addresses in the files: whoever installs uses the index of their own machine.
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml --all-extras -o requirements-dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml --extra site --extra spark -c requirements-dev.lock -o requirements.lock

node:
	@command -v node >/dev/null 2>&1 || { echo "The JavaScript tests need Node 20 or newer; on Debian or Ubuntu: apt-get install nodejs" >&2; exit 1; }

browser:
	@command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null; \
	else \
		echo "The browser tests need Chromium; on Debian or Ubuntu: sudo apt-get install chromium" >&2; exit 1; \
	fi

# Where it cannot be installed here, its tests are skipped with this reason.
postgres:
	@command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || \
	{ [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql >/dev/null; } || \
	echo "The tests on PostgreSQL are skipped without it; on Debian or Ubuntu: sudo apt-get install postgresql" >&2
