# make demo   set up and run the main job on embedded data
# make test   set up with the test tools and run the whole suite
# make docs   build the site into build/site, examples included; a warning is an error
# make browser   collect Python for browsers (Pyodide, from PyPI), so that the site has its page "In the browser"
# make docs-write   rewrite the tables of the pages from what was recorded, and what their commands print
# make docs-check   run the code blocks of README.md and docs/, compare outputs and tables
# make test-processors   the numerical tests again, with the arithmetic of other processors
# make golden   compare the answers on all recorded tables and designs with those on record
# make test-oldest   the suite on the oldest supported versions of everything
# make fuzz   thousands of new cases per public entry, then damaged files; figures in build/ (an hour or two)
# make build   wheel and source archive into dist/, checked
# make test-wheel   a part of the suite against the installed wheel, in an empty folder
# make test-pythons   the same with every Python from 3.11 to 3.14 that is installed
# make test-extras   every extra by itself in a fresh environment
# make reproduce   tables and figures of the paper into build/reproduced (DATA=leukemia.npz without OpenML; half an hour)
# make bench-selection   the selection benchmark: designs, real data
# make bench-paths   the path benchmark: cost of a certified path in matrix products
# make bench-peers   time and quality beside Boruta, LassoNet, pyHSICLasso, xRFM, hidimstat (installs them; more than an hour)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest

# what sums of numbers decide: all that another order of adding could change
NUMERICAL := tests/solver tests/sift/test_copies.py tests/sift/test_feature_store.py tests/sift/test_path.py \
	tests/data/test_scaling.py tests/data/test_missing.py tests/data/test_distributed.py \
	tests/estimators/test_invariances.py tests/refit/test_regression.py tests/pairwise/test_datafit.py \
	tests/pairwise/test_geometry.py tests/numerics/test_kernels.py

.PHONY: help demo test docs browser docs-write docs-check test-processors golden test-oldest build test-wheel test-pythons test-extras fuzz reproduce bench-selection bench-paths bench-peers lint clean
help:
	@sed -n 's/^# //p' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp file per set of extras: nothing is installed twice, and a changed pyproject.toml installs anew.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,plot]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/gradsift demo

test: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --dist=worksteal --cov --cov-report=term

# cog writes what stands between its marks in the pages, and --check compares
PAGES := README.md $(wildcard docs/*.md docs/*/*.md)
COG := $(BIN)/cog -I benchmarks -p 'import tables'

docs-write: $(VENV)/.installed-test
	$(COG) -r $(PAGES)
	GRADSIFT_DOCS=rewrite OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --quiet README.md docs

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@ $(VENV)/.installed

# GRADSIFT_EXAMPLES=turlach make docs   runs the examples of that name only
docs: $(VENV)/.installed-docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -c docs -b html -W --keep-going --quiet . build/site
	@echo "build/site/index.html"

browser: $(VENV)/.installed
	$(BIN)/python packaging/browser.py build/browser

docs-check: $(VENV)/.installed-test
	$(COG) --check --diff $(PAGES)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --dist=loadfile --quiet README.md docs

test-processors: $(VENV)/.installed-test
	@set -e; for kind in $$($(BIN)/python tests/processors.py); do \
		echo "OPENBLAS_CORETYPE=$$kind"; \
		OPENBLAS_CORETYPE=$$kind OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
			$(BIN)/python -m pytest --numprocesses=2 --dist=worksteal --quiet $(NUMERICAL); \
	done

# the arithmetic of any x86-64 processor since 2013, so that last digits do not depend on the machine
golden: $(VENV)/.installed-test
	cd benchmarks && OPENBLAS_CORETYPE=Haswell NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" \
		OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ../$(BIN)/python -W ignore::ImportWarning -m golden.record $(or $(GOLDEN),check)

$(OLDEST)/.installed-test: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint tests/oldest.txt --editable '.[test]'
	@touch $@

test-oldest: $(OLDEST)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest --numprocesses=2 --dist=worksteal

$(VENV)/.installed-release: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	@touch $@

build: $(VENV)/.installed-release
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

# what a user does first, each room with its files and its extras
WHEEL_TESTS := tests/estimators/test_sift.py tests/estimators/test_frames.py tests/cli/test_version.py \
	tests/cli/test_fdr.py tests/pipeline/test_model_file.py tests/data/test_formats.py tests/report/test_markdown.py tests/tl

test-wheel: build
	packaging/test_wheel.sh dist/*.whl build/wheel-$(notdir $(PYTHON)) $(PYTHON) $(WHEEL_TESTS)

# PYTHONS='python3.12 /opt/python3.14/bin/python3.14' make test-pythons
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
test-pythons: build
	@set -e; for python in $(PYTHONS); do \
		if command -v $$python >/dev/null; then \
			packaging/test_wheel.sh dist/*.whl build/wheel-$$(basename $$python) $$python $(WHEEL_TESTS); \
		else \
			echo "$$python is not here: not tested"; \
		fi; \
	done

test-extras: build
	$(PYTHON) packaging/extras.py dist/*.whl

$(VENV)/.installed-fuzz: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]' || echo "atheris cannot be installed here: files will be damaged by hypothesis only"
	@touch $@

# Seconds that atheris gets; libFuzzer's own options may follow, e.g. make fuzz ATHERIS='-runs=100000'.
ATHERIS ?= -max_total_time=300
fuzz: $(VENV)/.installed-fuzz
	mkdir -p build && rm -f build/guard.json build/atheris.json
	HYPOTHESIS_PROFILE=fuzz OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/guard -q
	OMP_NUM_THREADS=1 $(BIN)/python tests/guard/atheris_readers.py $(ATHERIS) -artifact_prefix=build/

reproduce: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m experiments --out build/reproduced $(if $(DATA),--data $(DATA))

bench-selection: $(VENV)/.installed
	OMP_NUM_THREADS=1 PYTHONPATH=benchmarks $(BIN)/python -m selection.measure

bench-paths: $(VENV)/.installed
	OMP_NUM_THREADS=1 PYTHONPATH=benchmarks $(BIN)/python -m paths.measure

$(VENV)/.installed-peers: benchmarks/peers/requirements.txt $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --requirement benchmarks/peers/requirements.txt
	@touch $@

bench-peers: $(VENV)/.installed-peers
	OMP_NUM_THREADS=2 PYTHONPATH=benchmarks $(BIN)/python -m peers.measure

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf build docs/gallery docs/api/generated $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .import_linter_cache
