# make help says what there is. CI calls the same targets.
#
# Every target works in a fresh clone. What it needs beyond go, git and make is
# installed first where that can be done (as root on Debian), else named.

ifeq ($(filter oneshell,$(.FEATURES)),)
$(error this Makefile needs GNU make 3.82 or later, this is $(MAKE_VERSION))
endif
.ONESHELL:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The modules of this repository: what applications import, and what must not
# enter their module graphs.
MODULES := . $(patsubst %/go.mod,%,$(wildcard integration/go.mod bench/go.mod bench/peers/go.mod cmd/muster/go.mod))
# Those whose tests need nothing but Go.
UNIT_MODULES := $(filter-out integration,$(MODULES))

# Settings. FUZZTIME is per fuzz target, COUNT is runs of every test in make
# race, SEEDS is simulated groups, BROKERS is a comma-separated list of host:port of a running Kafka,
# RUNS and ONLY are of make bench-peers: how often to measure, and a comma-separated list of clients.
FUZZTIME ?= 30s
COUNT ?= 10
SEEDS ?= 20000
BROKERS ?=
RUNS ?= 20
ONLY ?=

# The tools of tools.mod are built once for each state of tools.mod and each Go
# version. golangci-lint is large: the first build takes about two minutes.
BIN := $(CURDIR)/bin/tools-$(shell { go env GOVERSION; cat tools.mod tools.sum; } | cksum | cut -d' ' -f1)
TOOLS := $(addprefix $(BIN)/,gofumpt golangci-lint govulncheck staticcheck)

# in-modules runs a command in each of some modules, all of them even if it
# fails in one, and then fails if it did.
in-modules = failed=; for module in $(1); do echo "== $$module: $(2)"; (cd "$$module" && $(2)) || failed="$$failed $$module"; done; \
	[ -z "$$failed" ] || { echo "failed in:$$failed" >&2; exit 1; }

.PHONY: help
help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

## Running it

.PHONY: demo
demo: ## Watch a group at work; BROKERS=host:port for a real Kafka, else one is embedded
	@cd cmd/muster && exec go run . demo $(if $(BROKERS),--brokers '$(BROKERS)')

.PHONY: bench
bench: ## Compare with another client on a real Kafka: the one at BROKERS=host:port, which it fills with test data, else one is started
	@if [ -n '$(BROKERS)' ]; then cd bench && exec go run . -brokers '$(BROKERS)'; fi
	env="$$(integration/setup/ensure)"; set -a; eval "$$env"; set +a
	cd bench && exec ./with-broker go run . -brokers

.PHONY: bench-assign
bench-assign: ## Compare the assignors with those of other clients; needs no Kafka
	@cd bench && exec go run ./assigning

.PHONY: bench-idle
bench-idle: ## Compare what an idle member costs with other clients, on the Kafka at BROKERS=host:port, else one is started
	@if [ -n '$(BROKERS)' ]; then cd bench && exec go run ./idle -broker '$(BROKERS)'; fi
	env="$$(integration/setup/ensure)"; set -a; eval "$$env"; set +a
	cd bench && exec ./with-broker go run ./idle -broker

.PHONY: bench-peers
bench-peers: c-compiler ## Compare how groups rebalance with five other clients, RUNS times (an hour for 20), on a Kafka that is started; ONLY=muster,java for some of them
	@env="$$(integration/setup/ensure)"; set -a; eval "$$env"; set +a
	cd bench/peers && exec ../with-broker go run . -runs '$(RUNS)' $(if $(ONLY),-only '$(ONLY)') -broker

## Tests

.PHONY: test
test: unit integration ## Run all tests: unit, script and real-Kafka tests

.PHONY: unit
unit: c-compiler ## Run the tests that need nothing but Go, with the race detector, and simulate 20000 groups
	@$(call in-modules,$(UNIT_MODULES),go test -race ./...)
	echo '== 20000 simulated groups'
	go run ./internal/sim/cmd -seeds 20000

.PHONY: integration
integration: c-compiler ## Run the tests against a real Kafka, installed and started as needed
	@env="$$(integration/setup/ensure)"; set -a; eval "$$env"; set +a
	$(call in-modules,integration,go test -race -count=1 -timeout=20m ./...)

.PHONY: race
race: c-compiler ## Run the unit tests COUNT times in random order with the race detector
	@$(call in-modules,$(UNIT_MODULES),go test -race -shuffle=on -count=$(COUNT) ./...)

