# Two commands do everything on a fresh machine: `make run` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash -o pipefail

PYTHON ?= python3
PORT ?= 8000
ADDRESS := 127.0.0.1
VENV := .venv/bin

# Packages come from the lock file and nowhere else; uv must not fetch a Python of its own.
export UV_PYTHON_DOWNLOADS = never
export UV_NO_PROGRESS ?= 1
# Where the machine keeps certificates, they count: a company's proxy is known there and nowhere else.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= 1
endif
UV = $(shell $(PYTHON) explorer/bootstrap.py)
SYNC = "$(UV)" sync --quiet --frozen --python $(PYTHON)

.PHONY: help
help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: .venv/core  ## install, load the case studies, open the app on loopback
	@mkdir -p -m 700 var
	@# Spark's packages are large: they are fetched behind the server, and the import page waits for them.
	@(nice -n 19 sh -c 'UV_COMPILE_BYTECODE=1 $(SYNC) --inexact --no-default-groups --group pipeline && \
	   $(VENV)/python -m groups.pipeline.class_archive' > var/pipeline-install.log 2>&1 || true) &
	@exec $(VENV)/python manage.py serve --port $(PORT)

.PHONY: install
install: .venv/all  ## install everything: the app, Spark, the tools for developing

.PHONY: test test-all test-rest
test: .venv/all  ## the quick tests: every real part is touched, in minutes
	@$(VENV)/python -m tests.parts quick $(if $(PART),--only $(PART))

test-all: .venv/all  ## every test: the quick ones, then the rest
	@$(VENV)/python -m tests.parts quick rest $(if $(PART),--only $(PART))

test-rest: .venv/all  ## what test-all runs beyond test; PART="history spark" takes some parts, here and above
	@$(VENV)/python -m tests.parts rest $(if $(PART),--only $(PART))

.PHONY: check
check: .venv/all  ## style, types, import contracts
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/lint-imports
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory check-js; \
	elif [ -n "$$REQUIRE_ALL" ]; then echo "npm is missing and REQUIRE_ALL is set"; exit 1; \
	else echo "SKIPPED check-js: npm is not installed"; fi

.PHONY: check-js
check-js: node_modules/.installed  ## types, rules and form of the browser's modules (needs Node)
	node_modules/.bin/tsc --project tsconfig.json
	node_modules/.bin/eslint --config tests/javascript/eslint.config.js static/js tests/javascript
	node_modules/.bin/prettier --check --log-level warn static/js tests/javascript

.PHONY: format
format: .venv/all  ## put the code into its one form
	$(VENV)/ruff format .
	$(VENV)/ruff check --fix .
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory format-js; fi

.PHONY: format-js
format-js: node_modules/.installed
	node_modules/.bin/prettier --write --log-level warn static/js tests/javascript

.PHONY: bench
bench: .venv/all  ## run the benchmarks and print their tables
	$(VENV)/python -m tests.benchmarks

.PHONY: demo
demo: .venv/all  ## a real broker with real consumers that rebalance, watched by the app (needs Java and Maven)
	@mkdir -p -m 700 var
	@exec $(VENV)/python -m tests.demo --port $(PORT)

.PHONY: team
team: .venv/all  ## a team's servers, workers, PostgreSQL, Redis and nginx with TLS on this machine, with an admin's account
	@exec $(VENV)/python -m tests.services.team --port $(or $(TEAM_PORT),8443)

.PHONY: releases
releases: .venv/all  ## the exchanges on a real broker of each release of Kafka, RELEASES="4.3.1 4.4.0", judged; goes on where it ended
	$(VENV)/python -m tests.broker.releases $(RELEASES)

MINUTES ?= 10
.PHONY: fuzz
fuzz: .venv/fuzz  ## hostile bytes for every decoder, for MINUTES=10 on every core
	$(VENV)/python -m tests.fuzz --minutes $(MINUTES)

ATTACK_MINUTES ?= 20
.PHONY: attack
attack: .venv/all  ## mixed hostile load on a server of its own, for ATTACK_MINUTES=20, on loopback alone
	$(VENV)/python -m tests.attack --minutes $(ATTACK_MINUTES)

CHAOS_MINUTES ?= 60
.PHONY: chaos
chaos: .venv/all  ## a team under load whose parts are killed, stopped and restarted at random, for CHAOS_MINUTES=60; then an audit
	$(VENV)/python -m tests.services.chaos --minutes $(CHAOS_MINUTES)

.PHONY: proof
proof: .venv/all  ## more of the same, for hours: twenty times the examples of each property, other ones each time; more changed recordings
	TIER=proof $(VENV)/python -m pytest tests/wire tests/history tests/simulations tests/pipeline tests/archiving
	$(VENV)/python -m tests.simulations.changed_leaves 1 "clients clients-slow-poll"
	$(VENV)/python -m tests.simulations.changed_leaves 12

SEEDS ?= 0-99999
.PHONY: fuzz-simulator
fuzz-simulator: .venv/all  ## random scenarios in both semantics, SEEDS=0-99999 on every core
	$(VENV)/python manage.py fuzz --seeds $(SEEDS) --master 'local[*]' --coverage

EACH ?= 5
.PHONY: mutants
mutants: .venv/all  ## small faults in the inner rooms, EACH=5 of each: are they noticed by the room's own tests?
	$(VENV)/python -m tests.mutants --each $(EACH)

.PHONY: pictures
pictures: .venv/all  ## take the docs' screenshots anew
	$(VENV)/python docs/pictures/make.py

.PHONY: dist
dist: .venv/all  ## a release in dist/: sdist, wheel, and the list of all its parts (CycloneDX); the same commit gives the same bytes
	$(VENV)/python -m tests.house.release

.PHONY: audit
audit: .venv/all  ## known vulnerabilities of the locked packages, by PyPI's and npm's advisories; what they do not answer of fails it
	"$(UV)" export --quiet --frozen --no-emit-project --all-groups --all-extras | \
	   "$(UV)" tool run --quiet pip-audit@2.10.1 --strict --disable-pip --requirement /dev/stdin
	npm audit --package-lock-only

.PHONY: clean
clean:  ## remove what make made; the database in var/ stays
	rm -rf .venv .tools node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Stamps: a package set is installed anew when the lock file changed.
.venv/core: uv.lock pyproject.toml
	@echo "Installing the locked packages into .venv …"
	@$(SYNC) --inexact --no-default-groups
	@touch $@

.venv/all: uv.lock pyproject.toml
	@echo "Installing the locked packages into .venv, Spark and the tools among them …"
	@UV_COMPILE_BYTECODE=1 $(SYNC)
	@touch .venv/core $@

.venv/fuzz: .venv/all
	@$(SYNC) --inexact --group fuzz
	@touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
