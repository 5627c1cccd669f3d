# The commands people type; what is behind them stands in CMakePresets.json.
#
#   make build     the program: build/anagyre
#   make run       a rattleback that reverses its spin: summary, figure and page
#   make test      everything the project checks (dev build, then sanitizers on the quick tests)
#   make install   program, library, headers, models, man page   [PREFIX=/usr/local] [DESTDIR=]
#   make bench     how fast it is
#   make figures   the figures of the documents, and the gallery: build/gallery/index.html
#   make format    clang-format on the C files under git
#   make clean     removes build/
#
# `build`, `run` and `test` install missing packages first (tools/install-packages.sh from Debian, tools/install-web.sh from npm).

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Ninja where it is; a tree once configured keeps its generator.
CMAKE = CMAKE_GENERATOR="$$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)" cmake

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build run test install bench figures format clean packages

packages:
	@tools/install-packages.sh
	@tools/install-web.sh

build: packages
	@$(CMAKE) --preset release --log-level=WARNING
	@cmake --build build -j $(JOBS) --target anagyre anagyre_library

run: build
	@tools/rattleback.sh build/anagyre build/run

test: packages
	@$(CMAKE) --preset dev --log-level=WARNING
	@cmake --build build/dev -j $(JOBS)
	@ctest --preset dev -j $(JOBS)
	@$(CMAKE) --preset asan --log-level=WARNING
	@cmake --build build/asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

figures: build
	@tools/rattleback.sh build/anagyre build/run docs/figures/rattleback.png
	@tools/vehicle.sh $(CURDIR)/build/anagyre $(CURDIR)/build/run $(CURDIR)/docs/figures/underwater_vehicle.png \
	  $(CURDIR)/docs/figures/bro_vehicle.png
	@tools/experiments.sh $(CURDIR)/build/anagyre $(CURDIR)/build/run $(CURDIR)/docs/figures
	@for figure in docs/figures/*.png; do python3 tools/gallery.py --pack $$figure; done
	@python3 tools/gallery.py build/anagyre . build/gallery

install:
	@$(CMAKE) --preset release --log-level=WARNING -D CMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build build -j $(JOBS) --target anagyre anagyre_library
	@DESTDIR=$(DESTDIR) cmake --install build

bench: build
	@bench/run.py build/anagyre build/bench.json

format:
	clang-format -i $$(git ls-files 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]')

clean:
	rm -rf build
