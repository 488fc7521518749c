# Each target makes its own environment in .venv and installs what it needs.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready
RUN := OMP_NUM_THREADS=1 $(BIN)/

.PHONY: demo test lint docs bench fault fuzz soak audit sanitize portable clean

demo: $(READY)
	$(BIN)/mnemon demo

test: lint
	$(RUN)pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/mnemon report results --pages README.md docs/*.md
	$(BIN)/zensical build --strict

bench: $(READY)
	$(BIN)/mnemon bench --growth

# Runs that are killed, told to stop, damaged, or out of disk, and go on all the same: some minutes.
fault: $(READY)
	$(RUN)python -m tests.faults

# Every reader with broken files, ten minutes each; with atheris where `pip install atheris` has put it into .venv.
fuzz: $(READY)
	$(RUN)python -m tests.fuzz

# Inference of a million steps, a sequence of 100,000, training in rounds: some minutes, most of them inference.
soak: $(READY)
	$(RUN)python -m tests.soak

# Known vulnerabilities of every pinned package, from pypi.org itself; a package that it cannot tell of is a failure.
audit: $(READY)
	test -x build/audit/bin/pip-audit || { $(PYTHON) -m venv build/audit && build/audit/bin/pip install --quiet pip-audit; }
	build/audit/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

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

# A wheel for any x86-64, tried in an environment whose only mnemon it is; the rest is borrowed from .venv.
portable: $(READY)
	rm -rf build/portable
	$(BIN)/pip wheel --quiet --no-deps -C cmake.define.MNEMON_PORTABLE=ON -C wheel.py-api=py3 \
		-C build-dir=build/portable/objects -w build/portable .
	$(BIN)/python -m venv build/portable/venv
	build/portable/venv/bin/pip install --quiet --no-deps build/portable/*.whl
	printf '%s\n' $(CURDIR)/.venv/lib/python*/site-packages $(CURDIR) > \
		$$(echo build/portable/venv/lib/python*/site-packages)/borrowed.pth
	PYTHONSAFEPATH=1 build/portable/venv/bin/python -m tests.native.portable_check
	mkdir -p dist
	cp build/portable/*.whl dist

$(READY): pyproject.toml constraints.txt CMakeLists.txt $(wildcard mnemon/native/src/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e ".[train,viz,text,ehr,export,sweep,docs,dev]"
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
