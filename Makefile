# make run and make test set up everything they need: a virtual environment, locked
# dependencies and, when the server starts, its own database. See README.md.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV_VERSION := 0.13.8
CYCLONEDX_VERSION := 7.5.0
PIP_AUDIT_VERSION := 2.10.1

# Compiled modules are kept, whatever the shell says: a process that compiles them all starts seconds later.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-ci test-long faults test-postgres release-database licences bases sbom audit wheel-test coverage mutate fuzz lint format bench lock clean

help:
	@echo "make run       start plumbline on http://127.0.0.1:8000 with its examples; PLUMBLINE_* settings apply"
	@echo "make test      run the tests; PLUMBLINE_TEST_DATABASE_URL chooses a Postgres other than the embedded one"
	@echo "make test-fast run the tests that need no database and little time"
	@echo "make test-ci   run those with servers, browsers and clusters of their own, and those that judge waiting"
	@echo "make test-long simulations, a thousand publications, faults and mutants: before an issue is closed"
	@echo "make faults    kill, stop and fill real servers and disks for twelve minutes; FAULTS_N says how many submissions"
	@echo "make test-postgres PROGRAMS=/usr/lib/postgresql/18/bin runs what asks the database, and a storm, on that Postgres"
	@echo "make release-database NAME=0.1.0 keeps a small database of this version, which every later one must upgrade"
	@echo "make fuzz      ten minutes of made-up submissions; FUZZ_S says how many seconds"
	@echo "make wheel-test install the wheel into an empty environment and walk one row through it"
	@echo "make bases     pin the images that ours stands on to what their tags name now; asks a registry, with skopeo"
	@echo "make licences  write the licences of all that is shipped, and fail for one that may not be"
	@echo "make sbom      write a CycloneDX bill of materials of the locks; make audit looks for known vulnerabilities"
	@echo "make coverage  hold the branch coverage of the pure rooms to its gate"
	@echo "make mutate    change the code a little, 500 times, and see whether a test notices"
	@echo "make lint      check formatting, lint and types; make format mends what it can"
	@echo "make bench     measure speed against the peers"
	@echo "make lock      compile the lock files anew; UPGRADE=--upgrade takes the newest versions"
	@echo "make clean     remove the virtual environment and the caches, never the database"

# exec: Ctrl-C and kill reach plumbline itself, not a shell around it.
run: $(VENV)/.runtime
	@PLUMBLINE_DEMO="$${PLUMBLINE_DEMO-1}" exec $(BIN)/plumbline serve

# A file's tests stay together: several share a server. In the order of the files, the longest do not come last. Each
# process has a Postgres of its own, so not too many.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Those with servers of their own wait for them half of the time.
WAITING := $(subst logical,3,$(PYTEST))

HERE := not processes and not peers and not alone and not slow and not wheel
PURE := not database and $(HERE)

# What no test of the pure rooms decides, branch by branch. The gate is what was measured, rounded down.
COVERED := 90
GATE = --cov --cov-report=term --cov-fail-under=$(COVERED)

# What needs no database, and what comes in at the door of one app.
test: $(VENV)/.development
	$(PYTEST) -m "$(HERE)" $(ARGS)

test-fast: $(VENV)/.development
	$(PYTEST) -m "$(PURE) and not heavy" $(ARGS)

# Last and one by one the tests that judge how long something takes.
test-ci: $(VENV)/.development
	$(WAITING) -m "(processes or peers) and not alone and not slow and not wheel" $(ARGS) || [ $$? -eq 5 ]
	$(BIN)/python -m pytest -m "alone and not slow" $(ARGS) || [ $$? -eq 5 ]

coverage: $(VENV)/.development
	$(PYTEST) -m "$(PURE)" $(GATE) $(ARGS)

mutate: $(VENV)/.development
	$(BIN)/python -m tests.mutation $(ARGS)

# Mutants of a sample that no test has seen: the seed is the day.
test-long: $(VENV)/.development
	$(MAKE) coverage
	$(PYTEST) -m "slow and not alone"
	$(BIN)/python -m pytest -m "slow and alone"
	$(MAKE) faults
	$(MAKE) fuzz
	$(MAKE) mutate ARGS="--number 60 --seed $$(date +%Y%m%d) --at-least 0.9"

# Real servers while everything is killed, stopped and filled. As root the disks are small file systems of their own.
faults: $(VENV)/.development
	$(BIN)/python -m pytest -m faults tests/faults $(ARGS)

# On a Postgres of any version: make test-postgres PROGRAMS=/usr/lib/postgresql/18/bin. What is said to the database, and a
# storm of kills on it with so many submissions.
ON_POSTGRES := tests/db tests/store tests/jobs tests/receiving tests/web/test_health.py tests/test_walkthrough.py

test-postgres: $(VENV)/.development
	$(BIN)/python -m tests.cases.own_postgres $(PROGRAMS) $(PYTEST) -m "not slow and not wheel" $(ON_POSTGRES) $(ARGS)
	FAULTS_PROGRAMS=$(PROGRAMS) FAULTS_N=$${FAULTS_N-100} $(BIN)/python -m pytest -m faults tests/faults/test_storm.py $(ARGS)

