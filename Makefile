# EPOP: make | demo | test | bench | mpich | install | deps | format | clean      (make help)
VERSION   := 0.1.0
SOVERSION := 0
PREFIX    ?= /usr/local
PYTHON    ?= /usr/bin/python3
SANITIZE  ?=
WERROR    ?=
# epop-report bundles its charts by node and npm, which fetches their library once: REPORT=no builds all but that.
REPORT    ?= yes

# The system's MPICH, or with DEVICE=ch3:sock one of our own (docs/reference/mpich.md), or with ABI=yes whatever library has MPI's
# standard interface (docs/reference/mpi.md), each with a build directory of its own.
DEVICE    ?=
ABI       ?=
ifneq ($(filter yes,$(ABI)),)
BUILD     ?= build/abi
MPICC     := $(CURDIR)/mpich/mpicc-abi
MPIEXEC   ?= mpiexec.mpich
FORTRAN   := no
ifeq ($(shell $(MPICC) -show 2>/dev/null),)
$(error ABI=yes: $(shell $(MPICC) -show 2>&1))
endif
else ifeq ($(DEVICE),)
BUILD     ?= build
MPICC     ?= mpicc.mpich
MPIEXEC   ?= mpiexec.mpich
else
MPICH     := $(or $(shell mpich/prefix.sh $(DEVICE)),$(error no MPICH for DEVICE=$(DEVICE)))
BUILD     ?= build/$(subst :,-,$(DEVICE))
MPICC     := $(MPICH)/bin/mpicc
MPIEXEC   := $(MPICH)/bin/mpiexec
endif
# FORTRAN=no builds all but what Fortran programs need; so does an MPICH without Fortran, or a machine without gfortran, and ABI=yes, as
# no library has the standard interface for Fortran yet.
MPIFC     ?= $(if $(findstring /,$(MPICC)),$(dir $(MPICC)))$(subst mpicc,mpif90,$(notdir $(MPICC)))
FORTRAN   ?= $(if $(findstring gfortran,$(shell command -v gfortran >/dev/null && $(MPIFC) -show 2>/dev/null)),yes,no)

# What MPI's compiler command would call, asked once: it is a script, which takes as long as the compiler itself. Without an answer it
# is called after all.
mpi_cc    := $(or $(shell $(MPICC) -show 2>/dev/null | sed 's/ -.*//'),$(MPICC))
mpi_words := $(filter-out $(mpi_cc),$(shell $(MPICC) -show 2>/dev/null))
mpi_flags := $(filter-out -l% -L% -Wl%,$(mpi_words))

# A line per file; `make V=1` shows the commands.
Q := $(if $(V),,@)
announce = @mkdir -p $(@D); echo "  BUILD $@"

# The tree below BUILD has the shape of the installed one, so that both run the same way.
BIN := $(BUILD)/bin
LIB := $(BUILD)/lib
OBJ := $(BUILD)/obj

PKGS     := libcjson libevent_core libevent_pthreads libsodium
pkg_cflags := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
pkg_libs   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
# Warnings end the build of a developer (WERROR=yes), and not that of a user with a compiler that we have not met.
ERRORS   := $(if $(filter yes,$(WERROR)),-Werror)
WARN     := -Wall -Wextra -Wpedantic $(ERRORS)
OPT      ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DEPOP_VERSION='"$(VERSION)"' -DEPOP_MPIEXEC='"$(MPIEXEC)"' -Iepop_api -I. -I$(BUILD) $(pkg_cflags)
ifneq ($(filter yes,$(ABI)),)
CPPFLAGS += -DEPOP_ABI
WARN     += -Wno-stringop-overread # constants such as MPI_UNWEIGHTED are small addresses, which gcc takes for arrays of no elements
endif
CFLAGS   += -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -pthread -MMD -MP $(SANITIZE)
LDLIBS   += $(pkg_libs) -ldl -lm -pthread
BLAS     := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags --libs openblas 2>/dev/null)) # whose header is no C11
CMOCKA   := $(shell pkg-config --cflags --libs cmocka 2>/dev/null)

