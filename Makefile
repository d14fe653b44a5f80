# Everything here needs git, make and Python 3.11 or newer with its venv module. PYTHON=python3.12 chooses another one.
SHELL := /bin/bash
PYTHON ?= python3
PORT ?= 8000
# The sheets of `make pdf`: A4 or Letter.
PAPER ?= A4
# Options for JupyterLab, such as LAB=--no-browser; it refuses to run as root unless told.
LAB ?= $(if $(filter 0,$(shell id -u)),--allow-root)
VENV := .venv
BIN := $(VENV)/bin
# Hundreds of processes import the library: what is compiled stays, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE
TEST := $(BIN)/python -m pytest --nbval --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder chapters exercises tests

.DEFAULT_GOAL := help
.PHONY: help book serve pdf test labs verify lab notebooks printed lint bench clean test-ready
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(VENV)/.book ## build the site: run every notebook, strictly, then print what to open
	@$(BIN)/python -m gpuscale.book.build

serve: $(VENV)/.book ## serve the site on http://localhost:8000 (PORT=...)
	@$(BIN)/python -m gpuscale.book.build --if-stale
	@echo "http://localhost:$(PORT)   (Ctrl-C ends it)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

pdf: $(VENV)/.book $(VENV)/.pdf ## print the whole book as one PDF, by Chromium (PAPER=Letter)
	@$(BIN)/python -m gpuscale.book.build --if-stale
	@$(BIN)/python -m gpuscale.book.paper --format $(PAPER)

test: test-ready ## build the site if it is stale, then run all tests: notebooks, library, site
	$(TEST)

labs: $(VENV)/.book $(VENV)/.test $(VENV)/.labs ## run every cell of the labs with PyTorch and compare the outputs (needs a C++ compiler)
	$(BIN)/python -m pytest --engines --nbval --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg chapters/lab_*.ipynb tests/labs

verify: $(VENV)/.book $(VENV)/.test $(VENV)/.verify ## run the engines (XLA, gloo, Open MPI, PyTorch) and compare what they count
	@PYTHONPATH=tests $(BIN)/python -m pytest --quiet --engines tests/engines
	@PYTHONPATH=tests $(BIN)/python -m engines.verify

lab: $(VENV)/.book $(VENV)/.lab ## open the chapters in JupyterLab
	$(BIN)/jupyter lab $(LAB) --LabApp.extension_manager=readonly --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --notebook-dir . chapters

notebooks: $(VENV)/.book ## execute all notebooks and store them in normal form
	$(BIN)/python -m gpuscale.book.normalise --execute chapters exercises

printed: $(VENV)/.book ## print the functions of the planners again, from the formulas
	@$(BIN)/python -m gpuscale.plan.printing
	@$(BIN)/python -m gpuscale.serve.printing

lint: $(VENV)/.test ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(VENV)/.book $(VENV)/.test ## measure the size of the pages and the speed of the library and of the figures
	@$(BIN)/python -m gpuscale.book.build --if-stale
	@PYTHONPATH=tests $(BIN)/python tests/bench/bench.py
	@PYTHONPATH=tests $(BIN)/python tests/bench/bench_browser.py

clean: ## remove the build and the environment
	rm -rf _build $(VENV) .pytest_cache .ruff_cache .hypothesis

test-ready: $(VENV)/.book $(VENV)/.test
	@$(BIN)/python -m gpuscale.book.build --if-stale

# The environment, in layers: what the book needs, what the tests need, JupyterLab.
$(VENV)/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "This needs Python 3.11 or newer; $(PYTHON) is older. Choose another with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools wheel 2> >(grep -v ^WARNING >&2)
	@touch $@

$(VENV)/.%: $(VENV)/.base
	@echo "Installing what '$*' needs (about a minute the first time)"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[$*]' \
	  > $(VENV)/install.log 2>&1 & \
	while kill -0 $$! 2>/dev/null; do sleep 5; echo "  $$(grep -c ^Collecting $(VENV)/install.log) packages found, $$(grep -q '^Installing collected' $(VENV)/install.log && echo installing || echo downloading)"; done; \
	wait $$! || { tail -n 20 $(VENV)/install.log; exit 1; }
	@touch $@
