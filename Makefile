# The environment that the commands use; README says how to make it.
BIN ?= .venv/bin

.PHONY: check format lint types quick test docs bench datasets

check: format lint types quick

format:
	$(BIN)/ruff format .

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

# Without the tests that start Ray or take more than a few seconds.
quick:
	$(BIN)/pytest -m "not ray and not slow"

test:
	$(BIN)/pytest

# Writes the parts of docs/ that the code decides, and builds the site into build/site.
docs:
	$(BIN)/python scripts/make_docs.py
	$(BIN)/mkdocs build --strict --quiet

# Figures for the diary in scripts/bench/README.md; never part of the tests.
bench:
	$(BIN)/python scripts/bench/endtoend.py
	$(BIN)/python scripts/bench/kernels.py
	$(BIN)/python scripts/bench/lines.py

# Makes every byte of datasets/ again.
datasets:
	$(BIN)/pnono generate --manifest datasets/manifest.toml --out datasets