lib_src  := $(wildcard epop_api/*.c runtime/*/*.c interpose/*.c)
epop_src := $(filter-out driver/helpers/%,$(wildcard driver/*/*.c))
ctl_src  := $(wildcard epopctl/*.c)
# Rooms that several programs take from, each as an archive: a program gets what it calls of them.
room = $(patsubst %,$(BUILD)/rooms/%.a,$(1))
rooms := runtime/base runtime/wire runtime/control runtime/hydra runtime/launch scheduler/daemon scheduler/journal scheduler/munge terminal
lib_obj  := $(lib_src:%.c=$(OBJ)/%.o) $(OBJ)/interpose/names.o
epop_obj := $(epop_src:%.c=$(OBJ)/%.o)
ctl_obj  := $(ctl_src:%.c=$(OBJ)/%.o)
sched_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(patsubst %,scheduler/%/*.c,core policies workload simulated)))
sim_obj  := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scheduler/epopsim/*.c))
# What a site may have, each part built where its library is found: the default is all of them.
PARTS    ?= hdf5 pmix munge slurm
part      = $(filter $(1),$(PARTS))
exists    = $(shell pkg-config --exists $(1) 2>/dev/null && echo yes)
hash     := \#
has_header = $(shell echo '$(hash)include <$(1)>' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes)
modules  := $(foreach header,munge.h slurm/slurm.h,$(if $(and $(call part,$(basename $(notdir $(header)))),$(call has_header,$(header))),$(LIB)/epop/$(basename $(notdir $(header))).so))
# HDF5 for checkpoints, where it is. The one without MPI: one process calls it, and it does not meet the one that a program has.
hdf5_name := $(firstword $(foreach name,$(if $(call part,hdf5),hdf5-serial hdf5),$(if $(call exists,$(name)),$(name))))
hdf5_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard runtime/checkpoint/hdf5/*.c)) $(patsubst %,$(OBJ)/runtime/%.o,checkpoint/format base/error)
modules  += $(if $(hdf5_name),$(LIB)/epop/hdf5.so)
slurm_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scheduler/slurm/*.c))
hosts_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scheduler/hosts/*.c))
rm_obj   := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scheduler/epoprm/*.c))
attend_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scheduler/attend/*.c))
# What PMIx's tools ask, where OpenPMIx is to be had; nothing else knows of PMIx.
gateway_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard gateway/*.c))
gateway  := $(if $(and $(call part,pmix),$(call exists,pmix)),$(LIB)/epop/pmix-gateway)
report_obj := $(patsubst %.c,$(OBJ)/%.o,$(wildcard report/*.c)) $(OBJ)/report/assets.o

programs := $(patsubst programs/%.c,$(LIB)/epop/programs/%.so,$(wildcard programs/*.c))
# A program may also be a folder: one that has a file of its name.
folders  := $(foreach dir,$(wildcard programs/*),$(if $(wildcard $(dir)/$(notdir $(dir)).c),$(LIB)/epop/$(dir).so))
programs += $(folders)
plain    := $(patsubst programs/plain/%.c,$(BUILD)/plain/%,$(wildcard programs/plain/*.c))
# Executables that compute as an example does, and share its sources.
beside   := $(patsubst examples/%.c,$(BUILD)/plain/%,$(foreach file,$(wildcard examples/*/plain/*.c),examples/$(notdir $(file))))
examples := $(patsubst examples/%/,$(LIB)/epop/examples/%.so,$(dir $(wildcard examples/*/*.c)))
examples := $(filter-out $(patsubst %,$(LIB)/epop/examples/%.so,common libraries),$(sort $(examples)))
drivers  := $(patsubst programs/drivers/%.c,$(BUILD)/drivers/%.so,$(wildcard programs/drivers/*.c))
policies := $(patsubst programs/policies/%.c,$(BUILD)/policies/%.so,$(wildcard programs/policies/*.c))
testpolicies := $(patsubst tests/policies/%.c,$(BUILD)/tests/policies/%.so,$(wildcard tests/policies/*.c))
units    := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
mpitests := $(patsubst tests/mpi/%.c,$(BUILD)/tests/mpi/%,$(wildcard tests/mpi/test_*.c))
testprogs := $(patsubst tests/programs/%,$(BUILD)/tests/programs/%.so,$(basename $(wildcard tests/programs/*.c tests/programs/*.cpp)))
helpers   := $(patsubst tests/helpers/%.c,$(BUILD)/tests/helpers/%,$(filter-out $(if $(gateway),,%/pmix_tool.c),$(wildcard tests/helpers/*.c)))
# Those whose library is there; `make bench` installs what is missing.
no_bench := $(if $(call exists,hdf5-mpich),,checkpoint) $(if $(call exists,scalapack-mpich),,pdgemm pdgesv)
benches  := $(patsubst bench/%.c,$(BUILD)/bench/%,$(filter-out $(no_bench:%=bench/%.c),$(wildcard bench/*.c)))
bench_programs := $(patsubst bench/programs/%.c,$(BUILD)/bench/%.so,$(wildcard bench/programs/*.c))

# For Python: the package epop, which finds libepop_mpi by its own place in the tree, and what policies import.
PYTHON_PACKAGES := lib/python3/dist-packages
python   := $(patsubst python/%.py,$(BUILD)/$(PYTHON_PACKAGES)/%.py,$(wildcard python/epop/*.py) python/epop_policy.py)

.PHONY: all html deps demo test test-deps tests test-programs units benches bench papers soak mpich mpich-info mpi4py libraries install clean format help
all: $(LIB)/libepop.so $(LIB)/libepop_mpi.so $(LIB)/epop/backtrace $(LIB)/epop/tether $(LIB)/epop/step $(LIB)/epop/companion $(LIB)/epop/orphans $(LIB)/epop/attend $(gateway) $(BIN)/epop $(BIN)/epopctl $(BIN)/epopsim $(BIN)/epoprm $(modules) $(programs) $(plain) $(beside) $(examples) $(python)
ifneq ($(REPORT),no)
all: $(BIN)/epop-report
endif

help:
	@echo "make            build everything into $(BUILD)/"
	@echo "make demo       install what is missing, build, and resize a running matrix multiplication"
	@echo "make test       install what is missing, build, and run all tests"
	@echo "make soak       resize ledger and gauss at random, 1000 times each, 300 times with faults, and under --recover (SOAK='--resizes 100 --seed 7')"
	@echo "make bench      measure, and write the tables of docs/internals/performance.md"
	@echo "make papers     repeat evaluations of papers, into docs/internals/papers.md; with DEVICE=ch3:sock (PAPERS='martin2023')"
	@echo "make mpich      build an MPICH that can add processes, once (MPICH_DEVICE=ch3:sock|ch3:nemesis|ch4:ofi,"
	@echo "                MPICH_LANGUAGES='fortran c++': with mpif90 and mpicxx)"
	@echo "make mpi4py     build mpi4py with MPICH, for elastic scripts in Python, once (docs/guide/python.md)"
	@echo "make libraries  build FFTW and hypre with MPICH, for recipes, once (docs/guide/libraries.md; LIBRARIES='fftw hypre petsc')"
	@echo "make mpich-info show which MPICH is used and what it can do"
	@echo "make DEVICE=ch3:sock [all|test|...]   the same with that MPICH, into build/ch3-sock/ (docs/reference/mpich.md)"
	@echo "make ABI=yes [all|test]   for any MPI with the standard interface, into build/abi/ (docs/reference/mpi.md)"
	@echo "make REPORT=no [all|install]   without epop-report, which needs node and npm to be built"
	@echo "make FORTRAN=no [all|install]  without the modules for Fortran programs, where there is no gfortran"
	@echo "make PARTS='hdf5 pmix' [all|install]   of hdf5, pmix, munge and slurm these alone; else those whose library is there"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR="
	@echo "make html       the pages as a site for a browser, into $(BUILD)/html/"
	@echo "make deps       install the missing packages (apt-get, as root or by sudo)"
	@echo "make format     clang-format everything"
	@echo "make clean      remove $(BUILD)/"

$(OBJ)/%.o: %.c
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) $(mpi_flags) -c $< -o $@

define room_rule
$$(BUILD)/rooms/$(1).a: $$(patsubst %.c,$$(OBJ)/%.o,$$(wildcard $(1)/*.c))
	$$(announce)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach name,$(rooms),$(eval $(call room_rule,$(name))))

# Between programs and MPI: wrappers of every MPI function, generated from the mpi.h in use.
GENERATED := $(BUILD)/interpose
$(addprefix $(GENERATED)/,functions.h names.c wrappers.c pmpi.h) &: interpose/generate.py interpose/prototypes.py $(if $(DEVICE),| $(MPICC))
	$(announce)
	$(Q)$(PYTHON) -B interpose/generate.py --mpicc '$(MPICC)' --output $(GENERATED)
$(OBJ)/interpose/names.o $(OBJ)/interpose/wrappers.o: $(OBJ)/interpose/%.o: $(GENERATED)/%.c
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) -O2 -g0 -fno-plt $(mpi_flags) -c $< -o $@
# What programs meet instead of MPI: in the executable, and in a library for plain executables.
layer_src := $(filter-out $(if $(filter yes,$(ABI)),%/fortran.c %/attributes.c),$(wildcard interpose/layer/*.c))
layer_obj := $(OBJ)/interpose/wrappers.o $(layer_src:%.c=$(OBJ)/%.o)
$(lib_obj) $(epop_obj) $(layer_obj): | $(GENERATED)/functions.h
# To the runtime MPI_COMM_WORLD is the launch, and its own calls are not the program's: MPI_X means PMPI_X there.
mpi_obj := $(filter-out $(OBJ)/runtime/wire/% $(OBJ)/runtime/control/% $(OBJ)/runtime/base/%,$(filter $(OBJ)/runtime/%,$(lib_obj))) $(patsubst %,$(OBJ)/driver/epop/%.o,run capabilities probe_mpi)
$(mpi_obj): $(GENERATED)/pmpi.h
$(mpi_obj): CPPFLAGS += -include $(GENERATED)/pmpi.h

$(LIB)/libepop.so.$(SOVERSION): $(lib_obj) epop_api/libepop.map
	$(announce)
	$(Q)$(mpi_cc) -shared -Wl,-soname,libepop.so.$(SOVERSION) -Wl,--version-script=epop_api/libepop.map $(SANITIZE) $(LDFLAGS) $(lib_obj) $(LDLIBS) -o $@ $(mpi_words)
# For plain executables: link it, or preload it.
$(LIB)/libepop_mpi.so.$(SOVERSION): $(layer_obj) $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) -shared -Wl,-soname,libepop_mpi.so.$(SOVERSION) $(SANITIZE) $(LDFLAGS) $(layer_obj) -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN' -o $@ $(mpi_words)
$(LIB)/libepop.so: %.so: %.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@
# For the linker: with -lepop_mpi come the functions of libepop that an executable calls.
$(LIB)/libepop_mpi.so: %.so: %.so.$(SOVERSION) Makefile
	$(Q)rm -f $@ && echo 'INPUT(libepop_mpi.so.$(SOVERSION) AS_NEEDED(libepop.so.$(SOVERSION)))' >$@
$(LIB)/libepop.a: $(lib_obj)
	$(announce)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BIN)/epop: $(epop_obj) $(layer_obj) $(patsubst %,$(OBJ)/runtime/%.o,backends/device checkpoint/memory_place loops/loops loops/follower) $(call room,terminal runtime/launch runtime/hydra runtime/control runtime/wire runtime/base) $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(SANITIZE) $(LDFLAGS) -rdynamic $(filter %.o %.a,$^) -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../lib' $(LDLIBS) -o $@ $(mpi_words)
# Names the functions of a program that crashed; a process of its own, which epop starts.
$(LIB)/epop/backtrace: $(OBJ)/driver/helpers/backtrace.o
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(shell pkg-config --libs libdw) -ldl -o $@
# Ties ssh to the mpiexec that started it.
$(LIB)/epop/tether: $(OBJ)/driver/helpers/tether.o
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -o $@
# The same for srun in a Slurm job, and what srun starts on a node.
$(LIB)/epop/step: $(OBJ)/driver/helpers/step.o
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -o $@
# Lends a node of Slurm to a job.
$(LIB)/epop/companion: driver/helpers/companion.sh
	$(announce)
	$(Q)install $< $@
# Ends what a process that was killed left running.
$(LIB)/epop/orphans: $(OBJ)/driver/helpers/orphans.o $(call room,runtime/hydra runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(shell pkg-config --libs libcjson) -ldl -pthread -lm -o $@
# epopctl is no MPI process: it has the control plane without the rest of the runtime.
$(BIN)/epopctl: $(ctl_obj) $(call room,terminal runtime/control runtime/wire runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(LDLIBS) -o $@

# What decides knows no MPI either. Policies of one's own find what they call in the executable.
$(OBJ)/scheduler/%.o: scheduler/%.c
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BIN)/epopsim: $(sim_obj) $(sched_obj) $(call room,terminal runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -rdynamic $^ $(shell pkg-config --libs libcjson zlib) -ldl -lm -pthread -o $@
$(filter-out %/hdf5.so,$(modules)): $(LIB)/epop/%.so: $(OBJ)/scheduler/modules/%.o
	$(announce)
	$(Q)$(CC) -shared $(SANITIZE) $(LDFLAGS) $^ -l$* -o $@
$(OBJ)/runtime/checkpoint/hdf5/%.o: CPPFLAGS += $(shell pkg-config --cflags $(hdf5_name))
$(LIB)/epop/hdf5.so: $(hdf5_obj)
	$(announce)
	$(Q)$(CC) -shared $(SANITIZE) $(LDFLAGS) $^ $(shell pkg-config --libs-only-L --libs-only-l $(hdf5_name)) -o $@
# One beside each job.
$(LIB)/epop/attend: $(attend_obj) $(call room,scheduler/munge runtime/hydra runtime/control runtime/wire runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(LDLIBS) -o $@
# One beside each job, too: a client of the wire, and a PMIx server.
$(OBJ)/gateway/%.o: gateway/%.c
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(shell pkg-config --cflags pmix) $(CFLAGS) -c $< -o $@
$(LIB)/epop/pmix-gateway: $(gateway_obj) $(call room,runtime/control runtime/wire runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(shell pkg-config --libs pmix) $(LDLIBS) -o $@
# The daemon keeps its journal by SQLite.
$(BIN)/epoprm: $(rm_obj) $(hosts_obj) $(slurm_obj) $(sched_obj) $(OBJ)/epop_api/sizes.o $(call room,scheduler/daemon scheduler/journal scheduler/munge terminal runtime/launch runtime/hydra runtime/wire runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -rdynamic $^ $(LDLIBS) $(shell pkg-config --libs zlib sqlite3) -o $@

# epop-report is neither. Its charts are JavaScript, bundled into one script that the executable contains.
BUNDLE := $(BUILD)/report
$(BUNDLE)/report.js $(BUNDLE)/THIRD-PARTY.txt &: $(wildcard report/web/* report/web/src/* report/web/src/*/*) schema/profile.schema.json
	$(announce)
	$(Q)modules=$$(report/web/modules.sh) && node report/web/build.mjs "$$modules" schema/profile.schema.json $(BUNDLE)
# Linked with a program, which says what was meant when it is executed itself.
ENTRY := $(LIB)/epop/entry.o
$(ENTRY): epop_api/entry.S
	$(announce)
	$(Q)mkdir -p $(@D) && $(CC) -c $< -o $@
$(LIB)/libepop.so: | $(ENTRY)
$(OBJ)/report/assets.o: report/assets.S $(BUNDLE)/report.js
	$(announce)
	$(Q)$(CC) -DREPORT_SCRIPT='"$(BUNDLE)/report.js"' -c $< -o $@
$(OBJ)/report/%.o: report/%.c
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BIN)/epop-report: $(report_obj) $(call room,terminal runtime/base)
	$(announce)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(shell pkg-config --libs libcjson) -lduktape -lm -pthread -o $@

