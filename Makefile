# On a machine with Python 3.11 or newer and nothing else: `make demo`, `make test`.
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
# The first Python that is new enough and can make virtual environments.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# Hours of random comparisons that `make nightly` makes.
HOURS ?= 8
# Compiling every installed module takes half a minute; Python compiles those that are imported.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# Where Python may not write byte code, every process compiles all of memsim, and every test file, anew: 2 to 9 seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv demo test check check-types check-tests nightly bench papers docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/developing ## make .venv and install memsim with its tools for developers

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "memsim needs Python 3.11 or newer with venv; none found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: setup.cfg pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) --editable .
	@touch $@

# Captures are tested with the nvcc on PATH, else with NVIDIA's wheels (350 MB installed).
COMMA := ,
EXTRAS := oracle,volta$(if $(shell command -v nvcc 2>/dev/null),,$(COMMA)cuda)
# pycachesim is C source: where no compiler is, the tests that compare with it are skipped by name, and those of Volta's code.
# $(call install,EXTRA): memsim with an extra, and with what tests compare with.
define install
	@$(PIP_INSTALL) --editable '.[$(1),$(EXTRAS)]' || { \
	  echo "the extras oracle and volta cannot be installed (no C compiler?): their tests will be skipped" >&2; \
	  $(PIP_INSTALL) --editable '.[$(1)$(EXTRAS:oracle,volta%=%)]'; }
endef
# `make test` needs neither mypy nor ruff: a seventh of what `make venv` installs.
$(VENV)/testing: setup.cfg pyproject.toml | $(VENV)/bin/python
	$(call install,test)
	@touch $(VENV)/installed $@

$(VENV)/developing: setup.cfg pyproject.toml | $(VENV)/bin/python
	$(call install,dev)
	@touch $(VENV)/installed $(VENV)/testing $@

demo: $(VENV)/installed ## SpMV on a Tesla C2050: tables, out/spmv.h5, out/result.h5, out/figures
	@mkdir -p out
	$(BIN)/memsim trace spmv -p rows=86016 -p nnz_per_row=51 -o out/spmv.h5 --force
	$(BIN)/memsim run out/spmv.h5 --gpu tesla-c2050 --seed 1 -j $(JOBS) -o out/result.h5 --force
	$(BIN)/memsim plot out/result.h5 -o out/figures --force

test: $(VENV)/testing ## run all tests that are not slow, each with a small budget of random cases (about five minutes on two cores)
	MEMSIM_TESTS=quick $(PYTEST) -m "not slow"

# $(call part,NAME,COMMAND): run a part of `make check` and print how long it took.
define part
	@echo "== $(1)"; start=$$(date +%s); $(2) && echo "== $(1): $$(($$(date +%s) - start)) s"
endef

check: venv ## everything that must pass: ruff, its formatter, codespell, mypy, all tests (about 16 minutes on two cores)
	$(call part,ruff,$(BIN)/ruff check . && $(BIN)/ruff format --check .)
	$(call part,spelling,git ls-files -z | xargs -0 $(BIN)/codespell)
	@$(MAKE) --no-print-directory -j 2 check-types check-tests

# At the same time: one process checks types while the tests leave a core idle, as they do when they start and end.
check-types: venv
	$(call part,mypy,$(BIN)/mypy)

check-tests: venv
	$(call part,tests,$(PYTEST) -m "not slow")
	$(call part,slow tests,$(PYTEST) -m slow)

nightly: venv ## draw new random cases for HOURS=8; a failure prints how to repeat it
	@seed=1000; end=$$(($$(date +%s) + 3600 * $(HOURS))); while [ $$(date +%s) -lt $$end ]; do \
	  echo "== random cases from seed $$seed"; \
	  MEMSIM_TESTS=nightly MEMSIM_FIRST_SEED=$$seed $(PYTEST) -m "hypothesis or random" || exit 1; \
	  seed=$$((seed + 10000)); done

bench: venv ## measure speed and memory; prints ratios
	$(BIN)/python -m experiments.bench

papers: venv ## run the studies whose tables are stale; BUDGET=minutes; QUICK=1: all, on small snapshots; LIST=1: only list them
	$(BIN)/python -m experiments.harness -j $(JOBS) $(if $(QUICK),--quick,$(if $(LIST),--list,--stale $(if $(BUDGET),--budget $(BUDGET))))

docs: venv ## the manual as a site, in out/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --quiet --strict --site-dir out/site

clean: ## remove what the targets made
	rm -rf $(VENV) memsim/capture/built out build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
