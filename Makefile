# Everything starts here. Each target sets up .venv first, if it is not there yet
# (VENV=.venv-newest: another folder).

SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# auto: the CPU build of torch where there is no NVIDIA GPU, as far as a package index has one;
# newest: the torch of constraints.txt; cpu: no other than a CPU build. By default as it was set up.
TORCH ?= $(or $(patsubst $(VENV)/.ready-%,%,$(firstword $(wildcard $(VENV)/.ready-*))),auto)
READY := $(VENV)/.ready-$(TORCH)
UV_VERSION := 0.13.9
XLA_LOCK := smtc_lab/machine/environments/xla
# where the home folder is of no use
ifneq ($(shell test -d "$$HOME" && test -w "$$HOME" && echo yes),yes)
export UV_CACHE_DIR ?= $(CURDIR)/$(VENV)/cache
export YARN_GLOBAL_FOLDER ?= $(CURDIR)/$(VENV)/yarn
export SMTC_LAB_ENVIRONMENTS ?= $(CURDIR)/$(VENV)/environments
endif
ATHERIS_VERSION := 3.0.0
FUZZ_S ?= 600
FUZZ_INPUTS ?= 1000000
OUT ?= build/gpu
WHEELS ?= .whl
# What `make test-gpu` needs, and what a machine with torch, transformers and pytest may lack.
GPU_PACKAGES := annotated-types apsw cffi cloudpickle cryptography platformdirs pycparser pydantic \
  pydantic-core typing-extensions typing-inspection xxhash
# The parts of `make test`; the third one is all the rest.
COMPUTE := $(addprefix tests/,catalog compiler examples fuzz metrics planner rules spec store views)
SCRIPTS := $(addprefix tests/,cli follow runtime study test_notebooks.py)
# jlpm with a node: the machine's, or that of the wheel in $(VENV)
FRONT := cd extensions && PATH="$$PATH:$(CURDIR)/$(BIN)" "$(CURDIR)/$(BIN)/jlpm"

.PHONY: help setup xla front demo test test-compute test-scripts test-jobs test-deep golden-texts \
  test-gpu gpu-wheels soak fuzz lab lint types check fix bench lock clean

help:
	@echo "make demo   train on two emulated clusters, compare them, write build/demo/"
	@echo "make lab    open JupyterLab on the guided tour"
	@echo "make xla    make the environment of XLA: torch 2.9 and torch_xla 2.9"
	@echo "make front  build the front end in extensions/ again"
	@echo "make test   run the quick tests"
	@echo "make test-deep  run what takes long, in lanes; LANES=\"ranks browser\" runs these"
	@echo "make golden-texts  write the texts that tests compare, tests/golden/texts/, anew"
	@echo "make test-gpu OUT=DIR  run the tests and the benchmark that need a GPU, in 8 minutes, with"
	@echo "            this machine's torch; make gpu-wheels fetches what it may lack else"
	@echo "make soak   run the tests that take long"
	@echo "make fuzz   look for bytes that crash the data service, for FUZZ_S=$(FUZZ_S) seconds, and for"
	@echo "            files that crash a reader of runs, FUZZ_INPUTS=$(FUZZ_INPUTS)"
	@echo "make check  run the linters, the type checker and the architecture rules"
	@echo "make bench  run the overhead benchmark, write build/bench/"
	@echo "make fix    format and mend what can be mended"
	@echo "make lock   renew constraints.txt and the lock of XLA's environment"
	@echo "TORCH=newest takes the CUDA build of torch also without a GPU, TORCH=cpu a CPU build"

setup: $(READY)
	@echo "Ready. Next: make demo, make lab, or $(BIN)/smtc-lab --help (activate $(VENV) to leave out the folder)"

$(READY): constraints.txt pyproject.toml extensions/package.json extensions/yarn.lock
	@rm -f $(VENV)/.ready*
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "smtc_lab needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/python .ci/install_locked.py --torch $(TORCH) \
	  $(BIN)/python constraints.txt
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)

# Made once; what stands there of the same lock stays.
xla: $(READY)
	@$(BIN)/smtc-lab environment make xla