# A program is one source file, or a folder as an example is; both see only the public headers.
plugin_flags = -Iepop_api -Iexamples -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE -fPIC -shared $(SANITIZE) $(LDFLAGS) $(ENTRY)
$(LIB)/epop/programs/%.so: programs/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..' -lm $(mpi_words)
$(python): $(BUILD)/$(PYTHON_PACKAGES)/%.py: python/%.py
	$(announce)
	$(Q)install -D -m 644 $< $@
# Drivers of one's own see the public headers, too.
$(BUILD)/drivers/%.so: programs/drivers/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../lib' $(mpi_words)
# Policies of one's own need no library.
policy_command = $(CC) -Iepop_api -std=c11 $(OPT) $(WARN) -fPIC -shared $(SANITIZE) $(LDFLAGS) $< -o $@
$(BUILD)/policies/%.so: programs/policies/%.c epop_api/epop/policy.h
	$(announce)
	$(Q)$(policy_command)
$(BUILD)/tests/policies/%.so: tests/policies/%.c epop_api/epop/policy.h
	$(announce)
	$(Q)$(policy_command)
# Executables: libepop_mpi comes before MPI, which the compiler command puts last.
plain_libs = -L$(LIB) -lepop_mpi -Wl,-rpath,'$$ORIGIN/../lib' -Wl,-rpath-link,$(LIB) -lm
$(BUILD)/plain/%: programs/plain/%.c epop_api/epop/mpi_adapt.h | $(LIB)/libepop_mpi.so
	$(announce)
	$(Q)$(mpi_cc) -Iepop_api -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE $(LDFLAGS) $< -o $@ $(plain_libs) $(mpi_words)