.PHONY: sim
sim: ## Simulate SEEDS groups under faults; a million say, too, whether every event has met every state often enough
	@go run ./internal/sim/cmd -seeds $(SEEDS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@targets="$$(go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $$1 } \
		$$1 == "ok" { for (i = 1; i <= n; i++) print $$2, names[i]; n = 0 }')"
	[ -n "$$targets" ] || { echo 'no fuzz targets found' >&2; exit 1; }
	while read -r package target; do
		echo "== $$package: $$target for $(FUZZTIME)"
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 10x "$$package" </dev/null
	done <<<"$$targets"

## Checks

.PHONY: check
check: format vet staticcheck lint fix-diff tidy-diff tools-diff deps ## Check the code without running it

.PHONY: format
format: $(BIN)/gofumpt ## Show what gofumpt would change
	@echo '== gofumpt'
	changes="$$($(BIN)/gofumpt -extra=group_params -d .)"; [ -z "$$changes" ] || { echo "$$changes"; exit 1; }

.PHONY: vet
vet: ## Run go vet in every module
	@$(call in-modules,$(MODULES),go vet ./...)

.PHONY: staticcheck
staticcheck: $(BIN)/staticcheck ## Run staticcheck in every module
	@$(call in-modules,$(MODULES),$(BIN)/staticcheck ./...)

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run golangci-lint in every module: the architecture and the house rules
	@$(call in-modules,$(MODULES),$(BIN)/golangci-lint run)

.PHONY: fix-diff
fix-diff: ## Show what go fix would modernize
	@$(call in-modules,$(MODULES),go fix -diff ./...)

.PHONY: tidy-diff
tidy-diff: ## Show what go mod tidy would change
	@$(call in-modules,$(MODULES),go mod tidy -diff)

.PHONY: tools-diff
tools-diff: ## Show what go mod tidy would change in tools.mod
	@echo '== tools.mod: go mod tidy -diff'
	dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT
	cp tools.mod "$$dir/go.mod"; cp tools.sum "$$dir/go.sum"
	cd "$$dir"; go mod tidy -diff

# Testify and the like are for our tests; a program that imports the client
# compiles none of them.
.PHONY: deps
deps: ## Check that importing the client compiles fewer than 12 modules and none that is only for tests
	@echo '== modules that a program with ./client compiles'
	modules="$$(go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./client | sort -u | sed '/^$$/d')"
	echo "$$modules" | sed 's/^/  /'
	count="$$(wc -l <<<"$$modules")"
	[ "$$count" -lt 12 ] || { echo "$$count modules; there may be at most 11" >&2; exit 1; }
	if grep -E 'testcontainers|cobra|kfake|testify|datadriven|rapid|goleak' <<<"$$modules" >&2; then
		echo 'these must not be needed by ./client' >&2; exit 1
	fi

.PHONY: docs
docs: ## Check the documentation: its links, its commands, and the drawings that tests compare with the code
	@echo '== docs'
	go test -count=1 -run 'Doc' ./...

.PHONY: vulnerabilities
vulnerabilities: $(BIN)/govulncheck ## Look for known vulnerabilities in what we call (asks a database on the network)
	@$(call in-modules,$(MODULES),$(BIN)/govulncheck ./...)

## Helpers

.PHONY: fmt
fmt: $(BIN)/gofumpt ## Format the code
	@$(BIN)/gofumpt -extra=group_params -w .

.PHONY: fix
fix: ## Modernize the code with go fix
	@$(call in-modules,$(MODULES),go fix ./...)

.PHONY: tidy
tidy: ## Run go mod tidy in every module
	@$(call in-modules,$(MODULES),go mod tidy)

.PHONY: tools
tools: $(TOOLS) ## Build the tools of tools.mod into bin/

$(BIN)/gofumpt: PACKAGE = mvdan.cc/gofumpt
$(BIN)/golangci-lint: PACKAGE = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(BIN)/govulncheck: PACKAGE = golang.org/x/vuln/cmd/govulncheck
$(BIN)/staticcheck: PACKAGE = honnef.co/go/tools/cmd/staticcheck
$(TOOLS):
	@echo "== building $(@F)"
	go build -modfile=tools.mod -o '$@' '$(PACKAGE)'

# The race detector needs a C compiler.
.PHONY: c-compiler
c-compiler:
	@cc="$$(go env CC)"; command -v "$${cc%% *}" >/dev/null && exit
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "no C compiler: go test -race needs one; install gcc and the C library's headers, then run make again" >&2
		exit 1
	fi
	echo '== installing a C compiler for go test -race'
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 gcc libc6-dev >/dev/null
