# `make help` explains every target.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo setup build test bench quality lint format docs clean

# Debug builds take about half the time of release builds and are fast enough to try things.
BUILD ?= debug
# Half as much again of the speed of a page of changes (docs/decisions/0007-release-flags.md).
RELEASE := --configuration release -Xswiftc -cross-module-optimization
# A folder of cases for `make quality`.
CASES ?= ../shared/data/resolution
SOURCES := Package.swift Plugins Sources Tests sql

help: ## Shows this list
	@sed -nE 's/^([a-z]+):.*## (.*)/\1	\2/p' $(MAKEFILE_LIST) | \
	  while IFS=$$'\t' read -r target meaning; do printf '  make %-8s %s\n' "$$target" "$$meaning"; done

demo: setup ## Installs what is missing, builds, and serves a conversation to try in a browser
	swift build --configuration $(BUILD) --product vocative
	exec "$$(swift build --configuration $(BUILD) --show-bin-path)/vocative" serve --mode development --demo

setup: ## Installs what is missing from Debian's packages
	@scripts/setup

build: setup ## Builds the release binary
	swift build $(RELEASE) --product vocative

test: ## Installs what the tests need, and runs all of them
	@scripts/setup test
	swift build --build-tests
	scripts/test

bench: ## Installs what the benchmarks need, and runs them
	@scripts/setup bench
	swift build $(RELEASE) --product vocative
	swift build $(RELEASE) --product vocative-bench
	"$$(swift build $(RELEASE) --show-bin-path)/vocative-bench"

quality: ## Judges recipient resolution on the cases in CASES, beside two baselines
	swift build --configuration release --product vocative-quality
	scripts/quality "$$(swift build --configuration release --show-bin-path)/vocative-quality" $(CASES)

lint: ## Checks the format of the code
	swift format lint --strict --recursive $(SOURCES)

format: ## Formats the code
	swift format --in-place --recursive $(SOURCES)

docs: ## Makes docs/configuration.md anew from the table of settings
	swift build --product vocative
	"$$(swift build --show-bin-path)/vocative" configuration --markdown > docs/configuration.md.new
	mv docs/configuration.md.new docs/configuration.md

clean: ## Removes what was built; data in .vocative stays
	swift package clean
