# SPDX-License-Identifier: GPL-3.0-or-later
#
# hvsim. `make help` lists what can be made. Knobs on the command line:
#   CC=clang  OPT=-O3  SANITIZE=address,undefined  BUILD=dir  CFLAGS=...  LDFLAGS=...  V=1
# Compiler and flags are noted in $(BUILD)/flags; changing them rebuilds what they concern.

BUILD ?= build
OPT ?= -O2
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC = gcc
endif
Q := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---- Sources: by place, so that a new file needs no line here --------------------------------

LIB_DIRS := sim $(patsubst %/,%,$(wildcard models/*/)) workloads experiments experiments/traces
MAIN_SRC := $(wildcard experiments/main.c)
LIB_SRC := $(filter-out experiments/main.c,$(sort $(wildcard $(LIB_DIRS:%=%/*.c))))
SUITE_SRC := $(sort $(wildcard validation/unit/test_*.c validation/theory/test_*.c))
UNIT_SRC := validation/unit/main.c $(SUITE_SRC)
SUITES := $(patsubst test_%.c,%,$(notdir $(SUITE_SRC)))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_OBJ := $(call objects,$(LIB_SRC)) $(BUILD)/gen/version.o
MAIN_OBJ := $(call objects,$(MAIN_SRC))
UNIT_OBJ := $(call objects,$(UNIT_SRC))

# ---- Flags ------------------------------------------------------------------------------------
# -ffp-contract=off: no fused multiply-add, so that every compiler and level gives the same bits.
# _GNU_SOURCE is empty as a file's own `#define _GNU_SOURCE` is, so that both may coexist.

WARN := -Wall -Wextra -Wpedantic -Werror
HV_CPPFLAGS := -I. -I$(BUILD)/gen -D_GNU_SOURCE=
HV_CFLAGS := -std=c17 -g $(OPT) $(WARN) -ffp-contract=off $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	-fno-omit-frame-pointer -fno-sanitize-recover=all)
HV_LDFLAGS := -Wl,--as-needed $(if $(SANITIZE),-fsanitize=$(SANITIZE))

# What pkg-config says of the libraries; made once, after installing what is missing.
NO_BUILD_GOALS := help clean format lint setup setup-% dist
ifneq ($(filter-out $(NO_BUILD_GOALS),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

$(BUILD)/config.mk: validation/setup.sh
	$(Q)mkdir -p $(@D)
	$(Q)validation/setup.sh build
	$(Q){ echo "LIB_CPPFLAGS := $$(pkg-config --cflags simgrid gsl libcjson zlib)" && \
	     echo "LIB_LIBS := $$(pkg-config --libs simgrid gsl libcjson zlib) -lm"; } >$@

# ---- Rules ------------------------------------------------------------------------------------

#> all             build $(BUILD)/hvsim (the default)
.PHONY: all
ifneq ($(MAIN_SRC),)
all: $(BUILD)/hvsim
else
all: $(BUILD)/libhvsim.a
	@echo "no experiments/main.c yet: built $(BUILD)/libhvsim.a only"
endif

$(BUILD)/hvsim: $(MAIN_OBJ) $(LIB_OBJ)
	@echo "  LD    $@"
	$(Q)$(CC) $(HV_CFLAGS) $(CFLAGS) $(HV_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

$(BUILD)/libhvsim.a: $(LIB_OBJ)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c $(BUILD)/flags
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HV_CPPFLAGS) $(LIB_CPPFLAGS) $(CPPFLAGS) $(HV_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/gen/version.o: $(BUILD)/gen/version.c $(BUILD)/flags
	$(Q)$(CC) $(HV_CPPFLAGS) $(HV_CFLAGS) $(CFLAGS) -c -o $@ $<

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(MAIN_OBJ) $(UNIT_OBJ))

# Files that hold a computed text are rewritten only when the text differs.
.PHONY: FORCE
FORCE:
update = mkdir -p $(@D) && printf '%s\n' $(1) >$@.new && \
	{ cmp -s $@.new $@ && rm -f $@.new || mv -f $@.new $@; }

$(BUILD)/flags: FORCE
	$(Q)$(call update,'$(CC) $(HV_CPPFLAGS) $(LIB_CPPFLAGS) $(CPPFLAGS) $(HV_CFLAGS) $(CFLAGS)')

$(BUILD)/gen/version.c: FORCE
	$(Q)v=$$(git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || \
	     echo unknown); \
	$(call update,'#include "sim/version.h"' "const char hvsim_version[] = \"$$v\";")

$(BUILD)/gen/suites.h: FORCE
	$(Q)$(call update,$(patsubst %,'SUITE(%)',$(SUITES)))

$(BUILD)/validation/unit/main.o: $(BUILD)/gen/suites.h

# --wrap: main.c sees every tcase_create, to set time limits and to tell slow cases by their name.
$(BUILD)/unit: $(UNIT_OBJ) $(LIB_OBJ)
	@echo "  LD    $@"
	$(Q)$(CC) $(HV_CFLAGS) $(CFLAGS) $(HV_LDFLAGS) -Wl,--wrap=tcase_create $(LDFLAGS) -o $@ $^ \
	     $(LIB_LIBS) $$(pkg-config --libs check)

#> unit            build and run the unit and theory tests only
.PHONY: unit
unit: $(BUILD)/unit
	$(BUILD)/unit

#> test-NAME       build and run one suite, with whatever part of the library compiles
test-%: FORCE
	-@$(MAKE) --no-print-directory -k $(LIB_OBJ) >/dev/null
	@mkdir -p $(BUILD)/try
	$(Q)rm -f $(BUILD)/try/lib.a; ar rcs $(BUILD)/try/lib.a $$(ls $(LIB_OBJ) 2>/dev/null)
	$(Q)$(CC) $(HV_CPPFLAGS) $(LIB_CPPFLAGS) $(HV_CFLAGS) $(CFLAGS) -DONLY_SUITE='$*' \
	     -Wl,--wrap=tcase_create -o $(BUILD)/try/$* validation/unit/main.c \
	     $(filter %/test_$*.c,$(SUITE_SRC)) $(BUILD)/try/lib.a $(LIB_LIBS) \
	     $$(pkg-config --libs check)
	$(BUILD)/try/$*

.PHONY: unit-binary
unit-binary: $(BUILD)/unit

#> check           install what is missing, build, run the tests (minutes)
#> check-all       the same with everything slow: other compilers, sanitizers, lint, fuzzing
.PHONY: check check-all
check check-all: setup-check
	+@MAKE='$(MAKE)' BUILD='$(BUILD)' validation/run-tests.sh $(if $(ONLY),--only '$(ONLY)') $@
check-all: setup-check-all

#> setup           install what building, testing and the demo need, if it is missing
.PHONY: setup setup-build setup-demo setup-check setup-check-all
setup: setup-build setup-demo setup-check
setup-%:
	@validation/setup.sh $*

#> clean           remove everything that was built
.PHONY: clean
clean:
	rm -rf build build-*

#> help            this list
.PHONY: help
help:
	@sed -n 's/^#> //p' Makefile
