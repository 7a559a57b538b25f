# Everything a checkout needs: each target sets up .venv first.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

unexport PYTHONDONTWRITEBYTECODE # the tests start hundreds of interpreters

# Whole files go to the cores, so that the runs that a file makes are made once.
PYTEST := $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-all lint bench docs notebooks site clean

demo: $(VENV)/.demo ## audit "a librarian" with the built-in models
	$(BIN)/biasgraph build --prompt "a librarian" $(ARGS)

test: $(VENV)/.test ## run the tests but the slow ones
	$(PYTEST) -m "not slow" $(ARGS)

test-all: $(VENV)/.test ## run every test
	$(PYTEST) $(ARGS)

lint: $(VENV)/.test ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test ## run the benchmarks and print their ratios
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

docs: $(VENV)/.test ## write docs/cli.md and the field tables of docs/files.md again
	$(BIN)/python -m biasgraph.commands.cli_reference
	$(BIN)/python -m biasgraph.data.field_reference

site: $(VENV)/.docs ## build the documentation as a site, in build/site
	$(BIN)/python docs/build_gallery.py build/gallery
	$(BIN)/python -m sphinx -q -W --keep-going -n -b html docs build/site
	$(BIN)/python docs/check_site.py build/site

notebooks: $(VENV)/.test ## run the notebooks of docs again and keep what they show
	$(BIN)/python docs/run_notebooks.py

$(VENV)/.demo: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .coverage .mypy_cache .pytest_cache .ruff_cache
