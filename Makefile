PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
UV := $(BIN)/uv --quiet --system-certs
LOCK := $(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-annotate \
  --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
# Node comes along in the environment, so that the UI can be built where there is none.
NPM := NODE_USE_SYSTEM_CA=1 PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web --silent --no-fund --no-audit
MODULES := web/node_modules/.installed
UI := src/towpath/server/ui/index.html
WORKERS ?= 2
# Only what is said on the command line: shells have a HOST of their own.
given = $(if $(filter command,$(firstword $(origin $(1)))),--$(2) "$($(1))")

.DEFAULT_GOAL := help
.PHONY: help install web up test slow check bench chaos format lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with the locked dependencies and Towpath itself

web: $(UI) ## build the web UI

up: install web ## start Towpath on SQLite and print a link that opens it (PORT=8642 HOST=127.0.0.1 DATA=towpath-data)
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
	$(BIN)/python -m tests.chaos

format: install ## fix what ruff can fix by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: install ## resolve the locked dependencies anew (UPGRADE=1 for newer versions)
	$(LOCK) pyproject.toml --extra all --group dev -o requirements.lock
	echo uv | $(LOCK) --python-version 3.11 - -o requirements-uv.lock

clean: ## remove .venv and everything generated
	rm -rf .venv dist web/node_modules src/towpath/server/ui .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Towpath needs Python 3.11 or newer, and $(PYTHON) is older or missing: try make install PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

# uv installs in seconds; where it cannot be had or cannot reach its index, pip reads the same lock.
$(STAMP): pyproject.toml requirements.lock requirements-uv.lock | $(BIN)/python
	$(PIP) install --require-hashes -r requirements-uv.lock && \
	  $(UV) pip sync --python $(BIN)/python --require-hashes requirements.lock || \
	  $(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(MODULES): web/package.json web/package-lock.json | $(STAMP)
	$(NPM) ci
	@touch $@

$(UI): $(MODULES) web/index.html web/vite.config.ts $(shell find web/src web/public -type f 2>/dev/null)
	$(NPM) run build
	@touch $@
