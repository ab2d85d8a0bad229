# The environment that the commands use; README says how to make it.
BIN ?= .venv/bin

.PHONY: check format lint types quick test coverage docs bench datasets

check: format lint types quick

format:
	$(BIN)/ruff format .

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

# Without the tests that start Ray or take about a second; two idle cores need less than a minute for all of `check`.
quick:
	$(BIN)/pytest -m "not ray and not slow"

test:
	$(BIN)/pytest

# Writes the parts of docs/ that the code decides, and builds the site into build/site.
docs:
	$(BIN)/python scripts/make_docs.py
	$(BIN)/mkdocs build --strict --quiet

# Which lines of the kernels the small tests reach, with the kernels as plain Python (about two minutes).
SMALL = regressions packed check cnf kernels solve long_lines blots sat lines strikeout numcross counting formats
coverage:
	NUMBA_DISABLE_JIT=1 CI=1 $(BIN)/python -m coverage run -m pytest -n0 -m "not ray and not slow" $(SMALL:%=tests/test_%.py)
	$(BIN)/python -m coverage report

# Figures for the diary in scripts/bench/README.md; never part of the tests.
bench:
	$(BIN)/python scripts/bench/endtoend.py
	$(BIN)/python scripts/bench/kernels.py
	$(BIN)/python scripts/bench/lines.py

# Makes every byte of datasets/ again.
datasets:
	$(BIN)/pnono generate --manifest datasets/manifest.toml --out datasets
