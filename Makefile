# Each target makes its own environment in .venv and installs what it needs.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready
RUN := OMP_NUM_THREADS=1 $(BIN)/

.PHONY: demo test lint bench sanitize clean

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

# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, and under ThreadSanitizer: some minutes to compile.
ARCH ?= -march=native
SANITIZE := $(CXX) -std=c++17 -O1 -g1 $(ARCH) -Wall -Wextra -Wno-psabi -pthread -DMNEMON_SANITIZE -Imnemon/native/src
SANITIZED := tests/native/sanitize.cpp $(wildcard mnemon/native/src/*.hpp)

sanitize: build/sanitize/address build/sanitize/thread
	build/sanitize/address
	build/sanitize/thread

build/sanitize/address: $(SANITIZED)
	mkdir -p $(@D)
	$(SANITIZE) -fsanitize=address,undefined -fno-sanitize-recover=all $< -o $@

build/sanitize/thread: $(SANITIZED)
	mkdir -p $(@D)
	$(SANITIZE) -fsanitize=thread $< -o $@

$(READY): pyproject.toml constraints.txt CMakeLists.txt $(wildcard mnemon/native/src/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e ".[train,viz,dev]"
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
