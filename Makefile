# Everything a person or a build server types. Needs Python 3.11 or later and make; no compiler.
#   make run                     make test                     PYTHON=python3.12 make test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Bytecode is written at once, because some machines are told never to write it later and would start slowly for ever.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode
# One folder of compiled kernels for all test processes.
KERNELS := SUREFOOT_CACHE=$(CURDIR)/$(VENV)/kernels
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test certify promise bench bench-pulls compare check docs clean reproduce

help:  ## show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.core  ## set up and run the main job: the paper's instance, with its certificate
	@$(BIN)/surefoot run

test: $(VENV)/.test  ## run all tests but the long statistical ones
	$(KERNELS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not certify"

certify: $(VENV)/.test  ## run the long statistical tests and print their tables
	$(KERNELS) $(BIN)/python -m pytest -m certify -s

promise: $(VENV)/.test  ## measure errors and violations against what is promised, and fill in the README's table
	$(BIN)/python benchmarks/promise.py

bench: $(VENV)/.bench  ## measure speed beside a textbook loop, and fill in the README's table; then that of a large study
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/studies.py
	$(BIN)/python benchmarks/company.py
	$(BIN)/python benchmarks/company.py --postgres
	$(BIN)/python benchmarks/journals.py
	$(BIN)/python benchmarks/many_arms.py

bench-pulls: $(VENV)/.test  ## count trials until certainty on many worlds, and fill in the README's table
	$(BIN)/python benchmarks/pulls.py

compare: $(VENV)/.test  ## time rounds of this tree beside another one: make compare OLD=path/to/its/src
	$(BIN)/python benchmarks/before_after.py $(OLD) src

reproduce: $(VENV)/.test  ## run the paper's experiments and write docs/reproduction.md
	$(BIN)/surefoot reproduce all --out build/reproduction
	$(BIN)/python docs/reproduction.py build/reproduction

check: $(VENV)/.check  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs  ## build the documentation; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## remove everything that make made
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/uv:
	@echo "Setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

# The stamps: a set of dependencies is installed anew only when pyproject.toml has changed.
$(VENV)/.core: pyproject.toml | $(BIN)/uv
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: pyproject.toml | $(BIN)/uv
	@$(INSTALL) --editable '.[$(EXTRAS_$*)]'
	@touch $@ $(VENV)/.core

EXTRAS_test := test
EXTRAS_check := test,check
EXTRAS_docs := test,docs
EXTRAS_bench := test,bench
