# Everything is installed into .venv. The stamps in it repeat an installation only when pyproject.toml changes.

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=
MINUTES ?= 30

VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CREATED := $(VENV)/.created
RUNTIME := $(VENV)/.runtime
TEST    := $(VENV)/.test
BENCH   := $(VENV)/.bench
MUTANTS := $(VENV)/.mutants
ENGINES := $(VENV)/.engines
DOCS    := $(VENV)/.docs
WEB     := $(VENV)/.web
OLDEST  := .venv-oldest

# Tests start dozens of processes: each would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

# All tests, and the examples in docstrings and documents; those of the Chinese pages are the same, which a test holds.
SUITE := -n $(WORKERS) --dist worksteal --doctest-modules --doctest-glob='*.md' --doctest-glob='*.pycon' --ignore=docs/zh \
	tests src README.md docs

# The package keeps at least this share of its lines covered, in percent.
COVERAGE := 95

.DEFAULT_GOAL := help
.PHONY: help demo test test-web docs-images test-engines test-oldest fuzz mutants bench accuracy docs docs-serve dist house lint clean
.NOTPARALLEL:

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(RUNTIME) ## install, then show what Bayeswater does on built-in data
	@$(BIN)/bayeswater demo $(ARGS)

test: lint ## lint, then all tests and doctests, then the coverage bound
	$(BIN)/pytest --cov --cov-report= $(SUITE)
	@echo "The kernels once more as plain Python, where coverage can see into them"
	BAYESWATER_COMPILE=0 $(BIN)/pytest -n $(WORKERS) --dist worksteal --cov --cov-append --cov-report= \
		tests/kernels --ignore=tests/kernels/test_compiling.py
	$(BIN)/coverage report --fail-under=$(COVERAGE)

test-web: $(WEB) ## every gesture of the local page in a real browser, which has to be there (Debian: apt install chromium)
	BAYESWATER_BROWSER=1 $(BIN)/pytest -p no:cacheprovider tests/browser $(ARGS)

test-engines: $(ENGINES) ## the tests of Dask, Spark (which needs Java 17) and Ray, on local workers
	$(BIN)/pytest tests/engines

test-oldest: $(OLDEST)/.installed ## all tests on Python 3.11 and the oldest version of everything that pyproject.toml allows
	$(OLDEST)/bin/pytest $(SUITE)

fuzz: $(TEST) ## random tables, files and command lines for MINUTES=30 (ARGS="drop_ins" runs one kind)
	@$(BIN)/python tests/fuzz --minutes $(MINUTES) $(ARGS)

mutants: $(MUTANTS) ## the share of 300 mutants of each room that the tests kill; resumes where it stopped (ARGS="decision")
	@$(BIN)/python tools/mutants.py --seed 1 --workers $(WORKERS) $(ARGS)

bench: $(BENCH) ## measure against the peers, half an hour at a time; resumes where it stopped (ARGS="..." is passed on)
	@$(BIN)/python -m benchmarks $(ARGS)

accuracy: $(BENCH) ## error and log-loss on the tables under BAYESWATER_DATA, beside the peers; resumes where it stopped
	@$(BIN)/python -m benchmarks.accuracy $(ARGS)
	@$(BIN)/python -m benchmarks.weights $(ARGS)
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m benchmarks.ensemble $(ARGS)
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m benchmarks.ensemble_intervals

# A warning is an error. All is built anew, so that no menu and no page of an older state stays behind. The English site comes first: the Chinese one links to its reference.
SPHINX := $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs

docs: $(DOCS) ## the site in build/docs: English, 中文 under zh/; notebooks are run, every link and anchor is followed
	@rm -rf build/docs build/doctrees docs/generated
	@$(SPHINX) --doctree-dir build/doctrees/en docs build/docs
	@$(SPHINX) --doctree-dir build/doctrees/zh --define language=zh_CN docs/zh build/docs/zh
	@$(BIN)/python tools/pages/notebooks.py build/docs
	@$(BIN)/python tools/pages/check_links.py build/docs

docs-images: $(WEB) ## the screenshots of the explorer in docs/images, made by a real browser
	@$(BIN)/python tools/pages/screenshots.py docs/images

docs-serve: docs ## the site at http://127.0.0.1:8000
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs 8000

DIST := build/dist

dist: $(CREATED) ## wheel and sdist in dist/; the wheel is installed alone, runs the demo and a program, and type checkers read that
	@rm -rf dist $(DIST)
	@$(PIP) build && $(BIN)/python -m build --quiet
	@$(PYTHON) -m venv $(DIST) && $(DIST)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@cp tools/user_program.py $(DIST) && cd $(DIST) && bin/bayeswater demo > demo.txt && bin/python -I user_program.py
	@$(DIST)/bin/python -m pip install --quiet --disable-pip-version-check mypy 'pyright[nodejs]'
	@cd $(DIST) && bin/mypy --strict user_program.py && bin/pyright --pythonpath bin/python user_program.py
	@ls -l dist

house: $(TEST) ## figures of the source: sizes, chains of classes, names, and the walk of a row through it
	@$(BIN)/python tools/house.py

lint: $(TEST) ## style, format, types, which room imports which, and public docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/docstrings.py

clean: ## remove .venv and .venv-oldest, caches and build products
	rm -rf $(VENV) $(OLDEST) build dist docs/generated .coverage .coverage.* .hypothesis .import_linter_cache .mutants
	rm -rf .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) was not found. On Debian: apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version)." \
		     "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments. On Debian: apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(RUNTIME): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater and what it needs (the first time takes a minute or more)"
	@$(PIP) -e .
	@touch $@

$(TEST): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater and what its tests need (the first time takes a minute or more)"
	@$(PIP) -e '.[test,lint]'
	@touch $(RUNTIME) $@

$(BENCH): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater and what its benchmarks need (the first time takes a minute or more)"
	@$(PIP) -e '.[bench]'
	@touch $(RUNTIME) $@

$(DOCS): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater and what makes its site"
	@$(PIP) -e '.[docs]'
	@touch $(RUNTIME) $@

$(WEB): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater, its tests and what drives a browser"
	@$(PIP) -e '.[test,lint,browser]'
	@touch $(RUNTIME) $(TEST) $@

$(MUTANTS): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater, its tests and what makes mutants"
	@$(PIP) -e '.[test,lint,mutants]'
	@touch $(RUNTIME) $(TEST) $@

$(ENGINES): pyproject.toml | $(CREATED)
	@echo "Installing bayeswater, its tests, Spark and Ray (several hundred megabytes)"
	@$(PIP) -e '.[test,lint,dask,spark,ray]'
	@touch $(RUNTIME) $(TEST) $@

# A constraint of the environment holds for the build, too.
$(OLDEST)/.installed: pyproject.toml tests/oldest.py
	@echo "Making $(OLDEST) with the oldest versions (the first time takes a minute or more)"
	@python3.11 -m venv $(OLDEST)
	@$(OLDEST)/bin/python tests/oldest.py > $(OLDEST)/constraints.txt
	@PIP_CONSTRAINT=$(OLDEST)/constraints.txt $(OLDEST)/bin/python -m pip install --quiet -e '.[plot,dask,spark,ray,test]'
	@touch $@
