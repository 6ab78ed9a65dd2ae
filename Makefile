# Every target does its own set-up (tools/setup), also on a fresh machine; once that is done it takes a second.
.DEFAULT_GOAL := help
.PHONY: help demo check test test-all test-times bench sources docs soak fuzz mutants lint lock clean
MAKEFLAGS += --no-print-directory

# ARGS is passed to the program that is run: make test ARGS="test/recursive/test_cholesky_kernel.py -x"
ARGS ?=

# Parallel workers, whose number test/conftest.py chooses. ARGS="-n 0" runs the tests in one process, e.g. for a debugger.
WORKERS := -n auto --dist loadgroup

# A slow test takes minutes on an idle machine: on a busy one it has hours until it counts as hung.
HANGS := --timeout 7200 -o faulthandler_timeout=7260

# The matrices are small: several BLAS threads only wait for each other.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# onnxruntime must not report what it runs to its maker, also where a test imports it before the package does.
export ORT_DISABLE_TELEMETRY ?= 1

# With this variable set, each process that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Recordings and data sets for tests and benchmarks.
export ICUB_LEARNING_DATA ?= $(wildcard $(CURDIR)/../shared/data)

ifneq ($(and $(ROS_DISTRO),$(AMENT_PREFIX_PATH)),)
# A sourced ROS 2 finds the packages in .venv like any other overlay.
export AMENT_PREFIX_PATH := $(CURDIR)/.venv:$(AMENT_PREFIX_PATH)
export LD_LIBRARY_PATH := $(CURDIR)/.venv/lib:$(LD_LIBRARY_PATH)
else
unexport PYTHONPATH
endif

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
	@echo 'PYTHON=python3.12 make ... chooses the interpreter (3.10 to 3.13); ARGS="..." goes to what is run.'

demo:  ## a simulated iCub learns its inverse dynamics, then objects, live in a browser (VIEW=0: without); under 5 minutes
	@tools/setup
	@.venv/bin/icub-learning demo $(if $(filter 0,$(VIEW)),--no-view) $(ARGS)

check:  ## lint, types and all quick tests, in about a minute: the short loop while working
	@tools/setup test
	@tools/check -n logical --dist loadgroup $(ARGS)

test:  ## the tests, in some six minutes
	@tools/setup test
	@.venv/bin/python -m pytest $(WORKERS) $(ARGS)

test-all:  ## the tests, slow ones too, with new random examples, in some twenty minutes
	@tools/setup test
	@HYPOTHESIS_PROFILE=search .venv/bin/python -m pytest -m '' $(HANGS) $(WORKERS) $(ARGS)

test-times:  ## the tests, then seconds, tests and lines of each folder, and the slowest ten
	@tools/setup test
	@.venv/bin/python tools/test_times $(WORKERS) $(ARGS)

bench:  ## measurements of cost and accuracy
	@tools/setup bench
	@.venv/bin/python -m benchmarks $(ARGS)

sources:  ## every published experiment on one page, out/sources.html; ARGS=--quick: small sizes, in 20 minutes
	@tools/setup bench
	@.venv/bin/icub-learning reproduce all --report out/sources.html $(ARGS)

docs:  ## the documentation as a site, out/docs/index.html; warnings are errors
	@tools/setup docs
	@NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --strict $(ARGS)

soak:  ## a simulated robot at work for 30 minutes, ARGS="--minutes N" for any time; the picture: out/endurance/soak.png
	@tools/setup
	@.venv/bin/python -m benchmarks.endurance soak $(ARGS)

fuzz:  ## random bytes as files and messages (a minute for each of ten readers), then random messages to all nodes
	@tools/setup fuzz
	@.venv/bin/python -m benchmarks.endurance files $(ARGS)
	@.venv/bin/python -m benchmarks.endurance messages

mutants:  ## what the tests catch: the package changed in 200 places, one at a time (hours), ARGS="--n 20 --seed 2"
	@tools/setup test mutants
	@.venv/bin/python -m tools.mutants $(ARGS)

lint:  ## ruff, mypy, known vulnerabilities of the locked packages, and licences of the installed ones
	@tools/setup test
	@.venv/bin/python -m ruff check .
	@.venv/bin/python -m ruff format --check .
	@.venv/bin/python -m mypy
	@tools/audit

lock:  ## resolve requirements*.in anew into requirements*.lock
	@tools/setup
	@tools/lock

clean:  ## remove everything that was made here, .venv too
	rm -rf .venv build out .pytest_cache .hypothesis .mypy_cache .ruff_cache *.egg-info
	find icub_learning test benchmarks launch -name __pycache__ -prune -exec rm -rf {} +
	find icub_learning -name '*.so' -delete
