# On a machine with Python 3.11 or newer and nothing else: `make demo`, `make test`.
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
# The first Python that is new enough and can make virtual environments.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.DEFAULT_GOAL := help
.PHONY: help venv demo test check bench papers docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/developing ## make .venv and install memsim with its tools for developers

$(VENV)/installed: setup.cfg pyproject.toml
	@test -n "$(PYTHON)" || { echo "memsim needs Python 3.11 or newer with venv; none found on PATH" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# pycachesim is C source: where no compiler is, the tests that compare with it are skipped by name.
$(VENV)/developing: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,cuda]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[oracle]' \
	  || echo "pycachesim cannot be built here (no C compiler?): its tests will be skipped" >&2
	@touch $@

demo: $(VENV)/installed ## SpMV on a Tesla C2050: tables, out/spmv.h5, out/result.h5, out/figures
	@mkdir -p out
	$(BIN)/memsim trace spmv -p rows=86016 -p nnz_per_row=51 -o out/spmv.h5 --force
	$(BIN)/memsim run out/spmv.h5 --gpu tesla-c2050 --seed 1 -j $(JOBS) -o out/result.h5 --force
	$(BIN)/memsim plot out/result.h5 -o out/figures --force

test: venv ## run the tests but for the slow ones, doctests included
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

check: venv ## everything that must pass: ruff, its formatter, mypy, all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

bench: venv ## measure speed and memory; prints ratios
	$(BIN)/python -m experiments.bench

papers: venv ## compare with every paper and counter, one scoreboard; QUICK=1: small snapshots
	$(BIN)/python -m experiments.harness -j $(JOBS) $(if $(QUICK),--quick)

docs: venv ## the manual as a site, in out/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --quiet --strict --site-dir out/site

clean: ## remove what the targets made
	rm -rf $(VENV) out build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
