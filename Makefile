# SPDX-License-Identifier: GPL-3.0-or-later
#
# hvsim. `make help` lists what can be made. Knobs, on the command line:
#
#   CC=clang   OPT=-O3   SANITIZE=address,undefined   BUILD=dir   CFLAGS=...   LDFLAGS=...
#   PREFIX=/usr/local   DESTDIR=   V=1 (show commands)   JOBS=2   ONLY='unit queue'   FUZZ_TIME=60
#
# What compilers are called with is noted in $(BUILD)/flags: other flags rebuild what they concern.

BUILD ?= build
OPT ?= -O2
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_TIME ?= 60
ifeq ($(origin CC),default)
CC = gcc
endif
Q := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---- Sources: by place, so that a new file needs no line here -------------------------------------

LIB_DIRS := sim $(patsubst %/,%,$(wildcard models/*/)) workloads $(patsubst %/,%,$(wildcard experiments/*/))
MAIN_SRC := $(wildcard experiments/main.c)
LIB_SRC := $(filter-out experiments/main.c,$(sort $(wildcard $(LIB_DIRS:%=%/*.c))))
SUITE_SRC := $(sort $(wildcard validation/unit/test_*.c validation/theory/test_*.c))
BENCH_SRC := $(sort $(wildcard validation/bench/*.c))
FUZZ_SRC := $(sort $(wildcard validation/fuzz/fuzz_*.c))
PUBLIC_HEADER := include/hvsim/scheduler.h

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_OBJ := $(call objects,$(LIB_SRC)) $(BUILD)/gen/version.o
MAIN_OBJ := $(call objects,$(MAIN_SRC))
UNIT_OBJ := $(call objects,validation/unit/main.c $(SUITE_SRC))
SUITES := $(patsubst test_%.c,%,$(notdir $(SUITE_SRC)))
BENCH := $(patsubst validation/bench/%.c,$(BUILD)/bench/%,$(BENCH_SRC))
FUZZ := $(patsubst validation/fuzz/fuzz_%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))

# ---- Flags ----------------------------------------------------------------------------------------
# -ffp-contract=off: no fused multiply-add, so that every compiler and level gives the same bits.
# _GNU_SOURCE is defined as a file's own `#define _GNU_SOURCE` would, so that both may coexist.

HV_CPPFLAGS := -I. -I$(BUILD)/gen -D_GNU_SOURCE=
HV_CFLAGS := -std=c17 -g $(OPT) -Wall -Wextra -Wpedantic -Werror -ffp-contract=off
# -rdynamic: a scheduler plug-in calls the program that loads it.
HV_LDFLAGS := -Wl,--as-needed -rdynamic
ifneq ($(SANITIZE),)
HV_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
HV_LDFLAGS += -fsanitize=$(SANITIZE)
endif
compile = $(CC) $(HV_CPPFLAGS) $(LIB_CPPFLAGS) $(CPPFLAGS) $(HV_CFLAGS) $(CFLAGS)
link = $(CC) $(HV_CFLAGS) $(CFLAGS) $(HV_LDFLAGS) $(LDFLAGS)

# What pkg-config says of the libraries, noted once, after installing what is missing.
NOTHING_TO_COMPILE := help clean distclean format dist clean-room setup setup-%
ifneq ($(filter-out $(NOTHING_TO_COMPILE),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

LIBS := simgrid >= 3.32 gsl libcjson zlib sqlite3 ncursesw

$(BUILD)/config.mk: validation/setup.sh
	@validation/setup.sh build
	@mkdir -p $(@D)
	@cflags=$$(pkg-config --cflags '$(LIBS)') && libs=$$(pkg-config --libs '$(LIBS)') && \
	     printf 'LIB_CPPFLAGS := %s\nLIB_LIBS := %s -lm\n' "$$cflags" "$$libs" >$@

# ---- The program ----------------------------------------------------------------------------------

#> all            build the simulator, build/hvsim (the default)
.PHONY: all
ifneq ($(MAIN_SRC),)
all: $(BUILD)/hvsim
else
all: $(BUILD)/libhvsim.a
	@echo "no experiments/main.c: built $(BUILD)/libhvsim.a only"
endif

$(BUILD)/hvsim: $(MAIN_OBJ) $(LIB_OBJ)
	@echo "  LD    $@"
	$(Q)$(link) -o $@ $^ $(LIB_LIBS)

$(BUILD)/libhvsim.a: $(LIB_OBJ)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c $(BUILD)/flags
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(compile) -MMD -MP -c -o $@ $<

$(BUILD)/gen/version.o: $(BUILD)/gen/version.c $(BUILD)/flags
	$(Q)$(compile) -c -o $@ $<

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(MAIN_OBJ) $(UNIT_OBJ) \
	$(call objects,$(BENCH_SRC) $(FUZZ_SRC)))

# Texts that are computed: looked at each time, rewritten only when they differ.
.PHONY: FORCE
FORCE:
write = mkdir -p $(@D) && printf '%s\n' $(1) >$@.new && \
	if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

$(BUILD)/flags: FORCE
	@$(call write,'$(compile)' '$(link)')

$(BUILD)/gen/version.c: FORCE
	@version=$$(git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || \
	     echo unknown); \
	$(call write,'#include "sim/version.h"' "const char hvsim_version[] = \"$$version\";" \
	     'const char hvsim_data_dir[] = "$(PREFIX)/share/hvsim";')

# ---- Tests ----------------------------------------------------------------------------------------

$(BUILD)/gen/suites.h: FORCE
	@$(call write,$(patsubst %,'SUITE(%)',$(SUITES)))

$(BUILD)/validation/unit/main.o: $(BUILD)/gen/suites.h

# --wrap: main.c sees every tcase_create, to set time limits and to tell slow cases by their name.
CHECK_LIBS = -Wl,--wrap=tcase_create $(LIB_LIBS) $$(pkg-config --libs check)

$(BUILD)/unit: $(UNIT_OBJ) $(BUILD)/libhvsim.a
	@echo "  LD    $@"
	$(Q)$(link) -o $@ $^ $(CHECK_LIBS)

.PHONY: unit-binary bench-binaries fuzz-binaries
unit-binary: $(BUILD)/unit
bench-binaries: $(BENCH)
fuzz-binaries: $(FUZZ)

#> check          install what is missing, build, run the tests (some minutes)
#> check-all      the same with all that is slow: other compilers, sanitizers, lint, fuzzing
#>                (ONLY='unit queue' runs what matches; logs are in build/check/)
.PHONY: check check-all
check check-all: setup-check
	@+MAKE='$(MAKE)' BUILD='$(BUILD)' validation/run-tests.sh $(if $(ONLY),--only '$(ONLY)') $@
check-all: setup-check-all

#> unit           build and run the unit and theory tests only, all their output shown
.PHONY: unit
unit: $(BUILD)/unit
	$(BUILD)/unit

#> test-NAME      build and run the suite NAME with those parts of the library that compile
test-%: FORCE
	-@$(MAKE) --no-print-directory -k $(LIB_OBJ) >/dev/null
	@mkdir -p $(BUILD)/try
	@rm -f $(BUILD)/try/lib.a; ar rcs $(BUILD)/try/lib.a $$(ls $(LIB_OBJ) 2>/dev/null)
	$(Q)$(compile) -DONLY_SUITE='$*' -o $(BUILD)/try/$* validation/unit/main.c \
	     $(filter %/test_$*.c,$(SUITE_SRC)) $(BUILD)/try/lib.a $(HV_LDFLAGS) $(CHECK_LIBS)
	$(BUILD)/try/$*

#> asan           unit tests and a demo-like run under AddressSanitizer, UBSan and leak detection
.PHONY: asan
asan: setup-check
	@+MAKE='$(MAKE)' BUILD=build-asan validation/run-tests.sh $(if $(ONLY),--only '$(ONLY)') asan

#> coverage       lines that the unit tests reach, per file (gcov)
.PHONY: coverage
coverage: setup-check
	@+$(MAKE) --no-print-directory BUILD=build-cov OPT=-O0 CFLAGS=--coverage LDFLAGS=--coverage \
	     unit-binary
	@find build-cov -name '*.gcda' -delete; build-cov/unit >build-cov/unit.log || true
	@for f in $(LIB_SRC); do gcov -n -o build-cov/$${f%.c}.o $$f 2>/dev/null | \
	     awk -v f=$$f '/^File/ { own = index($$0, "\x27" f "\x27") } \
	          own && /^Lines/ { own = 0; sub(/Lines executed:/, ""); printf "%-44s %s\n", f, $$0 }'; done

# ---- Demo, bench, fuzz ----------------------------------------------------------------------------

#> demo           Credit against TerrierTail on a busy host: a table, and a picture in out/demo/
#> demo-map       the same over many set-ups: where the published gain appears (some minutes)
.PHONY: demo demo-map
demo demo-map: all setup-demo
	@if [ -x experiments/$@.sh ]; then HVSIM=$(BUILD)/hvsim experiments/$@.sh; \
	else echo "experiments/$@.sh is missing" >&2; exit 1; fi

#> bench          speed, as ratios: events, decisions, start-up, plain SimGrid actors
.PHONY: bench
bench: all bench-binaries
	@if [ -x validation/bench/run.sh ]; then \
	     HVSIM=$(BUILD)/hvsim BENCH=$(BUILD)/bench validation/bench/run.sh; \
	else echo "validation/bench/run.sh is missing" >&2; exit 1; fi

$(BUILD)/bench/%: $(BUILD)/validation/bench/%.o $(BUILD)/libhvsim.a
	@echo "  LD    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(link) -o $@ $^ $(LIB_LIBS)
.SECONDARY: $(call objects,$(BENCH_SRC) $(FUZZ_SRC))

#> mutants        would the tests notice if a rule of a scheduler were wrong? (a quarter of an hour)
.PHONY: mutants
mutants: setup-check
	validation/mutants/run.sh

#> fuzz           each target of validation/fuzz for FUZZ_TIME seconds (needs clang)
.PHONY: fuzz
fuzz: setup-check-all
	@+$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang OPT=-O1 \
	     SANITIZE=fuzzer-no-link,address,undefined fuzz-binaries
	@for f in $(notdir $(FUZZ)); do validation/fuzz.sh build-fuzz $$f $(FUZZ_TIME) || exit 1; done

$(BUILD)/fuzz/%: $(BUILD)/validation/fuzz/fuzz_%.o $(BUILD)/libhvsim.a
	@echo "  LD    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(link) -fsanitize=fuzzer -o $@ $^ $(LIB_LIBS)

# ---- Style ----------------------------------------------------------------------------------------

#> format         apply clang-format to every C file
#> lint           format, include directions, clang-tidy, cppcheck, shellcheck (in check-all too)
.PHONY: format lint
format:
	clang-format -i $$(validation/lint.sh --files)
lint: setup-check-all $(BUILD)/config.mk
	@validation/lint.sh

# ---- Installing -----------------------------------------------------------------------------------

#> setup          install by apt what building, testing and the demo need, if it is missing
.PHONY: setup
setup: setup-build setup-demo setup-check
setup-%: FORCE
	@validation/setup.sh $*

#> man            man pages of all commands in build/doc/man (needs scdoc)
#> docs           write docs/reference and the outputs shown in the documentation anew
.PHONY: man docs
man: all
	$(BUILD)/hvsim doc --write $(BUILD)/doc
	@command -v scdoc >/dev/null || { echo "man: scdoc is not installed" >&2; exit 1; }
	@for f in $(BUILD)/doc/man/*.scd; do scdoc <$$f >$${f%.scd} || exit 1; done
docs: all
	@tmp=$$(mktemp -d) && HVSIM=$(BUILD)/hvsim TMP=$$tmp validation/e2e/docs.sh --update; \
	     rm -rf "$$tmp"

#> install        binary, library of scenarios, scheduler header, hvsim.pc under DESTDIR PREFIX
.PHONY: install uninstall
install: all
	validation/install.sh '$(BUILD)' '$(DESTDIR)' '$(PREFIX)' '$(PUBLIC_HEADER)'
uninstall:
	validation/install.sh --remove '$(DESTDIR)' '$(PREFIX)'

#> dist           hvsim-VERSION.tar.gz of what is committed
.PHONY: dist
dist:
	@v=$$(git describe --tags --always) && v=$${v#v} && mkdir -p build && \
	git archive --format=tar --prefix=hvsim-$$v/ HEAD >build/dist.tar && \
	echo "$$v" >build/VERSION && \
	tar -rf build/dist.tar --owner=root --group=root --transform="s,.*,hvsim-$$v/VERSION," \
	     build/VERSION && \
	gzip -9nf <build/dist.tar >hvsim-$$v.tar.gz && rm -f build/dist.tar build/VERSION && \
	echo "hvsim-$$v.tar.gz"

#> clean-room     make check and make demo in a new minimal Debian 12 (root, debootstrap; minutes)
.PHONY: clean-room
clean-room:
	validation/clean-room.sh

#> clean          remove what was built
#> distclean      and what was written by demos (out/)
.PHONY: clean distclean
clean:
	rm -rf build build-*
distclean: clean
	rm -rf out hvsim-*.tar.gz

#> help           this list
.PHONY: help
help:
	@sed -n 's/^#> //p' Makefile
	@sed -n 's/^#   \([A-Z].*\)/Knobs: \1/p' Makefile
