# `make` lists the targets. Each target installs what it needs into .venv.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SHELL := /bin/bash

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11; choose a newer one: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"

# The stamp is valid until the requirements change.
$(VENV)/setup.stamp: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing into $(VENV), PyTorch included (a few minutes the first time) …"
	$(PIP) --editable ".[demo]"
	@touch $@

$(VENV)/%.stamp: $(VENV)/setup.stamp
	$(PIP) --group $*
	@touch $@

setup: $(VENV)/setup.stamp ## Create .venv with the package and the dependencies of the demo

demo: setup ## Train a classifier, attack it and show the result (a minute)
	@$(BIN)/discotext demo

test: setup $(VENV)/test.stamp $(VENV)/kenlm.stamp lint ## Run all checks: style, types, tests (seven minutes on two cores)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

# KenLM is built from source; without a C++ compiler its tests are skipped.
$(VENV)/kenlm.stamp: $(VENV)/setup.stamp
	@$(PIP) "kenlm>=0.2" || echo "kenlm cannot be built here; its tests are skipped"
	@touch $@

# A separate environment, to show that everything but the extras works with the base dependencies.
test-core: ## Run the tests with the base dependencies only: no PyTorch, no other extra
	test -d .venv-core || $(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	.venv-core/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group test-core
	.venv-core/bin/python -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") and "PyTorch is installed")'
	.venv-core/bin/python -m pytest -n 2 --dist loadgroup -m "not slow"

slow: setup $(VENV)/test.stamp ## Run the slow tests
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/test.stamp ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: $(VENV)/test.stamp ## Fix style automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup $(VENV)/bench.stamp ## Benchmark solvers: optimality, cost per step (some minutes)
	$(BIN)/python -m benchmarks.optimality
	$(BIN)/python -m benchmarks.step_cost
	$(BIN)/python -m benchmarks.tables

bench-text: setup $(VENV)/test.stamp $(VENV)/bench.stamp ## Benchmark candidates, optima of TREC questions, scaling (needs DISCOTEXT_DATA and victims/)
	$(BIN)/python -m benchmarks.candidates
	$(BIN)/python -m benchmarks.acceptability
	$(BIN)/python -m benchmarks.trec_optimum --victim victims/lstm_trec --cache victims/trec_truth
	$(BIN)/python -m benchmarks.scaling victims/lstm_ag_news
	$(BIN)/python -m benchmarks.tables

.venv-peers/setup.stamp: $(VENV)/setup.stamp benchmarks/peers/requirements.txt
	$(BIN)/python -m benchmarks.peers.environment .venv-peers
	@touch $@

bench-peers: setup $(VENV)/test.stamp $(VENV)/bench.stamp .venv-peers/setup.stamp ## Compare with TextAttack (needs DISCOTEXT_DATA and victims/; hours)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.peers.report
	$(BIN)/python -m benchmarks.peers.tables

bench-hardening: setup $(VENV)/test.stamp $(VENV)/bench.stamp ## Benchmark hardening (needs DISCOTEXT_DATA; two hours)
	$(BIN)/python -m benchmarks.hardening
	$(BIN)/python -m benchmarks.tables

bench-cluster: setup $(VENV)/test.stamp $(VENV)/bench.stamp ## Benchmark the overhead and memory of Ray (needs DISCOTEXT_DATA and victims/; 40 minutes)
	$(BIN)/python -m benchmarks.cluster rate victims/lstm_ag_news
	$(BIN)/python -m benchmarks.cluster memory
	$(BIN)/python -m benchmarks.cluster picture
	$(BIN)/python -m benchmarks.tables

black-box: setup $(VENV)/test.stamp ## Run randomised checks that share no code with the package (an hour)
	$(BIN)/python -m benchmarks.black_box

paper: setup ## Reproduce the paper's table (needs DISCOTEXT_DATA; 80 minutes)
	$(BIN)/discotext reproduce --out paper --workers 2

docs: setup $(VENV)/docs.stamp ## Write the generated pages of the documentation, and build it into site/
	$(BIN)/python scripts/docs_cli.py
	$(BIN)/python scripts/docs_api.py
	$(BIN)/python scripts/draw_architecture.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

dist: ## Build the sdist and the wheel into dist/, and check both in clean environments
	rm -rf dist .venv-dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	.venv-dist/bin/python -m build --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*
	for file in dist/*.whl dist/*.tar.gz; do \
		rm -rf .venv-dist && $(PYTHON) -m venv .venv-dist && \
		.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check "$$file" && \
		.venv-dist/bin/python scripts/smoke_test.py || exit 1; \
	done
	rm -rf .venv-dist

clean: ## Remove everything the other targets created
	rm -rf $(VENV) .venv-core .venv-dist .venv-peers dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help setup demo test test-core slow lint fix bench bench-text bench-peers bench-cluster bench-hardening black-box paper docs dist clean
.SECONDARY:
