PYTHON ?= python3
BIN := .venv/bin
# What running takes, and what working on Towpath takes besides. Each adds to .venv and removes nothing, so that going back
# and forth between `make up` and `make test` installs everything once.
RUNS := .venv/.runs
STAMP := .venv/.installed
NODE := .venv/.node
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV := $(BIN)/uv --quiet --system-certs
LOCK := $(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-annotate \
  --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
# Node comes along in the environment, so that the UI can be built where there is none.
NPM := NODE_USE_SYSTEM_CA=1 PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web --silent --no-fund --no-audit
MODULES := web/node_modules/.installed
UI := src/towpath/server/ui/index.html
# One more than the two cores of a small machine: tests wait as often as they compute.
WORKERS ?= 3
# Images for containers often forbid it, and then every process compiles everything it imports anew: half of its start.
unexport PYTHONDONTWRITEBYTECODE
# Only what is said on the command line: shells have a HOST of their own.
given = $(if $(filter command,$(firstword $(origin $(1)))),--$(2) "$($(1))")

.DEFAULT_GOAL := help
.PHONY: help env install web up test slow check bench chaos format lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: $(RUNS) ## make .venv with what running takes: the locked dependencies and Towpath itself

install: $(STAMP) ## make .venv with what working on Towpath takes as well

web: $(UI) ## build the web UI

up: env web ## start Towpath on SQLite and print a link that opens it (PORT=8642 HOST=127.0.0.1 DATA=towpath-data)
	@echo "starting Towpath …"
	@$(BIN)/towpath up $(call given,PORT,port) $(call given,HOST,host) $(call given,DATA,data)

test: install web check ## everything a change must pass: checks, then all tests
	$(NPM) test
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

slow: install web ## the few tests that take minutes each
	$(BIN)/pytest -m slow

check: install $(MODULES) ## lint, formatting, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(NPM) run check

bench: install ## measure against the raw-SQL floor and other queues
	$(BIN)/python -m bench

chaos: install ## kill, pause and restart things for a long time
	$(BIN)/pytest -q tests/engine/test_killed_orders.py
	$(BIN)/python -m tests.chaos
	$(BIN)/python -m tests.products.fleet.storm

format: install ## fix what ruff can fix by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: install ## resolve the locked dependencies anew (UPGRADE=1 for newer versions)
	$(LOCK) pyproject.toml --extra all --group dev -o requirements.lock
	$(LOCK) pyproject.toml --extra all --group build -c requirements.lock -o requirements-run.lock
	$(LOCK) --group pyproject.toml:web -c requirements.lock -o requirements-web.lock
	echo uv | $(LOCK) --python-version 3.11 - -o requirements-uv.lock

clean: ## remove .venv and everything generated
	rm -rf .venv dist web/node_modules src/towpath/server/ui .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Towpath needs Python 3.11 or newer, and $(PYTHON) is older or missing: try make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "making .venv, where everything is installed …"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "$(PYTHON) cannot make an environment: install its venv module (apt-get install python3-venv), or name another Python with PYTHON="; exit 1; }

# uv installs in seconds; where it cannot be had or cannot reach its index, pip reads the same lock.
installed = { $(PIP) install --require-hashes -r requirements-uv.lock && \
	  $(UV) pip install --python $(BIN)/python --require-hashes -r $(1); } || \
	  $(PIP) install --require-hashes -r $(1)

$(RUNS): pyproject.toml requirements-run.lock requirements-uv.lock | $(BIN)/python
	@echo "installing what Towpath runs on, speech model included: about 450 MB, a minute or a few the first time …"
	@$(call installed,requirements-run.lock)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP): requirements.lock $(RUNS)
	@echo "installing what checks and tests take besides: about 450 MB more …"
	@$(call installed,requirements.lock)
	@touch $@ $(NODE)

$(NODE): requirements-web.lock | $(RUNS)
	@echo "installing Node, which builds the web UI: about 200 MB …"
	@$(call installed,requirements-web.lock)
	@touch $@

$(MODULES): web/package.json web/package-lock.json | $(NODE)
	@echo "fetching what the web UI is built with: about 200 MB …"
	@$(NPM) ci
	@touch $@

# What builds it is fetched only when there is something to build.
$(UI): web/package-lock.json web/index.html web/vite.config.ts $(shell find web/src web/public -type f 2>/dev/null)
	@$(MAKE) --no-print-directory $(MODULES)
	@echo "building the web UI: half a minute …"
	@$(NPM) run build
	@touch $@
