# Verbs a person thinks in. `make help` lists them.

CONFIG ?= debug
SWIFT_FLAGS ?=
# Tests at a time. Many start servers of their own; all at once they would wait for the processor, not for each other.
TEST_WIDTH ?= 6
# Tests that a busy machine would fail, for the processor has them wait longer than they allow: those of servers that
# stand still, and those whose names say within how many seconds something happens.
ALONE = ^(EndToEndTests|PostgresTests)\.FreezeTests|within (five|ten) seconds
SWIFT_BUILD = swift build -c $(CONFIG) $(SWIFT_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help setup build demo run watch docs portable test contract conformance browser sanitize fuzz soak lint format migrations bench docker image bases deb sbom clean

help: ## list the verbs
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## install the system packages that are missing, saying which
	@scripts/setup

build: setup ## build the grandstand program (CONFIG=release for a fast one)
	$(SWIFT_BUILD) --product grandstand

demo: build ## the main job, seen: a match played to Apple's door and back, then exit
	@"$$($(SWIFT_BUILD) --show-bin-path)/grandstand" demo --once

run: build ## the same set-up, staying up, with a key and calls to try
	@"$$($(SWIFT_BUILD) --show-bin-path)/grandstand" demo

watch: build ## a match with an outage beside a real Prometheus: which alerts fire, and that they stop
	@scripts/setup watch
	@GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/watch

docs: build ## check the pages: every link, and the shell blocks against a demo that stays up
	@scripts/setup curl python3
	@GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/check-docs

test: setup ## build and run every test
	swift build --build-tests
	swift test --skip-build --skip '$(ALONE)' --experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift test --skip-build --filter '$(ALONE)' --experimental-maximum-parallelization-width 2

contract: ## write Swift from openapi.yaml: types, kinds of problems, the client's calls
	scripts/generate-contract

conformance: build ## hold the server to openapi.yaml with CASES made-up requests (needs PyPI once)
	GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/contract-check $(or $(CASES),500)

browser: build ## the console's match day in a headless Chromium, with pictures in .build/browser (needs PyPI once)
	scripts/setup browser
	GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/browser-check

# The sanitizers build everything anew: only what these tests need.
sanitize: export GRANDSTAND_TESTS = HTTP2Tests
sanitize: export LSAN_OPTIONS = suppressions=$(CURDIR)/scripts/leaks.supp:print_suppressions=0
sanitize: setup ## the HTTP/2 tests under AddressSanitizer, then under ThreadSanitizer
	swift build --product grandstandPackageTests --sanitize=address --scratch-path .build/address
	swift test --skip-build --sanitize=address --scratch-path .build/address --filter '^HTTP2Tests' \
		--experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift build --product grandstandPackageTests --sanitize=thread --scratch-path .build/thread
	swift test --skip-build --sanitize=thread --scratch-path .build/thread --filter '^HTTP2Tests' \
		--experimental-maximum-parallelization-width $(TEST_WIDTH)

fuzz: setup ## server bytes against the HTTP/2 client's session for FUZZ_SECONDS=60
	scripts/fuzz

soak: setup ## random faults between the client and APNs for SOAK_SECONDS=600
	GRANDSTAND_SOAK_SECONDS=$${SOAK_SECONDS:-600} swift test --filter SoakTests

lint: ## check format, imports, and what only Xcode builds
	swift format lint --strict --recursive --parallel Package.swift Plugins Sources Tests Benchmarks Examples migrations
	scripts/check-imports
	scripts/check-examples

format: ## format every Swift file in place
	swift format --in-place --recursive --parallel Package.swift Plugins Sources Tests Benchmarks Examples migrations

migrations: setup ## apply the migrations to an empty database, and check that each only adds
	scripts/check-migrations

bench: setup ## measure, with the peers beside us (docs/internals/benchmarks.md)
	GRANDSTAND_BENCHMARKS=1 swift build -c release --product HTTP2Benchmark
	Benchmarks/postgres-vs-pgbench.sh
	Benchmarks/http2-vs-h2load.sh
	swift build -c release --product grandstand
	Benchmarks/simulator-vs-nghttpd.sh
	Benchmarks/simulator-memory.sh
	Benchmarks/ledger.sh
	Benchmarks/history.sh
	Benchmarks/registrations.sh
	Benchmarks/lookup.sh
	Benchmarks/states.sh

docker: ## PostgreSQL, simulator and server in containers, until Ctrl-C
	docker compose -f docker/compose.yaml up --build

ENGINE ?= $(firstword $(foreach name,docker podman buildah,$(shell command -v $(name))))
IMAGE_FLAGS ?=
# The other format has no health checks.
IMAGE_FORMAT = $(if $(findstring docker,$(ENGINE)),,--format docker)
# Nothing of git is in the context, so the image is told its version.
image: ## the image "grandstand", by docker, podman or buildah (IMAGE_FLAGS="--target demo" for one with PostgreSQL)
	@[ -n "$(ENGINE)" ] || { echo "image: none of docker, podman, buildah is here; apt-get install buildah" >&2; exit 1; }
	bases="$$(scripts/bases --arguments)" && $(ENGINE) build $(IMAGE_FORMAT) -f docker/Dockerfile -t grandstand $$bases \
		--build-arg VERSION="$$(git describe --tags --always)" --build-arg REVISION="$$(git rev-parse HEAD)" \
		--build-arg SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" $(IMAGE_FLAGS) .

bases: ## docker/bases: the image's bases by the digests that their tags have today, to be committed
	@[ -n "$(ENGINE)" ] || { echo "bases: none of docker, podman, buildah is here; apt-get install buildah" >&2; exit 1; }
	scripts/bases "$(ENGINE)"

# A program that runs without a toolchain beside it, of the commits in docs/internals/dependencies.md and no others. GRANDSTAND=<build>
# takes one that was built so already.
RELEASE = swift build -c release --static-swift-stdlib --force-resolved-versions $(SWIFT_FLAGS)
PORTABLE = $(or $(GRANDSTAND),$$($(RELEASE) --show-bin-path)/grandstand)
portable: setup
	$(if $(GRANDSTAND),,scripts/check-versions --pin && $(RELEASE) --product grandstand)

deb: portable ## .build/grandstand_VERSION_ARCH.deb, for the Debian this is (docs/deploy.md)
	scripts/deb "$(PORTABLE)"

sbom: portable ## .build/grandstand.cdx.json: what is in the program and what it loads (CycloneDX)
	scripts/sbom "$(PORTABLE)" >.build/grandstand.cdx.json
	@echo .build/grandstand.cdx.json

clean: ## remove what was built
	rm -rf .build