# Runs the build hook, which builds what is not there or has other sources.
front: $(READY)
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .

# The kernel warns that its loopback connection is not encrypted; that is no news here.
demo: $(READY)
	@mkdir -p build/demo
	@set -o pipefail; $(BIN)/papermill notebooks/compare_clusters.ipynb \
	  build/demo/compare_clusters.ipynb --cwd . --kernel python3 --no-progress-bar \
	  --log-level ERROR --stdout-file /dev/stderr --stderr-file /dev/stderr \
	  -p out_dir build/demo 2>&1 | grep --line-buffered -v IPKernelApp
	@echo
	@cat build/demo/comparison.txt
	@echo
	@cat build/demo/plan.txt
	@echo
	@echo "Report:  build/demo/report.html"
	@echo "Data:    build/demo/comparison.json"
	@echo "Figures: build/demo/figures/"

# Three parts side by side on two cores: one computes, and the jobs of the other two wait half of
# their time, for their CPU quota and for each other. Browsers come last, alone: a page that shares
# its cores is slow to show anything.
test: front
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=line test-compute test-scripts test-jobs
	$(BIN)/pytest tests/browser

test-compute:
	$(BIN)/pytest $(COMPUTE)
	$(FRONT) test

test-scripts:
	$(BIN)/pytest $(SCRIPTS)

test-jobs:
	$(BIN)/pytest $(addprefix --ignore=,$(COMPUTE) $(SCRIPTS) tests/browser)

# What tests/deep.toml names, and what needs another environment; LANES="ranks browser": of these.
test-deep: front
	$(BIN)/python -m tests.kit.deep $(LANES)

# Runs the tests that have such texts, and no other.
golden-texts: $(READY)
	$(BIN)/pytest --renew-texts $$(grep -rl golden_texts tests --include='test_*.py')

# Without .venv and network: on a machine that has a GPU and torch, and wheels in WHEELS.
test-gpu:
	@PYTHON="$(PYTHON)" bash .ci/test_gpu "$(OUT)" "$(WHEELS)"

# As constraints.txt pins them, with its hashes, for Python 3.12 on x86-64.
empty :=
gpu-wheels:
	@mkdir -p "$(WHEELS)" && rm -f "$(WHEELS)"/*.whl
	@awk '/^[a-z]/ { take = /^($(subst $(empty) $(empty),|,$(strip $(GPU_PACKAGES))))==/ } take' \
	  constraints.txt > "$(WHEELS)/requirements.txt"
	$(PYTHON) -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
	  --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
	  --dest "$(WHEELS)" --requirement "$(WHEELS)/requirements.txt"

soak: $(READY)
	$(BIN)/pytest -m soak
	SMTC_LAB_RANDOM_EXAMPLES=1 $(BIN)/pytest -m hypothesis

# What it finds stays in build/fuzz/, and the next run begins with it. The fuzzer is no part of
# constraints.txt: it is large, and has no build for every platform.
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz.fuzz_folders --inputs $(FUZZ_INPUTS) --keep build/fuzz
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps atheris==$(ATHERIS_VERSION)
	@mkdir -p build/fuzz/frames
	$(BIN)/python tests/fuzz/fuzz_frames.py build/fuzz/frames -artifact_prefix=build/fuzz/ \
	  -max_total_time=$(FUZZ_S) -max_len=4096 -timeout=10 -print_final_stats=1

lab: xla
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --LabApp.default_url=/lab/tree/notebooks/tour.ipynb

lint: front
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb
	$(FRONT) lint
	@! grep -nE 'https?://' extensions/yarn.lock

types: front
	$(BIN)/mypy
	$(BIN)/mypy .ci/install_locked.py
	$(FRONT) types

check: lint types

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/nbstripout notebooks/*.ipynb
	$(FRONT) fix

bench: $(READY)
	$(BIN)/smtc-lab bench overhead --json build/bench/overhead.json

lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-emit-index-url --no-emit-find-links \
	  --extra models --extra vision --extra ray --extra sagemaker --extra tune --extra dev \
	  --output-file constraints.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate --no-emit-index-url --no-emit-find-links --output-file $(XLA_LOCK).txt $(XLA_LOCK).in

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
