# `make run` and `make test` first install what is missing and build what has changed. Everything
# that is not a Debian package is in .venv and build.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS := $(shell nproc)

# The packages of LLVM, whose version CMakeLists.txt pins.
LLVM := $(shell grep -oP 'CONVOY_LLVM_VERSION \K[0-9]+' CMakeLists.txt | head -n 1)
DEBIAN := cmake ninja-build ccache clang-$(LLVM) lld-$(LLVM) llvm-$(LLVM)-dev libmlir-$(LLVM)-dev mlir-$(LLVM)-tools \
          liblld-$(LLVM)-dev libpolly-$(LLVM)-dev zlib1g-dev libzstd-dev python3-dev python3-venv
# The browser of the tests of the report.
BROWSER := chromium chromium-driver

# The versions of the Python packages; those of NVIDIA are below.
LOCK := requirements-dev.lock

# The environment of the tests of serving, and the versions of its packages.
SERVING := .venv-serving
SERVING_LOCK := requirements-serving.lock

# Installed without dependencies, NVRTC excepted: on a machine without a GPU cuDNN only builds
# graphs, and needs no cuBLAS. Tests compare graphs with those of cudnn-frontend; its own kernels,
# which need a gigabyte of packages, are not used.
CUDNN := nvidia-cudnn-cu13==9.19.0.56 nvidia-cuda-nvrtc==13.0.88 nvidia-cudnn-frontend==1.32.0

SOURCES := $(shell find CMakeLists.txt CMakePresets.json cmake dialect passes test/dialect/cudnn/*.cpp python/bindings python/CMakeLists.txt runtime/abi runtime/device runtime/support \
             -type f 2>/dev/null)

# `cuda` where the library of the GPU driver is installed.
TARGET := $(if $(shell ldconfig -p 2>/dev/null | grep libcuda.so.1),cuda,cpu)
MODEL := resnet18

# $(call step,LABEL) COMMAND shows the progress of a command; its output is in build/logs.
step = $(PYTHON) tools/progress.py "$(1)" --

# $(call debian,PACKAGES) installs those that are missing.
define debian
@missing="$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done)"; \
if [ -n "$$missing" ]; then \
  echo "convoy: missing Debian packages:" $$missing; \
  if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
  $(call step,list Debian packages) $$sudo apt-get update -q && \
  $(call step,install Debian packages) $$sudo apt-get install -q -y --no-install-recommends $$missing; \
fi
endef

# $(call compile,PRESET) configures and builds that preset of CMakePresets.json.
define compile
@$(call step,configure $(1)) cmake --preset $(1)
@$(call step,build $(1)) cmake --build --preset $(1) --parallel $(JOBS)
endef

.PHONY: run test test-serving serving lint lint-python lint-cpp fuzz sanitize support ops build bench coverage docs wheel clean

run: build
	$(BIN)/convoy compile examples/resnet.py:$(MODEL) --target $(TARGET) -o build/$(MODEL).convoy
	$(BIN)/convoy run build/$(MODEL).convoy --check examples/resnet.py:$(MODEL) --top 5

# One worker for each core. A worker begins with consecutive tests, which share fixtures, and takes
# over half of what another one has left. The tests start thousands of processes, which import the
# bytecode of Convoy rather than compile its sources.
test: build
	$(call debian,$(BROWSER))
	@PYTHONDONTWRITEBYTECODE= $(PYTHON) tools/progress.py test --all -- $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --color=$$(if [ -t 1 ]; then echo yes; else echo no; fi)

# The artifacts behind Ray Serve and Triton. Their packages are in an environment of their own, without
# PyTorch and the compiler; the compiler of $(VENV) makes the artifacts. TESTS selects files.
TESTS := test/serving
serving: $(SERVING)/.python
test-serving: build serving
	@$(call step,compile models for serving) $(BIN)/python test/serving/build_artifacts.py build/serving
	@$(PYTHON) tools/progress.py test-serving --all -- $(SERVING)/bin/python -m pytest -q $(TESTS)

# Style and types of all files; clang-tidy on the C++ that changed since BASE, by default since the
# branch left origin/main. `make -j2 lint` runs both parts at once: mypy uses one core.
lint: lint-python lint-cpp

lint-python: $(VENV)/.python
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary

lint-cpp: $(VENV)/.python
	$(call debian,clang-format-$(LLVM) clang-tidy-$(LLVM))
	@$(BIN)/python -m tools.lint $(BASE)

# Thousands of random models, mutated modules and mutated artifacts. Failures are kept in
# build/fuzz.
fuzz: build
	$(BIN)/python test/fuzz/run.py

support: build
	$(BIN)/python -m tools.support_table

# The first samples of each op of PyTorch's OpInfo database; writes docs/ops.md. 30 minutes on 2
# cores.
ops: build
	$(BIN)/python -m tools.ops --page --jobs $(JOBS)

build: $(VENV)/.built

bench: build
	$(BIN)/convoy bench build/$(MODEL).convoy --peer examples/resnet.py:$(MODEL)

# The covered part of cuDNN's backend API, counted from the code.
coverage: $(VENV)/.python
	@$(BIN)/python -m tools.coverage

# Convoy's C++ and C with AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.
sanitize: build
	$(call debian,libclang-rt-$(LLVM)-dev)
	$(call compile,sanitize)
	@$(BIN)/python -m tools.sanitize build/sanitize

docs: build
	ninja -C build mlir-doc
	@$(BIN)/python -m tools.write_manifest_page

# The wheels of convoy-runtime and convoy-compiler, in dist/.
wheel: build
	@$(BIN)/python -m tools.wheels dist

clean:
	rm -rf build $(VENV) $(SERVING)

$(VENV)/.debian: Makefile
	$(call debian,$(DEBIAN))
	@mkdir -p $(VENV) && touch $@

$(VENV)/.python: pyproject.toml runtime/pyproject.toml $(LOCK) $(VENV)/.debian
	@$(call step,create $(VENV)) $(PYTHON) -m venv $(VENV)
	@$(call step,install build tools) $(BIN)/pip install --disable-pip-version-check -c $(LOCK) scikit-build-core nanobind
	@$(call step,install Python packages) $(BIN)/pip install --disable-pip-version-check --no-build-isolation --config-settings=wheel.cmake=false -c $(LOCK) -e ./runtime -e '.[test]' cuda-bindings
	@$(call step,install cuDNN) $(BIN)/pip install --disable-pip-version-check --no-deps $(CUDNN)
	@touch $@

$(SERVING)/.python: runtime/pyproject.toml $(SERVING_LOCK)
	@$(call step,create $(SERVING)) $(PYTHON) -m venv $(SERVING)
	@$(call step,install packages for serving) $(SERVING)/bin/pip install --disable-pip-version-check --no-deps -r $(SERVING_LOCK)
	@$(call step,install the runtime for serving) $(SERVING)/bin/pip install --disable-pip-version-check --no-deps --no-build-isolation -e ./runtime
	@touch $@

$(VENV)/.built: $(VENV)/.python $(SOURCES)
	$(call compile,default)
	@ln -sf ../../build/bin/convoy-opt ../../build/bin/convoy-lsp-server ../../build/bin/convoy-reduce $(BIN)/
	@touch $@
