# Everything a contributor runs. `make help` lists it.
#
# Each step leaves a stamp in $(VENV)/stamps, so that a second run does only what has changed. The package is
# installed editable and its build folder is kept: a change of one kernel compiles one file.

PYTHON ?= python3
VENV ?= .venv
BENCH ?=
# How long `make fuzz` takes, for each of three builds; more arguments for it: FUZZ="races --seed 7"
FUZZ_SECONDS ?= 120
FUZZ ?=
TESTS ?= tests
# More arguments for pytest: make test PYTEST="-k classes"; all in one process: PYTEST="-n 0"
PYTEST ?=
# More arguments for the build: make test VENV=.venv-debug BUILD="-Ccmake.build-type=Debug -Cbuild-dir=build/debug"
BUILD ?=

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet
REQUIREMENTS := $(BIN)/python tools/requirements.py
KERNELS := $(wildcard $(foreach files,*.cpp */*.cpp */*.hpp,src/stategram/_core/$(files)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two pips must not write into one environment at a time.
.NOTPARALLEL:
.PHONY: help demo test test-slow check docs site format bench fuzz sanitize sanitize-threads sdist clean

help:
	@echo "make demo      set up and run the demo"
	@echo "make test      set up and run the tests           (TESTS=tests/kernels PYTEST='-k counts')"
	@echo "make test-slow the tests that take long"
	@echo "make check     lint, formatting, types, import order"
	@echo "make format    put Python and C++ files into shape"
	@echo "make docs      docs/commands.md, docs/recipes.md and docs/api, from the program"
	@echo "make site      run every command of the documents; their site, in build/site"
	@echo "make bench     run the benchmarks                 (BENCH='...' are its arguments)"
	@echo "make fuzz      hostile input, faults and races    (FUZZ_SECONDS=600 for each build; Linux, GCC)"
	@echo "make sanitize  kernel tests under ASan and UBSan  (Linux, GCC)"
	@echo "make sanitize-threads  kernel tests under TSan    (Linux, GCC)"
	@echo "make sdist     the source distribution, in dist/"
	@echo "make clean     remove whatever these made"
	@echo "PYTHON=python3.12 chooses the Python of a new $(VENV)."

demo: $(STAMPS)/package $(STAMPS)/demo
	@mkdir -p build
	$(BIN)/stategram demo -o build/demo-model

# One process per core; an idle one takes tests from another.
PARALLEL := -n auto --dist worksteal

test: $(STAMPS)/package $(STAMPS)/test
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(TESTS) $(PYTEST)

test-slow: $(STAMPS)/package $(STAMPS)/test
	$(BIN)/python -m pytest $(PARALLEL) -m slow $(TESTS) $(PYTEST)

# Types are checked against those of the kernels that were built.
check: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard src tests tools benchmarks examples fuzz)
	PYTHONPATH=src $(BIN)/lint-imports --no-logo
	$(BIN)/clang-format --dry-run -Werror $(KERNELS)

format: $(STAMPS)/check
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(KERNELS)

docs: $(STAMPS)/package
	$(BIN)/python tools/help_pages.py
	$(BIN)/python tools/recipe_page.py
	$(BIN)/python tools/api_pages.py

# The test requirements have what the blocks of pages use. Nothing is loaded from a network.
site: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/site
	$(BIN)/python tools/run_docs.py --all
	rm -rf build/site
	$(BIN)/python -m sphinx -W --keep-going -q -d build/site-doctrees docs build/site
	@echo "build/site/index.html"

bench: $(STAMPS)/package $(STAMPS)/test
	$(BIN)/python -m benchmarks $(BENCH)

# A sanitizer's run-time library has to be loaded before Python itself; libstdc++ too, or the first C++
# exception ends in a failed check of ASan. Python keeps memory until it exits, so leaks are not looked for.
# TSan needs addresses without much randomness (setarch -R), and pytest must not fork.
# --capture=sys lets the report of a sanitizer through.
ADDRESSES := SANITIZER=address RUNTIME=libasan.so VENV=.venv-sanitize
THREADS := SANITIZER=thread RUNTIME=libtsan.so VENV=.venv-sanitize-threads
SANITIZED_PYTHON = LD_PRELOAD="$$($${CXX:-c++} -print-file-name=$(RUNTIME)) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 \
    setarch -R $(BIN)/python

sanitize:
	$(MAKE) $(ADDRESSES) sanitized-test

sanitize-threads:
	$(MAKE) $(THREADS) sanitized-test

.PHONY: sanitized-test sanitized-fuzz
sanitized-test sanitized-fuzz: BUILD := -Ccmake.define.STATEGRAM_SANITIZE=$(SANITIZER) -Cbuild-dir=build/sanitize-$(SANITIZER)
sanitized-test: $(STAMPS)/package $(STAMPS)/test
	$(SANITIZED_PYTHON) -m pytest --capture=sys \
	    $(if $(filter command line,$(origin TESTS)),$(TESTS),tests/kernels) $(PYTEST)

sanitized-fuzz: $(STAMPS)/package $(STAMPS)/test
	PYTHONPATH=tests:tests/problems $(SANITIZED_PYTHON) -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)

# All campaigns on the normal build, those that call kernels on that of a sanitizer too. A copy of each array is
# on the heap (heap): ASan sees nothing in mapped files.
fuzz: $(STAMPS)/package $(STAMPS)/test
	PYTHONPATH=tests:tests/problems $(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)
	$(MAKE) $(ADDRESSES) FUZZ="$(or $(FUZZ),files heap)" sanitized-fuzz
	$(MAKE) $(THREADS) FUZZ="$(or $(FUZZ),threads)" sanitized-fuzz

sdist: $(STAMPS)/venv
	$(INSTALL) build
	$(BIN)/python -m build --sdist

clean:
	rm -rf $(VENV) .venv-sanitize .venv-sanitize-threads build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f src/stategram/_core.pyi
	find src tests tools benchmarks fuzz -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# ---- set-up

$(STAMPS)/venv:
	@sh tools/check-setup "$(PYTHON)"
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# The build requirements live in the environment: an isolated build would get them anew for every change, from
# another folder, and CMake would compile everything again. cmake and ninja come as wheels.
$(STAMPS)/build: pyproject.toml tools/requirements.py | $(STAMPS)/venv
	$(REQUIREMENTS) build > $(STAMPS)/build.txt
	$(INSTALL) -r $(STAMPS)/build.txt cmake ninja
	@touch $@

$(STAMPS)/package: $(KERNELS) CMakeLists.txt pyproject.toml Makefile $(STAMPS)/build
	@echo "compiling the kernels: one to two minutes the first time, silent until it is done"
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) --no-build-isolation --editable . $(BUILD)
	@touch $@

# demo, test, check, site: lists of requirements in pyproject.toml; after the demo, its suggestions work too.
LISTS_demo := demo explore tags
$(STAMPS)/demo $(STAMPS)/test $(STAMPS)/check $(STAMPS)/site: $(STAMPS)/%: pyproject.toml tools/requirements.py | $(STAMPS)/venv
	$(REQUIREMENTS) $(or $(LISTS_$*),$*) > $(STAMPS)/$*.txt
	$(INSTALL) -r $(STAMPS)/$*.txt
	@touch $@
