# EPOP: make | demo | test | bench | install | deps | format | clean      (make help)
VERSION   := 0.1.0
SOVERSION := 0
PREFIX    ?= /usr/local
BUILD     ?= build
MPICC     ?= mpicc.mpich
MPIEXEC   ?= mpiexec.mpich
PYTHON    ?= /usr/bin/python3
SANITIZE  ?=

# A line per file; `make V=1` shows the commands.
Q := $(if $(V),,@)

# The tree below BUILD has the shape of the installed one, so that both run the same way.
BIN := $(BUILD)/bin
LIB := $(BUILD)/lib
OBJ := $(BUILD)/obj

PKGS     := pmix libcjson
WARN     := -Wall -Wextra -Wpedantic -Werror
OPT      ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DEPOP_VERSION='"$(VERSION)"' -DEPOP_MPIEXEC='"$(MPIEXEC)"' -Iepop_api -I. $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS   += -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -pthread -MMD -MP $(SANITIZE)
LDLIBS   += $(shell pkg-config --libs $(PKGS) 2>/dev/null) -ldl -lm -pthread
BLAS     := $(shell pkg-config --cflags --libs openblas 2>/dev/null)
CMOCKA   := $(shell pkg-config --cflags --libs cmocka 2>/dev/null)

lib_src  := $(wildcard epop_api/*.c runtime/*.c runtime/*/*.c)
epop_src := $(wildcard driver/*.c)
ctl_src  := $(wildcard driver/ctl/*.c)
lib_obj  := $(lib_src:%.c=$(OBJ)/%.o)
epop_obj := $(epop_src:%.c=$(OBJ)/%.o)
ctl_obj  := $(ctl_src:%.c=$(OBJ)/%.o)

programs := $(patsubst programs/%.c,$(LIB)/epop/programs/%.so,$(wildcard programs/*.c))
examples := $(patsubst examples/%/,$(LIB)/epop/examples/%.so,$(dir $(wildcard examples/*/*.c)))
examples := $(filter-out $(LIB)/epop/examples/common.so,$(sort $(examples)))
units    := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
mpitests := $(patsubst tests/mpi/%.c,$(BUILD)/tests/mpi/%,$(wildcard tests/mpi/test_*.c))
testprogs := $(patsubst tests/programs/%.c,$(BUILD)/tests/programs/%.so,$(wildcard tests/programs/*.c))
benches  := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))

.PHONY: all deps demo test bench install clean format help
all: $(LIB)/libepop.so $(BIN)/epop $(BIN)/epopctl $(programs) $(examples)

help:
	@echo "make            build everything into $(BUILD)/"
	@echo "make demo       install what is missing, build, and resize a running matrix multiplication"
	@echo "make test       install what is missing, build, and run all tests"
	@echo "make bench      measure (results are described in docs/performance.md)"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR="
	@echo "make deps       install the missing packages (apt-get, as root or by sudo)"
	@echo "make format     clang-format everything"

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(LIB)/libepop.so.$(SOVERSION): $(lib_obj)
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) -shared -Wl,-soname,libepop.so.$(SOVERSION) $(SANITIZE) $(LDFLAGS) $^ $(LDLIBS) -o $@
$(LIB)/libepop.so: $(LIB)/libepop.so.$(SOVERSION)
	ln -sf $(<F) $@
$(LIB)/libepop.a: $(lib_obj)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(BIN)/epop: $(epop_obj) $(LIB)/libepop.so
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(SANITIZE) $(LDFLAGS) -rdynamic $(epop_obj) -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../lib' $(LDLIBS) -o $@
# epopctl is no MPI process: it takes the control plane's objects without the runtime.
$(BIN)/epopctl: $(ctl_obj) $(patsubst %.c,$(OBJ)/%.o,$(wildcard runtime/control/*.c))
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(LDLIBS) -o $@

# A program is one source file, an example a folder; both see only the public headers.
plugin_flags = -Iepop_api -Iexamples -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE -fPIC -shared $(LDFLAGS)
$(LIB)/epop/programs/%.so: programs/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..' -lm
.SECONDEXPANSION:
$(LIB)/epop/examples/%.so: $$(wildcard examples/%/*.c examples/%/*.h examples/common/*) $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(plugin_flags) $(filter %.c,$^) -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..' $(BLAS) -lm

# A unit test of an example's source names that source as a prerequisite of its own.
$(BUILD)/tests/unit/test_npy: examples/common/npy.c examples/common/npy_header.c
$(BUILD)/tests/unit/test_mtx: examples/gauss/mtx.c
$(BUILD)/tests/unit/test_panel: examples/gauss/panel.c
$(BUILD)/tests/unit/test_panel: LDLIBS += $(BLAS)
$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB)/libepop.a
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(CPPFLAGS) $(CFLAGS) -Iexamples $(filter %.c,$^) -o $@ $(LIB)/libepop.a $(LDLIBS) $(CMOCKA)
$(BUILD)/tests/mpi/%: tests/mpi/%.c $(LIB)/libepop.a
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LIB)/libepop.a $(LDLIBS) $(CMOCKA)
$(BUILD)/tests/programs/%.so: tests/programs/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../../lib' -lm
$(BUILD)/bench/pdgemm $(BUILD)/bench/pdgesv: LDLIBS += -lscalapack-mpich $(BLAS)
$(BUILD)/bench/%: bench/%.c $(LIB)/libepop.a
	@mkdir -p $(@D)
	@echo "  BUILD $@"
	$(Q)$(MPICC) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LIB)/libepop.a $(LDLIBS)

units: $(units) $(mpitests) $(testprogs)

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(BUILD)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
