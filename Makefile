# One page for everything one can do here. `make help` lists it.
#
# One environment, `.venv`. `make env` puts the runtime packages and the package itself there;
# `make test` adds the test tools. The package is installed as a user has it, from a wheel and
# compiled, and not as a link to src/: packaging mistakes (a template left out) and start-up time
# (a .pyc that is not there) then show in the tests. pytest still imports src/ first, so the same
# run checks the tree and the installed command; the `fairlead` fixture refuses a stale install.
#
# Steps are remembered by stamp files, so that a second `make env` does nothing.

PYTHON ?=
MINUTES ?= 10
TREES ?= 100
# Test processes at once: more than processors, because many tests wait for children and disks.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n + (n + 1) / 2)))
# Neighbours run in the same worker, so that the fixtures of a module or folder are made once.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
# More arguments for pytest: make unit ARGS='-k frontmatter -x'
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
BACKEND := $(VENV)/build-backend
# -qq: pip's warnings are about a machine's settings; its errors are still shown.
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -qq
# The folders are named too, so that a deleted file is noticed.
SOURCES := $(shell find src -name __pycache__ -prune -o \( -type f -o -type d \) -print)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help env test-env fuzz-env demo test walks unit long lint format docs site bench prove conformance pins dist check-install clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

env: $(STAMPS)/package ## make .venv with the runtime packages and the command .venv/bin/fairlead

test-env: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/models $(STAMPS)/mcp $(STAMPS)/web $(STAMPS)/board $(STAMPS)/cluster ## the same, with the test tools

fuzz-env: test-env $(STAMPS)/fuzz

demo: env ## a goal becomes merged commits on a sample project, with the installed command
	@$(BIN)/fairlead demo
	@command -v fairlead >/dev/null || echo 'To type these commands here: export PATH="$(abspath $(BIN)):$$PATH"'

test: test-env ## lint and every quick test; skips are counted
	@tools/system-parts
	@# Side by side: mypy alone would leave the other processors idle. Its messages come at the end.
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & \
	lint=$$!; failed=0; \
	$(PYTEST) $(ARGS) || failed=1; \
	wait $$lint || failed=1; \
	cat $(VENV)/lint.log; \
	exit $$failed

walks: test-env ## the tests with real agent programs, and the whole way from an idea to a milestone
	@tools/system-parts
	$(PYTEST) --walks $(ARGS)

unit: test-env ## the quick tests alone
	$(PYTEST) $(ARGS)

long: test-env ## the quick tests with every case of every sweep, and the long tests
	@tools/system-parts
	$(PYTEST) --long $(ARGS)

