# Everything a reader or a developer runs. `make` alone lists it.

PYTHON ?= python3
BIN := .venv/bin
# Written last: while it is missing, the environment does not count as made.
STAMP := .venv/complete
STAMP_OLDEST := .venv-oldest/complete
STAMP_PEERS := .venv-peers/complete
# Public implementations to compare with; their needs clash with the pins, which therefore do not hold here.
PEERS ?= torch==2.13.0 transformers==5.24.0 onnxruntime==1.32.0

.DEFAULT_GOAL := help
.PHONY: help figures test lab notebooks lint bench test-oldest peers families wheel-check clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

figures: $(STAMP) ## draw every figure into figures/
	@$(BIN)/python -m rope_course figures

test: $(STAMP) ## run all tests: unit, property, doctests, notebooks, style
	@$(BIN)/python -m pytest

lab: $(STAMP) ## open the notebooks in JupyterLab
	@$(BIN)/python -m jupyter lab notebooks

notebooks: $(STAMP) ## write the exercises into the notebooks and run them again
	@$(BIN)/python -m rope_course notebooks

lint: $(STAMP) ## check the style of code and notebooks; changes nothing
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

bench: $(STAMP) ## measure the speed, in ratios
	@$(BIN)/python benchmarks/run.py

test-oldest: $(STAMP_OLDEST) ## unit tests and doctests on the oldest NumPy allowed
	@.venv-oldest/bin/python -m pytest tests rope_ref rope_course

peers: $(STAMP_PEERS) ## compare with transformers, torch and onnxruntime, live (optional, large)
	@.venv-peers/bin/python -m pytest tests/peers.py tests/peers_diagnosis.py -rs

families: $(STAMP_PEERS) ## compare every model type of transformers with what is read of it, and keep the table
	@.venv-peers/bin/python tests/families/table.py
	@.venv-peers/bin/python tests/families/mutants.py

wheel-check: $(STAMP) ## build a wheel, install it elsewhere with and without its extra, and use it
	@PYTHON="$(PYTHON)" tests/house/wheel_check.sh

clean: ## remove the environments, caches and builds
	rm -rf .venv .venv-oldest .venv-peers build dist .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What PYTHON is, as words: its version, "new" if new enough, "venv" if it can make an environment. Empty: it does not run.
PROBE = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2]); print("new" if sys.version_info >= (3, 11) else "old"); import venv, ensurepip; print("venv")' 2>/dev/null)
# $(error) stops with this one line, before any command of the recipe runs.
REFUSE = $(error rope_ref needs Python 3.11 or newer with venv, and "$(PYTHON)" $(1). Install it, or name another: make $(MAKECMDGOALS) PYTHON=python3.12)
define CHECK_PYTHON
$(eval FOUND := $(PROBE))$(if $(FOUND),,$(call REFUSE,does not run))$(if $(filter old,$(FOUND)),$(call REFUSE,is $(firstword $(FOUND))))$(if $(filter venv,$(FOUND)),,$(call REFUSE,is $(firstword $(FOUND)) without venv (on Debian and Ubuntu: apt install python3-venv)))
endef

# A complete environment is brought up to date in place; a half-made one is made anew.
$(STAMP): pyproject.toml constraints.txt
	@$(CHECK_PYTHON)echo "setting up .venv (once, about a minute)"
	@if [ -f $@ ]; then rm $@; else $(PYTHON) -m venv --clear .venv; fi
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

# NumPy 2.0 has no build for Python 3.13; there it is the oldest that has one.
$(STAMP_OLDEST): pyproject.toml constraints.txt
	@$(CHECK_PYTHON)echo "setting up .venv-oldest (once, about a minute)"
	@$(PYTHON) -m venv --clear .venv-oldest
	@sed "s/^numpy==.*/numpy==2.0.*; python_version < '3.13'/" constraints.txt > .venv-oldest/constraints.txt
	@echo "numpy==2.1.*; python_version >= '3.13'" >> .venv-oldest/constraints.txt
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --only-binary numpy -c .venv-oldest/constraints.txt -e '.[test]'
	@touch $@

$(STAMP_PEERS): pyproject.toml constraints.txt Makefile
	@$(CHECK_PYTHON)echo "setting up .venv-peers (once, some minutes)"
	@$(PYTHON) -m venv --clear .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' $(PEERS)
	@touch $@
