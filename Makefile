# Every target is a few commands that also work without make; make -n shows them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

MODULES   := $(patsubst %/,%,$(dir $(wildcard go.mod */go.mod */*/go.mod)))
WORKSPACE := $(filter-out plane tools bench kind/crdtest,$(MODULES))
AGAIN     := $(MAKE)
PROGRAMS  := cmd/armature operators/cmd/webapp-operator plane

# The plane is two thousand packages. Whoever compiles it with the settings of
# plane/build finds them in Go's cache; any other setting compiles them again.
PLANE_ENV   := GOWORK=off CGO_ENABLED=0
PLANE_FLAGS := -trimpath -gcflags=all=-dwarf=false

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/:.* ## /\t/' | expand -t 13

.PHONY: build
build: plane ## all programs, into bin
	go build -o bin/ ./cmd/armature ./operators/cmd/webapp-operator

.PHONY: plane
plane: ## bin/plane alone: ten minutes once, then seconds
	GOWORK=off go run -C plane ./build -o ../bin/plane

.PHONY: demo
demo: ## watch an operator at work
	go build -o bin/ ./cmd/armature
	bin/armature demo

# --- tests

.PHONY: test
test: build bin/testsum ## every test of every module
	ARMATURE_PLANE=$(CURDIR)/bin/plane bin/testsum -skips testskips.txt \
	  'go test -count=1 -json work' \
	  '$(PLANE_ENV) go test -C plane $(PLANE_FLAGS) -vet=off -count=1 -json ./...' \
	  'GOWORK=off go test -C tools -count=1 -json ./...' \
	  'GOWORK=off go test -C bench -count=1 -json ./...' \
	  'GOWORK=off go test -C kind/crdtest -count=1 -json ./...'

.PHONY: race
race: build bin/testsum ## the tests of the workspace under the race detector
	ARMATURE_PLANE=$(CURDIR)/bin/plane bin/testsum -skips testskips.txt 'go test -race -count=1 -json work'

.PHONY: golden
golden: ## rewrite golden files; read the difference
	go test $$(grep -rlE --include=*_test.go --exclude-dir={plane,tools,bench} 'armaturetest\.Golden|flag\.Bool\("update"' . | xargs -n1 dirname | sort -u) -update
	GOWORK=off go test -C tools ./testsum -update

# --- checks

.PHONY: check
check: format lint arch standalone generated ## what a change must pass besides its tests

.PHONY: format
format: bin/golangci-lint ## is everything formatted? (make fmt does it)
	bin/golangci-lint fmt --diff

.PHONY: fmt
fmt: bin/golangci-lint ## format everything
	bin/golangci-lint fmt

.PHONY: lint
lint: bin/golangci-lint ## .golangci.yml over every module
	bin/golangci-lint run $(WORKSPACE:%=./%/...)
	cd tools && GOWORK=off ../bin/golangci-lint run ./...
	cd bench && GOWORK=off ../bin/golangci-lint run ./...
	cd kind/crdtest && GOWORK=off ../../bin/golangci-lint run ./...
	cd plane && $(PLANE_ENV) GOFLAGS='$(shell go env GOFLAGS) $(PLANE_FLAGS)' ../bin/golangci-lint run ./...

.PHONY: arch
arch: ## the rules of the repository: arch_test.go, policy_test.go, writer_test.go
	go test -count=1 .

# Modules must stand without the workspace: that is how they are used.
.PHONY: standalone
standalone: ## build, vet and tidy each module by itself
	for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy -diff); done
	for m in $(filter-out plane,$(MODULES)); do (cd $$m && GOWORK=off go vet ./...); done
	cd plane && $(PLANE_ENV) go build $(PLANE_FLAGS) ./...

.PHONY: generated
generated: bin/fresh bin/controller-gen ## is what generators make checked in?
	bin/fresh $(AGAIN) --no-print-directory generate deps

.PHONY: generate
generate: bin/controller-gen ## deep copies and CRDs
	cd api && ../bin/controller-gen object paths=./...
	cd operators && ../bin/controller-gen object crd paths=./webapp/... output:crd:dir=webapp/crd

.PHONY: deps
deps: ## the modules that each program links, into deps.txt beside it
	for p in $(PROGRAMS); do GOWORK=off GOOS=linux GOARCH=amd64 CGO_ENABLED=0 \
	  go list -C $$p -deps -f '{{with .Module}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}' . | \
	  grep ' v' | LC_ALL=C sort -u > $$p/deps.txt; done

# --- long runs

BUDGET ?= 10m
SEED   ?= 1

.PHONY: fuzz-apply
fuzz-apply: plane ## compare what apply decides with the API server, for BUDGET=10m, from SEED=1
	ARMATURE_PLANE=$(CURDIR)/bin/plane go test ./apply -run TestNoForeignWriteIsMissed -budget $(BUDGET) -seed $(SEED) -v -count=1 -timeout 0

# --- benchmarks: a table on stdout, and bench/out

# FLAGS='-doc docs/performance.md' puts the table into the document; FLAGS=-help lists the others.
.PHONY: bench-apply
bench-apply: plane ## what it costs to keep objects as desired, beside other ways: ten minutes
	GOWORK=off go build -C bench -o ../bin/bench-apply ./apply
	bin/bench-apply -plane bin/plane $(FLAGS)

# --- tools, of the versions in tools/go.mod

bin/golangci-lint: tools/go.mod
	GOWORK=off go build -C tools -o ../bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
bin/controller-gen: tools/go.mod
	GOWORK=off go build -C tools -o ../bin/ sigs.k8s.io/controller-tools/cmd/controller-gen
bin/testsum bin/fresh: $(wildcard tools/*/*.go)
	GOWORK=off go build -C tools -o ../bin/ ./$(@F)

.PHONY: clean
clean: ## remove bin
	rm -rf bin