lint: test-env ## ruff, mypy strict, import-linter, sizes, generated pages in step
	@# mypy takes as long as all the others together, so it runs beside them.
	@$(BIN)/mypy src tests tools $(sort $(dir $(wildcard bench/*.py prove/*.py conformance/*.py))) & \
	mypy=$$!; failed=0; \
	$(BIN)/python tools/sizes.py || failed=1; \
	$(BIN)/ruff check . || failed=1; \
	$(BIN)/ruff format --check . || failed=1; \
	PYTHONPATH=src $(BIN)/lint-imports --no-logo || failed=1; \
	PYTHONPATH=src $(BIN)/python tools/reference.py --check || failed=1; \
	PYTHONPATH=src:. $(BIN)/python tools/pictures.py --check || failed=1; \
	PYTHONPATH=src $(BIN)/python tools/plugins.py --check || failed=1; \
	PYTHONPATH=src $(BIN)/python tools/shared_files.py --check || failed=1; \
	PYTHONPATH=src:. $(BIN)/python -m tests.attacks.page --check || failed=1; \
	$(BIN)/python tools/links.py || failed=1; \
	wait $$mypy || failed=1; \
	exit $$failed

format: test-env ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: test-env ## write docs/reference, docs/pictures, plugins and share from the code
	PYTHONPATH=src $(BIN)/python tools/reference.py
	PYTHONPATH=src:. $(BIN)/python tools/pictures.py
	PYTHONPATH=src $(BIN)/python tools/plugins.py
	PYTHONPATH=src $(BIN)/python tools/shared_files.py
	PYTHONPATH=src:. $(BIN)/python -m tests.attacks.page

site: $(STAMPS)/site ## build the documentation site into site/; broken links are errors
	@NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --strict --quiet
	$(BIN)/python tools/links.py --site site

bench: test-env ## measure the installed command, and how plans are put in order
	@# All, also when one has missed a goal.
	PYTHONPATH=src $(BIN)/python -m bench; missed=$$?; \
	PYTHONPATH=src $(BIN)/python -m bench.execution || missed=1; \
	PYTHONPATH=src:. $(BIN)/python -m bench.board || missed=1; \
	PYTHONPATH=src $(BIN)/python -m bench.cluster && exit $$missed

prove: fuzz-env ## the long tier, seeded and resumable: make prove MINUTES=30
	@tools/system-parts
	$(BIN)/python -m prove --minutes $(MINUTES)

conformance: test-env ## the reference tool beside ours on the same trees: make conformance TREES=2000
	PYTHONPATH=src $(BIN)/python -m conformance --trees $(TREES)

pins: $(STAMPS)/release ## resolve requirements/*.in anew
	cd requirements && for name in runtime test models mcp web board cluster cluster-dev build fuzz release site; do \
	    ../$(VENV)/release/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	        --generate-hashes --no-emit-index-url --no-header $$name.in --output-file $$name.txt \
	        || exit 1; \
	done

dist: $(STAMPS)/backend ## build wheel and source archive into dist/
	rm -rf dist
	PYTHONPATH=$(abspath $(BACKEND)) $(BIN)/python -m hatchling build -d dist

check-install: dist $(STAMPS)/release ## install both with pip, uv tool, pipx and uvx in scratch folders, and use them
	tools/check-install $(abspath $(VENV)/release/bin) $(abspath $(BIN)/python) dist

clean: ## remove what these commands made
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests tools bench prove conformance -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The environment, step by step.

# A failed step leaves no half environment behind that the next run would trust.
$(STAMPS)/venv:
	@python=$$(tools/find-python "$(PYTHON)") || exit 1; \
	echo "making $(VENV) with $$("$$python" --version)"; \
	rm -rf $(VENV); \
	"$$python" -m venv $(VENV) || { \
	    rm -rf $(VENV); \
	    echo "$$python cannot make environments; on Debian: apt-get install python3-venv" >&2; \
	    exit 1; }
	@# Python 3.11 adds setuptools, which runs code at every start of the interpreter.
	@$(BIN)/python -m pip --disable-pip-version-check uninstall -qq -y setuptools 2>/dev/null || true
	@mkdir -p $(STAMPS) && touch $@

# --compile writes the .pyc files even where PYTHONDONTWRITEBYTECODE is set.
$(STAMPS)/runtime: requirements/runtime.txt $(STAMPS)/venv
	$(PIP) --compile --require-hashes -r requirements/runtime.txt
	@touch $@

# The build backend stays beside the environment, so that `make env` holds runtime packages only
# and the build, too, is held to the hashes.
$(STAMPS)/backend: requirements/build.txt $(STAMPS)/venv
	@rm -rf $(BACKEND)
	$(PIP) --require-hashes --target $(BACKEND) -r requirements/build.txt
	@touch $@

# The stamp carries the time of the start: a file saved during the build is built the next time.
$(STAMPS)/package: $(SOURCES) $(wildcard share/*/*/*) pyproject.toml README.md LICENSE $(STAMPS)/runtime $(STAMPS)/backend
	@touch $@.started
	PYTHONPATH=$(abspath $(BACKEND)) $(PIP) --compile --no-build-isolation --no-deps --force-reinstall .
	@mv $@.started $@

$(STAMPS)/test: requirements/test.txt $(STAMPS)/runtime
	$(PIP) --compile --require-hashes -r requirements/test.txt
	@touch $@

$(STAMPS)/models: requirements/models.txt $(STAMPS)/test
	$(PIP) --compile --require-hashes -r requirements/models.txt
	@touch $@

$(STAMPS)/mcp: requirements/mcp.txt $(STAMPS)/models
	$(PIP) --compile --require-hashes -r requirements/mcp.txt
	@touch $@

$(STAMPS)/web: requirements/web.txt $(STAMPS)/mcp
	$(PIP) --compile --require-hashes -r requirements/web.txt
	@touch $@

$(STAMPS)/board: requirements/board.txt $(STAMPS)/web
	$(PIP) --compile --require-hashes -r requirements/board.txt
	@touch $@

# The development server is a program of its own, for tests, walks and figures with a real server.
$(STAMPS)/cluster: requirements/cluster.txt requirements/cluster-dev.txt $(STAMPS)/board
	$(PIP) --compile --require-hashes -r requirements/cluster.txt
	$(PIP) --require-hashes -r requirements/cluster-dev.txt
	@touch $@

$(STAMPS)/fuzz: requirements/fuzz.txt $(STAMPS)/test
	$(PIP) --require-hashes -r requirements/fuzz.txt || echo "no atheris here: fuzzing is left out"
	@touch $@

$(STAMPS)/release: requirements/release.txt $(STAMPS)/venv
	$(BIN)/python -m venv $(VENV)/release
	$(VENV)/release/bin/python -m pip --disable-pip-version-check install -qq --require-hashes \
	    -r requirements/release.txt
	@touch $@

$(STAMPS)/site: requirements/site.txt $(STAMPS)/venv
	$(BIN)/python -m venv $(VENV)/site
	$(VENV)/site/bin/python -m pip --disable-pip-version-check install -qq --require-hashes \
	    -r requirements/site.txt
	@touch $@