# For Fortran programs: modules that are interfaces alone, so that nothing of them is linked. The sources are there for
# other compilers than the one at hand.
FINC := $(BUILD)/include/epop/fortran
fortran_texts := $(patsubst epop_api/fortran/%,$(FINC)/%,$(filter-out %/mpi.f90,$(wildcard epop_api/fortran/*))) $(FINC)/mpi/mpi.f90
fortran_built := $(patsubst %,$(FINC)/%,epop.mod epop_mpi_adapt.mod epop_mpi_adapt_f08.mod epop_mpi_psets.mod mpi/mpi.mod mpi/mpif.h)
ifneq ($(FORTRAN),no)
programs += $(patsubst programs/%.f90,$(LIB)/epop/programs/%.so,$(wildcard programs/*.f90))
all: $(fortran_texts) $(fortran_built) $(programs)
endif
$(FINC)/%: epop_api/fortran/%
	@mkdir -p $(@D) && cp $< $@
$(FINC)/mpi/mpi.f90: epop_api/fortran/mpi.f90
	@mkdir -p $(@D) && cp $< $@
# What the compiler finds first of mpi.mod and mpif.h has MPICH's, too.
$(FINC)/mpi/mpif.h: epop_api/fortran/epop_mpi_adapt.fh
	$(announce)
	$(Q)cat "$$(for flag in $$($(MPIFC) -show); do case $$flag in -I*) ls "$${flag#-I}/mpif.h" 2>/dev/null; esac; done | head -n 1)" $< > $@
$(FINC)/%.mod: $(FINC)/%.f90
	$(announce)
	$(Q)$(MPIFC) -std=f2018 -Wall $(ERRORS) -fsyntax-only -I$(FINC) -J$(@D) $<
$(FINC)/epop_mpi_adapt_f08.mod $(FINC)/mpi/mpi.mod: $(FINC)/epop_mpi_adapt.mod
$(FINC)/mpi/mpi.mod: $(FINC)/epop_mpi_psets.mod
$(LIB)/epop/programs/%.so: programs/%.f90 $(FINC)/epop.mod | $(LIB)/libepop.so
	$(announce)
	$(Q)mkdir -p $(OBJ)/programs && $(MPIFC) -std=f2018 $(OPT) -Wall $(ERRORS) -fPIC -shared -I$(FINC) -J$(OBJ)/programs $(SANITIZE) \
	    $(LDFLAGS) $(ENTRY) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..'
.SECONDEXPANSION:
$(folders): $(LIB)/epop/%.so: $$(wildcard %/*.c %/*.h) $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $(filter %.c,$^) -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..' -lm $(mpi_words)
$(LIB)/epop/examples/%.so: $$(wildcard examples/%/*.c examples/%/*.h examples/common/*) $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $(filter %.c,$^) -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../..' $(BLAS) -lm $(mpi_words)
# NAME_rigid: of NAME it has all but what makes that elastic.
$(beside): $(BUILD)/plain/%_rigid: examples/$$*/plain/$$*_rigid.c $$(filter-out examples/$$*/$$*.c,$$(wildcard examples/$$*/*.[ch])) \
    $(wildcard examples/common/agree.[ch] epop_api/epop/*.h) | $(LIB)/libepop_mpi.so
	$(announce)
	$(Q)$(mpi_cc) -Iepop_api -Iexamples -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE $(LDFLAGS) $(filter %.c,$^) -o $@ $(plain_libs) $(mpi_words)

# A unit test of an example's source names that source as a prerequisite of its own.
$(BUILD)/tests/unit/test_npy: examples/common/npy.c examples/common/npy_header.c
$(BUILD)/tests/unit/test_mtx: examples/gauss/mtx.c
$(BUILD)/tests/unit/test_panel: examples/gauss/panel.c
$(BUILD)/tests/unit/test_panel: LDLIBS += $(BLAS)
$(BUILD)/tests/unit/test_profile: $(patsubst %,$(OBJ)/driver/%.o,profile/merge common/output) $(call room,terminal)
$(BUILD)/tests/unit/test_tune: $(patsubst %,$(OBJ)/driver/tune/%.o,budget contest search)
$(BUILD)/tests/unit/test_amdahl: report/amdahl.c
$(BUILD)/tests/unit/test_fit $(BUILD)/tests/unit/test_options: $(call room,terminal)
$(BUILD)/tests/unit/test_fits: report/amdahl.c report/fits.c
$(BUILD)/tests/unit/test_timeline: report/timeline.c
$(BUILD)/tests/unit/test_steps: report/steps.c
$(BUILD)/tests/unit/test_gantt: report/gantt.c report/schedule.c
# The driver's objects are no part of the library.
$(BUILD)/tests/unit/test_walk: $(filter-out $(OBJ)/driver/epop/main.o,$(epop_obj)) $(OBJ)/interpose/layer/redirect.o $(call room,terminal)
$(BUILD)/tests/unit/test_journal: $(call room,scheduler/journal)
$(BUILD)/tests/unit/test_journal: LDLIBS += $(shell pkg-config --libs sqlite3 2>/dev/null)
$(BUILD)/tests/unit/test_epoprm_server: $(call room,scheduler/daemon)
$(BUILD)/tests/unit/test_trace: $(patsubst %,$(OBJ)/driver/%.o,trace/buffer trace/handover trace/out common/output) $(call room,terminal)
$(BUILD)/tests/unit/test_handles: $(OBJ)/driver/debug/handles.o
$(BUILD)/tests/unit/test_yield: $(OBJ)/interpose/layer/yield.o
$(BUILD)/tests/unit/test_yield: LDLIBS += -Wl,--wrap=dlsym,--wrap=dladdr,--wrap=sched_yield
$(BUILD)/tests/unit/test_no_memory: LDLIBS += -Wl,--wrap=malloc
$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB)/libepop.a
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) -Iexamples $(filter %.c %.o,$^) $(filter-out %/libepop.a,$(filter %.a,$^)) -o $@ $(LIB)/libepop.a $(LDLIBS) $(CMOCKA) $(mpi_words)
$(BUILD)/tests/unit/test_scheduler_policy: | $(testpolicies) $(policies)
# By name, as make 4.4 takes the general rule where their objects are yet to be made.
$(filter $(BUILD)/tests/unit/test_scheduler_%,$(units)): $(BUILD)/tests/unit/test_scheduler_%: tests/unit/test_scheduler_%.c $(sched_obj) $(call room,runtime/base)
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -rdynamic $(filter %.c %.o %.a,$^) -o $@ $(shell pkg-config --libs libcjson zlib) -ldl -lm -pthread $(CMOCKA)
$(BUILD)/tests/mpi/test_interpose: $(OBJ)/interpose/wrappers.o
$(BUILD)/tests/mpi/%: tests/mpi/%.c $(LIB)/libepop.a
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) $(filter %.c %.o,$^) -o $@ $(LIB)/libepop.a $(LDLIBS) $(CMOCKA) $(mpi_words)
# cmocka 2 has other names for some of what cmocka 1 has, and says so.
$(BUILD)/tests/unit/% $(BUILD)/tests/mpi/%: CFLAGS += -Wno-deprecated-declarations
# What decides nothing, and talks to nobody.
slurm_parts := $(filter-out $(patsubst %,%/adviser.o %/asking.o,$(OBJ)/scheduler/slurm),$(slurm_obj)) $(sched_obj) $(call room,scheduler/journal scheduler/munge runtime/wire runtime/base)
$(BUILD)/tests/unit/test_slurm_% $(BUILD)/tests/helpers/slurm_queue: LDLIBS += $(shell pkg-config --libs zlib sqlite3)
$(filter $(BUILD)/tests/unit/test_slurm_%,$(units)): $(BUILD)/tests/unit/test_slurm_%: tests/unit/test_slurm_%.c $(slurm_parts)
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -rdynamic $(filter %.c %.o %.a,$^) -o $@ $(LDLIBS) $(CMOCKA)
$(BUILD)/tests/helpers/slurm_queue: tests/helpers/slurm_queue.c $(slurm_parts)
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -rdynamic $(filter %.c %.o %.a,$^) -o $@ $(LDLIBS)
$(BUILD)/tests/helpers/pmix_tool: tests/helpers/pmix_tool.c
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(shell pkg-config --cflags pmix) $(CFLAGS) $(LDFLAGS) $< -o $@ $(shell pkg-config --libs pmix) -pthread
$(BUILD)/tests/helpers/%: tests/helpers/%.c $(LIB)/libepop.a
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LIB)/libepop.a $(LDLIBS) $(mpi_words)
$(BUILD)/tests/programs/%.so: tests/programs/%.c $(wildcard tests/expect.h tests/programs/*.h epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../../lib' -lm $(mpi_words)
# Those that observe MPI calls, or look behind the layer.
$(BUILD)/tests/programs/interpose_%.so: plugin_flags += -I. -I$(BUILD)
$(patsubst tests/programs/%.c,$(BUILD)/tests/programs/%.so,$(wildcard tests/programs/interpose_*.c)): $(GENERATED)/functions.h interpose/interpose.h
# C++, and not linked with MPI: it finds that in the process.
$(BUILD)/tests/programs/%.so: tests/programs/%.cpp $(wildcard epop_api/epop/*.h*) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(CXX) -Iepop_api $(filter -I%,$(mpi_words)) -DMPICH_SKIP_MPICXX $(OPT) $(WARN) -fPIC -shared $(LDFLAGS) \
	    $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../../lib'
$(addprefix $(BUILD)/bench/,interpose measure loops): $(LIB)/libepop_mpi.so
$(addprefix $(BUILD)/bench/,interpose measure loops): LDLIBS += -L$(LIB) -lepop_mpi -Wl,-rpath,'$$ORIGIN/../lib' -Wl,-rpath-link,$(LIB)
# Executables with a job: one libepop, and not that of the archive besides.
$(addprefix $(BUILD)/bench/,calls psets): $(BUILD)/bench/%: bench/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop_mpi.so
	$(announce)
	$(Q)$(mpi_cc) -Iepop_api -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE $(SANITIZE) $(LDFLAGS) $< -o $@ $(plain_libs) $(mpi_words)
$(BUILD)/bench/checkpoint: LDLIBS += $(shell pkg-config --cflags --libs hdf5-mpich 2>/dev/null)
$(BUILD)/bench/pdgemm $(BUILD)/bench/pdgesv: LDLIBS += -lscalapack-mpich $(BLAS)
$(bench_programs): $(BUILD)/bench/%.so: bench/programs/%.c $(wildcard epop_api/epop/*.h) | $(LIB)/libepop.so
	$(announce)
	$(Q)$(mpi_cc) $(plugin_flags) $< -o $@ -L$(LIB) -lepop -Wl,-rpath,'$$ORIGIN/../lib' $(mpi_words)
# The same program as loop.so, with a main() written by hand.
$(BUILD)/bench/loop_plain: bench/programs/loop.c $(LIB)/libepop.a
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) -DPLAIN $< -o $@ $(LIB)/libepop.a $(LDLIBS) $(mpi_words)
$(BUILD)/bench/scheduler: bench/scheduler.c $(sched_obj) $(call room,runtime/base)
	$(announce)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -rdynamic $(filter %.c %.o %.a,$^) -o $@ $(shell pkg-config --libs libcjson zlib) -ldl -lm -pthread
$(BUILD)/bench/ask: bench/ask.c $(filter-out %/main.o,$(ctl_obj)) $(call room,terminal runtime/control runtime/wire runtime/base)
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) $(filter %.c %.o %.a,$^) -o $@ $(LDLIBS) $(mpi_words)
$(BUILD)/bench/%: bench/%.c $(LIB)/libepop.a
	$(announce)
	$(Q)$(mpi_cc) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LIB)/libepop.a $(LDLIBS) $(mpi_words)

# What whole jobs are tested with, and besides that the tests that are programs of their own.
test-programs: $(testprogs) $(helpers) $(drivers) $(policies) $(testpolicies)
units: $(units)
tests: test-programs units $(mpitests)
benches: $(benches) $(bench_programs) $(BUILD)/bench/loop_plain

# ---- What a user calls ----------------------------------------------------------
# The packages are looked for when they are needed; the second make sees what the first one installed. It makes as many things at
# once as there are processors, unless `make -j N` says how many.
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell env -u OMP_NUM_THREADS nproc))

PACKAGES       := gcc binutils libc6-dev pkg-config python3 mpich libmpich-dev libcjson-dev libevent-dev libsodium-dev libpmix-dev libdw-dev zlib1g-dev libsqlite3-dev libhdf5-dev libopenblas-dev mandoc python3-markdown
TEST_PACKAGES  := build-essential libmunge-dev libslurm-dev git openssh-client g++ cmake bash-completion zsh fish gfortran clang clang-format libcmocka-dev debhelper chrpath lintian python3 python3-pytest python3-pytest-xdist python3-jsonschema python3-h5py hdf5-tools libhdf5-mpich-dev libscalapack-mpich-dev libmetis-dev libpmix-bin gdb util-linux iproute2 xz-utils \
    munge slurmctld slurmd slurm-client slurmdbd mariadb-server-core
REPORT_PACKAGES = duktape-dev $(if $(and $(shell command -v node),$(shell command -v npm)),,nodejs npm)
REPORT_TEST_PACKAGES := chromium chromium-driver python3-selenium fonts-dejavu-core librsvg2-bin
BENCH_PACKAGES := libscalapack-mpich-dev libhdf5-mpich-dev python3

# What `make libraries` builds.
LIBRARIES ?= fftw hypre

deps:
	@./deps.sh $(PACKAGES) $(if $(filter no,$(REPORT)),,$(REPORT_PACKAGES))

# Its last result is a page of the report; with REPORT=no it is the record that the page would be made of.
demo: deps
	@$(MAKE) --no-print-directory $(jobs) all
	@EPOP_BUILD=$(BUILD) MPIEXEC=$(MPIEXEC) demo/demo.sh

test-deps: deps
	@./deps.sh $(TEST_PACKAGES) $(if $(filter no,$(REPORT)),,$(REPORT_TEST_PACKAGES))

test: test-deps
	@$(MAKE) --no-print-directory $(jobs) all tests
	@BUILD=$(BUILD) MPICC='$(MPICC)' MPIEXEC=$(MPIEXEC) PYTHON=$(PYTHON) tests/all.sh

bench: deps
	@./deps.sh $(BENCH_PACKAGES)
	@$(MAKE) --no-print-directory $(jobs) all benches
	@EPOP_BUILD=$(BUILD) MPIEXEC=$(MPIEXEC) $(PYTHON) bench/run.py

# With an MPI that can start processes: make DEVICE=ch3:sock papers.
papers: deps
	@$(MAKE) --no-print-directory $(jobs) all benches
	@EPOP_BUILD=$(BUILD) MPIEXEC=$(MPIEXEC) $(PYTHON) bench/papers.py $(PAPERS)

# Under the pool with this MPI, and with the backends that start processes on one that can connect.
soak: deps
	@$(MAKE) --no-print-directory $(jobs) all
	@$(MAKE) --no-print-directory $(jobs) DEVICE=ch3:sock all
	@EPOP_BUILD=$(BUILD) MPIEXEC=$(MPIEXEC) $(PYTHON) tests/soak.py --backend pool $(SOAK)
	@for backend in join "join --options=--leave=park" spawn "spawn --options=--spawn-method=baseline"; do EPOP_BUILD=build/ch3-sock MPIEXEC=$$(mpich/prefix.sh ch3:sock)/bin/mpiexec \
		$(PYTHON) tests/soak.py --backend $$backend $(SOAK) || exit 1; done
	@for mode in "" "--options=--no-ahead" "--options=--leave=park" "--options=--leave=park\ --no-ahead" --backend=spawn "--backend=spawn --options=--spawn-async"; do EPOP_BUILD=build/ch3-sock \
		MPIEXEC=$$(mpich/prefix.sh ch3:sock)/bin/mpiexec sh -c "$(PYTHON) tests/soak.py --faults --resizes 300 --most 6 $$mode $(SOAK)" || exit 1; done
	@mpi=$$(mpich/prefix.sh ch3:sock)/bin; EPOP_BUILD=build/ch3-sock MPIEXEC=$$mpi/mpiexec MPICC=$$mpi/mpicc $(PYTHON) tests/shapes.py --resizes 3000
	@EPOP_BUILD=build/ch3-sock MPIEXEC=$$(mpich/prefix.sh ch3:sock)/bin/mpiexec $(PYTHON) tests/soak_recover.py --program five
	@for site in here hosts; do for program in ledger gauss; do EPOP_BUILD=build/ch3-sock MPIEXEC=$$(mpich/prefix.sh ch3:sock)/bin/mpiexec \
		$(PYTHON) tests/soak_recover.py --program $$program --site $$site || exit 1; done; done
	@for site in hosts slurm; do EPOP_BUILD=build/ch3-sock MPIEXEC=$$(mpich/prefix.sh ch3:sock)/bin/mpiexec $(PYTHON) tests/soak_elastic.py --site $$site || exit 1; done

mpich:
	@MPICH_LANGUAGES='$(MPICH_LANGUAGES)' mpich/build.sh $(or $(MPICH_DEVICE),$(DEVICE),ch3:sock)
mpich-info:
	@MPICC=$(MPICC) MPIEXEC=$(MPIEXEC) mpich/capabilities.sh
mpi4py:
	@PYTHON=$(PYTHON) python/mpi4py.sh
libraries:
	@for name in $(LIBRARIES); do mpich/library.sh $$name || exit 1; done
ifneq ($(DEVICE),)
$(MPICC):
	@mpich/build.sh $(DEVICE)
$(lib_obj) $(epop_obj) $(ctl_obj) mpich-info: | $(MPICC)
endif

# epop finds its library, and the installed programs, relative to itself: the tree can be moved.
root = $(DESTDIR)$(if $(filter ~%,$(PREFIX)),$(shell echo $(PREFIX)),$(PREFIX))
# Pages and sources have the places that they have here, so that links between them lead there.
documents := README.md CONTRIBUTING.md LICENSE examples/Makefile $(wildcard python/examples/*.py programs/policies/*.py docs/*/*.md docs/*/*/*.md docs/*/*.svg docs/*/*.png \
    $(foreach end,c h f90,programs/*.$(end) programs/*/*.$(end) examples/*/*.$(end) examples/*/*/*.$(end)))
# What shells complete is what --help says.
completed := epop epopctl epopsim epoprm $(if $(filter no,$(REPORT)),,epop-report)
completions := $(foreach name,$(completed),share/bash-completion/completions/$(name) share/zsh/site-functions/_$(name) share/fish/vendor_completions.d/$(name).fish)
$(BUILD)/share/bash-completion/completions/% $(BUILD)/share/zsh/site-functions/_% $(BUILD)/share/fish/vendor_completions.d/%.fish: $(BIN)/% $(BIN)/epopsim $(wildcard completion/*.py)
	$(announce)
	$(Q)$(PYTHON) -B completion/generate.py $< $(BUILD)/share
# What the headers say of their functions is the man pages of section 3, with a link for each function.
MAN3 := $(BUILD)/share/man/man3
$(MAN3)/epop_h.3: docs/api.py $(wildcard epop_api/epop/*.h) docs/man/epop.1
	$(announce)
	$(Q)rm -rf $(MAN3) && $(PYTHON) -B docs/api.py $(MAN3)
# The pages as a site. It is installed where there is what makes it, which is looked for then, and not in each make.
HTML := $(BUILD)/html
site_pages := $(wildcard README.md CONTRIBUTING.md docs/*/*.md docs/*/*/*.md docs/man/*.1 docs/pictures/*)
$(HTML)/index.html: docs/site.py $(site_pages) $(MAN3)/epop_h.3
	$(announce)
	$(Q)$(PYTHON) -B docs/site.py $(HTML) $(MAN3)
html: $(HTML)/index.html
# Several stages of tests install at once, and each would make it.
tests: $(HTML)/index.html $(MAN3)/epop_h.3
install: all $(MAN3)/epop_h.3 $(addprefix $(BUILD)/,$(completions)) $(addprefix $(BUILD)/,epop.pc epop_mpi.pc EPOPConfig.cmake EPOPConfigVersion.cmake)
	install -d "$(root)/bin" "$(root)/include/epop" "$(root)/lib/pkgconfig" "$(root)/lib/cmake/EPOP" "$(root)/lib/epop/programs" \
	    "$(root)/lib/epop/examples" "$(root)/share/man/man1" "$(root)/share/man/man3" "$(root)/share/epop/schema" "$(root)/share/epop/workloads"
	install $(BIN)/epop $(BIN)/epopctl $(BIN)/epopsim $(BIN)/epoprm "$(root)/bin"
	install $(LIB)/epop/backtrace $(LIB)/epop/tether $(LIB)/epop/step $(LIB)/epop/companion $(LIB)/epop/orphans $(LIB)/epop/attend $(gateway) "$(root)/lib/epop"
	$(if $(modules),install -m 644 $(modules) "$(root)/lib/epop")
	install -m 644 epop_api/epop/*.h epop_api/epop/epop.hpp "$(root)/include/epop"
	install -m 644 $(LIB)/libepop.so.$(SOVERSION) $(LIB)/libepop_mpi.so.$(SOVERSION) "$(root)/lib"
	install -m 644 $(ENTRY) "$(root)/lib/epop"
	ln -sf libepop.so.$(SOVERSION) "$(root)/lib/libepop.so"
	install -m 644 $(LIB)/libepop_mpi.so "$(root)/lib"
	install -m 644 $(BUILD)/epop.pc $(BUILD)/epop_mpi.pc "$(root)/lib/pkgconfig"
	install -m 644 $(BUILD)/EPOPConfig.cmake $(BUILD)/EPOPConfigVersion.cmake "$(root)/lib/cmake/EPOP"
	install -m 644 $(programs) "$(root)/lib/epop/programs"
	install -m 644 $(examples) "$(root)/lib/epop/examples"
	for file in $(python:$(BUILD)/%=%); do install -D -m 644 $(BUILD)/$$file "$(root)/$$file" || exit 1; done
	install -m 644 docs/man/*.1 "$(root)/share/man/man1"
	install -m 644 $(MAN3)/*.3 "$(root)/share/man/man3"
	install -m 644 schema/*.schema.json "$(root)/share/epop/schema"
	install -m 644 scheduler/examples/*.json "$(root)/share/epop/workloads"
	for file in $(documents); do install -D -m 644 $$file "$(root)/share/doc/epop/$$file" || exit 1; done
	! command -v mandoc >/dev/null || ! $(PYTHON) -c 'import markdown' 2>/dev/null || $(MAKE) --no-print-directory html
	rm -rf "$(root)/share/doc/epop/html"
	[ ! -f $(HTML)/index.html ] || cp -R $(HTML) "$(root)/share/doc/epop/html"
	for file in $(completions); do install -D -m 644 $(BUILD)/$$file "$(root)/$$file" || exit 1; done
	ln -sfn ../../../man/man1 "$(root)/share/doc/epop/docs/man"
	ln -sfn ../../epop/schema "$(root)/share/doc/epop/schema"
ifneq ($(FORTRAN),no)
	install -d "$(root)/include/epop/fortran/mpi"
	install -m 644 $(wildcard epop_api/fortran/*) $(filter-out $(FINC)/mpi/%,$(fortran_built)) "$(root)/include/epop/fortran"
	mv "$(root)/include/epop/fortran/mpi.f90" "$(root)/include/epop/fortran/mpi"
	install -m 644 $(filter $(FINC)/mpi/%,$(fortran_built)) "$(root)/include/epop/fortran/mpi"
endif
ifneq ($(REPORT),no)
	install $(BIN)/epop-report "$(root)/bin"
	install -m 644 $(BUNDLE)/THIRD-PARTY.txt "$(root)/share/epop"
endif

# What is filled in for those who build against it. Both interfaces name MPI's types: the header and the libraries of MPI are those
# that this build uses. Asked when it is needed, as this make may have built that MPICH itself.
pc_words = $(shell $(MPICC) -show)
comma := ,
$(BUILD)/epop.pc $(BUILD)/epop_mpi.pc $(BUILD)/EPOPConfig.cmake $(BUILD)/EPOPConfigVersion.cmake: $(BUILD)/%: epop_api/%.in Makefile
	@mkdir -p $(@D)
	$(Q)sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@MPICC@|$(MPICC)|' \
	    -e 's|@MPI_CFLAGS@|$(filter -I%,$(pc_words))|' -e 's|@MPI_INCLUDES@|$(patsubst -I%,%,$(filter -I%,$(pc_words)))|' \
	    -e 's|@MPI_LIBRARIES@|$(filter -L% -l% -Wl$(comma)%,$(pc_words))|' $< > $@

format:
	find . -path ./build -prune -o -path ./$(BUILD) -prune -o -name '*.[ch]' -exec clang-format -i {} +

clean:
	rm -rf $(BUILD)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null) $(wildcard $(GENERATED)/wrappers.d)
