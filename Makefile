# Each target makes its own environment in .venv and installs what it needs.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready
RUN := OMP_NUM_THREADS=1 $(BIN)/

.PHONY: demo test lint bench clean

demo: $(READY)
	$(BIN)/mnemon demo

test: lint
	$(RUN)pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/mnemon bench --growth

$(READY): pyproject.toml constraints.txt CMakeLists.txt $(wildcard mnemon/native/src/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e ".[train,viz,dev]"
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
