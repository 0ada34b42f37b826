# `make demo` and `make test` are the whole set-up; everything they need is made on the way.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
RELEASE := build/release
SITE := build/site
# Every command is a process of its own: without kept bytecode each would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test quick lint unit browser client coverage prove bench docs pages pictures site lock dist release-check clean help

help: ## what there is to run
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit("agent-sync needs Python 3.11 or newer; this is %d.%d. Try: make PYTHON=python3.12 $(firstword $(MAKECMDGOALS))" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'

$(VENV)/ready: requirements/installer.txt requirements/dev.txt
	@$(CHECK_PYTHON)
	@echo "setting up $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements/installer.txt
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEMO)/ready: requirements/demo.txt tools/install_demo.py
	@$(CHECK_PYTHON)
	@$(PYTHON) tools/install_demo.py $(DEMO)
	@touch $@

# What the tests have set up is enough for the demo; without it the demo installs half as much.
DEMO_READY := $(if $(wildcard $(VENV)/ready),$(VENV)/ready,$(DEMO)/ready)

demo: $(DEMO_READY) ## claim to close on a local GitHub, live: no token, no network
	@$(dir $(DEMO_READY))bin/python -m agent_sync demo

test: lint unit ## lint, types, layers, and every test (five minutes on two cores)

lint: $(VENV)/ready ## style, types, import layers, workflows, generated documents, names of changelog fragments
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --offline --no-progress --quiet .
	$(BIN)/python docs/generate.py --check
	$(BIN)/towncrier build --draft --version next >/dev/null

# Decisions, rules, formats and texts: values in, values out. What needs a clone, a server or a process is left out.
QUICK := task settings events plain \
  $(addprefix gates/test_, config.py definitions.py plan.py verdict.py) \
  $(addprefix leases/test_, any_content.py lease_rules.py) leases/test_lease_words.py \
  $(addprefix record/test_, advice.py canonical.py checkpoint.py hook_md_foreign_text.py record_machine.py \
    render.py slip10.py verification_text.py) \
  $(addprefix work/test_, any_hook_content.py hook_layout.py hook_states.py ledger_rows.py take_decision.py \
    worker_names.py worker_pages.py) \
  $(addprefix gateway/test_, endpoint.py policy.py) \
  test_masking.py test_masking_stream.py test_outbox.py

quick: $(VENV)/ready ## the tests of the pure parts (under 20 seconds on two cores)
	$(BIN)/python -m pytest -q -n 2 $(addprefix tests/, $(QUICK))

# The scenarios in the client take as long again: `make client` plays them.
unit: $(VENV)/ready
	$(BIN)/python -m pytest -n 4 --ignore tests/client

client: $(VENV)/ready ## scenarios in the unmodified Claude Code, installed below build/ (ten minutes on two cores)
	$(BIN)/python tests/client/installed_client.py
	AGENT_SYNC_PROVE=1 $(BIN)/python -m pytest -n 2 -p no:randomly --junitxml=build/client/results.xml tests/client
	$(BIN)/python tests/client/client_table.py build/client/results.xml

$(VENV)/browser: $(VENV)/ready requirements/browser.txt
	@$(PIP) install --require-hashes --no-deps -r requirements/browser.txt
	@touch $@

browser: $(VENV)/browser ## the pages in a real browser, with an accessibility check (needs Chromium; one minute)
	AGENT_SYNC_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -n 2 $(wildcard tests/*/test_*_in_a_browser.py)

coverage: $(VENV)/ready ## the same tests, with what they reach of every line and branch
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 4 --ignore tests/client
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90

# BUDGET=seconds cuts it, FAMILY and CASE repeat one thing, FRESH=1 forgets what was tried, WRITE=1 writes the table.
prove: $(VENV)/ready ## the long sweeps: every interruption point, faults, races, fuzzing, attacks, the real client (an hour; resumes)
	$(BIN)/python tests/client/installed_client.py
	PYTHONPATH=tests $(BIN)/python -m prove $(if $(BUDGET),--seconds $(BUDGET)) $(if $(FAMILY),--family '$(FAMILY)') \
	  $(if $(CASE),--case '$(CASE)') $(if $(FRESH),--fresh) $(if $(WRITE),--write)

bench: $(VENV)/ready ## one table of what everything costs, beside others (8 minutes on two quiet cores)
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/ready ## regenerate parts of docs/ and the JSON Schemas
	$(BIN)/python docs/generate.py

pages: $(VENV)/ready ## play the commands of the tutorial and the how-tos, and write what they print
	$(BIN)/python docs/play.py

pictures: $(VENV)/ready ## take the pictures of the fleet page in a real browser
	$(BIN)/python docs/fleet_picture.py

$(SITE)/ready: requirements/docs.txt
	@$(PYTHON) -m venv --clear $(SITE)
	@$(SITE)/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements/docs.txt
	@touch $@

site: $(SITE)/ready ## build docs/ into a site below build/site/html; a broken inner link fails
	$(SITE)/bin/python -m sphinx -W --keep-going -q docs $(SITE)/html

dist: $(VENV)/ready ## build the source distribution and the wheel
	rm -rf dist
	$(BIN)/python -m hatchling build

$(RELEASE)/ready: requirements/release.txt
	@$(PYTHON) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements/release.txt
	@touch $@

release-check: dist $(RELEASE)/ready ## play a release up to the upload, with an index on loopback (2 minutes)
	$(RELEASE)/bin/python tools/try_release.py dist

COMPILE := build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header

lock: ## resolve the dependencies again, with hashes
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --require-hashes -r requirements/lock.txt
	for name in installer lock release docs; do $(COMPILE) requirements/$$name.in -o requirements/$$name.txt; done
	$(COMPILE) --no-deps requirements/browser.in -o requirements/browser.txt
	$(COMPILE) --all-extras --group dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --extra emulator --constraints requirements/dev.txt pyproject.toml -o requirements/demo.txt
	$(COMPILE) --group action --constraints requirements/dev.txt pyproject.toml -o requirements/action.txt

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