# Of the commit that is checked out, which the tests then have serve while its database is upgraded.
release-database: $(VENV)/.development
	rm -rf tests/data/releases/$(NAME)
	$(BIN)/python -m tests.cases.release_database $(NAME)

# Ten minutes of made-up submissions of every kind, FUZZ_S in all. Plain asserts: to report a failure Hypothesis imports
# what Python 3.11 cannot compile there once pytest has rewritten it, and the failure would be lost.
fuzz: $(VENV)/.development
	HYPOTHESIS_PROFILE=fuzz FUZZ_S=$${FUZZ_S-600} $(BIN)/python -m pytest --assert=plain tests/jobs/test_property_publication.py $(ARGS)

wheel-test: $(VENV)/.development
	$(PYTEST) -m wheel tests/test_wheel.py tests/client $(ARGS)

# Debian's skopeo asks without an engine. REGISTRY may name a mirror.
REGISTRY := docker.io/library
SKOPEO := skopeo inspect --no-tags --format {{.Digest}}
STOOD_ON := (FROM|image:) (python|postgres):[^@ ]+

bases:
	@for image in $$(grep -ohE '$(STOOD_ON)' Dockerfile docker-compose.yml | cut -d' ' -f2 | sort -u); do \
	  digest=$$($(SKOPEO) docker://$(REGISTRY)/$$image) || exit; \
	  sed -i -E "s,((FROM|image:) $$image)(@[^ ]+)?,\1@$$digest," Dockerfile docker-compose.yml; \
	  echo "$$image@$$digest"; \
	done

licences: $(VENV)/.development
	$(BIN)/python bench/licences.py build/licences.txt requirements.lock

# The bill of materials is made of the lock, so that it is the same on every machine.
sbom: licences $(VENV)/supply-tools/bin/cyclonedx-py
	$(VENV)/supply-tools/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-format JSON \
	  --output-file build/sbom.cdx.json requirements.lock
	$(BIN)/python -m bench.bill build/sbom.cdx.json

# Fails when the database of vulnerabilities is out of reach, so a landing does not wait for it: CI of a release runs it.
audit: $(VENV)/supply-tools/bin/cyclonedx-py
	$(VENV)/supply-tools/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock $(ARGS)

CSS := $(BIN)/css-beautify --indent-size 2 --end-with-newline

lint: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/djlint --check --quiet templates
	$(CSS) static/plumbline.css | diff static/plumbline.css -

format: $(VENV)/.development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djlint --reformat --quiet templates
	$(CSS) --replace static/plumbline.css

bench: $(VENV)/.development
	$(BIN)/python -m bench $(ARGS)

# The compiler of the locks lives in an environment of its own: nothing else needs it.
lock: $(VENV)/lock-tools/bin/uv
	$(call compile,requirements.lock,--extra build --extra otel)
	$(call compile,requirements-dev.lock,--extra build --extra dev --constraint requirements.lock)

# One version of a package for every Python, so that all of them compute with the same numpy.
compile = UV_NO_CONFIG=1 $(VENV)/lock-tools/bin/uv pip compile pyproject.toml $(2) --quiet --universal \
	--python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-emit-index-url \
	--no-emit-find-links $(UPGRADE) --output-file $(1)

$(VENV)/supply-tools/bin/cyclonedx-py: | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/supply-tools
	$(VENV)/supply-tools/bin/python -m pip --disable-pip-version-check --quiet install \
	  cyclonedx-bom==$(CYCLONEDX_VERSION) pip-audit==$(PIP_AUDIT_VERSION)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# PYTHON=... overrides the search. The name alone proves nothing: a version manager's shim may not work.
$(BIN)/python:
	@set -e; \
	for candidate in $(PYTHON) $(if $(PYTHON),,python3.13 python3.12 python3.11 python3 python); do \
	  if "$$candidate" -c 'import sys; sys.exit(not (3, 11, 7) <= sys.version_info[:3] < (3, 14))' 2>/dev/null; then \
	    found=$$candidate; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "plumbline needs Python 3.11 (from 3.11.7), 3.12 or 3.13$(if $(PYTHON),; $(PYTHON) is none of them,; none of python3.13 python3.12 python3.11 python3 python is one)." >&2; \
	  echo "Name one: make run PYTHON=/path/to/python3.12" >&2; \
	  exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv --clear $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "$$found could not make a virtual environment (on Debian: apt-get install python3-venv)." >&2; \
	  exit 1; \
	}

# The locks name everything. Resolving them again failed when a package that another asks for with an extra was released.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies"
	@$(PIP) install --no-deps --require-hashes --requirement requirements.lock
	@$(PIP) uninstall --quiet --yes plumbline  # This package's name before its first release; it would declare all twice.
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.development: requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies, with those of development"
	@$(PIP) install --no-deps --require-hashes --requirement requirements-dev.lock
	@$(PIP) uninstall --quiet --yes plumbline
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.runtime

$(VENV)/lock-tools/bin/uv: | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/lock-tools
	$(VENV)/lock-tools/bin/python -m pip --disable-pip-version-check --quiet install uv==$(UV_VERSION)
