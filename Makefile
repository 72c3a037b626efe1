# make demo   set up and run the main job on embedded data
# make test   set up with the test tools and run the whole suite
# make bench-selection   the selection benchmark: designs, real data, speed
# make bench-paths   the path benchmark: cost of a certified path in matrix products

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test bench-selection bench-paths lint clean
help:
	@sed -n 's/^# //p' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp file per set of extras: nothing is installed twice, and a changed pyproject.toml installs anew.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,report]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/gradsift demo

test: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --dist=worksteal --cov --cov-report=term

bench-selection: $(VENV)/.installed
	OMP_NUM_THREADS=1 PYTHONPATH=benchmarks $(BIN)/python -m selection.measure

bench-paths: $(VENV)/.installed
	OMP_NUM_THREADS=2 PYTHONPATH=benchmarks $(BIN)/python -m paths.measure

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .import_linter_cache
