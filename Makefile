# The usual tasks. `make help` lists them.

CONFIG ?= debug
SWIFT_FLAGS ?=
# The number of tests that run at the same time. Many start servers, so with more they would only wait for the
# processor.
TEST_WIDTH ?= 4
# Tests that take long, or that measure a time and so need the machine for themselves: servers that are killed, frozen,
# restored or replaced, and a day of matches. `make check` runs them.
LONG = ^EndToEndTests\.(Crash|Failover|Freeze|Kill|Restore|Saturday|Standby|StartKill|UpgradeDrill)Tests|^PostgresTests\.FreezeTests|^GrandstandServerTests\.SoakTests|within (five|ten) seconds
SWIFT_BUILD = swift build -c $(CONFIG) $(SWIFT_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help setup build demo run watch docs portable test check contract conformance browser sanitize fuzz soak lint format migrations bench docker image bases deb sbom clean

help: ## list the tasks
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## install missing system packages
	@scripts/setup

build: setup ## build the grandstand program (CONFIG=release for a fast one)
	$(SWIFT_BUILD) --product grandstand

demo: build ## play a match from the API to a virtual phone, then exit
	@"$$($(SWIFT_BUILD) --show-bin-path)/grandstand" demo --once

run: build ## the same set-up, but it stays up and prints a key and calls to try
	@"$$($(SWIFT_BUILD) --show-bin-path)/grandstand" demo

watch: build ## a match with an outage, watched by a real Prometheus: which alerts fire and stop
	@scripts/setup watch python3
	@GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/watch $(WATCH)

docs: build ## check the pages: every link, and the shell blocks against a demo
	@scripts/setup curl python3
	@GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/check-docs

test: setup ## build and run the tests, but for the long ones of make check
	@scripts/setup python3
	swift build --build-tests
	swift test --skip-build --skip '$(LONG)' --experimental-maximum-parallelization-width $(TEST_WIDTH)

check: test ## all that the gate leaves out: long tests, pages, browser, alerts, dashboards, sanitizers
	swift test --skip-build --filter '$(LONG)' --experimental-maximum-parallelization-width 2
	scripts/check-examples --prove
	scripts/check-dependency
	scripts/dependencies check
	scripts/setup watch && scripts/check-alerts && scripts/check-dashboards
	$(MAKE) watch WATCH=--check
	$(MAKE) docs browser conformance sanitize

contract: ## generate Swift from openapi.yaml: types, kinds of problems, the client's calls; and the table of settings
	scripts/generate-contract
	scripts/generate-settings

conformance: build ## check server and simulator with other programs: a generated client and CASES requests; curl, nghttp, httpx (needs PyPI once)
	scripts/setup curl nghttp python3
	GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/simulator-conformance
	GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/contract-check $(or $(CASES),500)

browser: build ## play a match day in the console with a headless Chromium; pictures in .build/browser (needs PyPI once)
	scripts/setup browser python3
	GRANDSTAND="$$($(SWIFT_BUILD) --show-bin-path)/grandstand" scripts/browser-check

# The sanitizers need a complete build, so only the targets of these tests are built.
sanitize: export GRANDSTAND_TESTS = HTTP2Tests
sanitize: export LSAN_OPTIONS = suppressions=$(CURDIR)/scripts/leaks.supp:print_suppressions=0
sanitize: setup ## run the HTTP/2 tests under AddressSanitizer, then under ThreadSanitizer
	swift build --product grandstandPackageTests --sanitize=address --scratch-path .build/address
	swift test --skip-build --sanitize=address --scratch-path .build/address --filter '^HTTP2Tests' \
		--experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift build --product grandstandPackageTests --sanitize=thread --scratch-path .build/thread
	swift test --skip-build --sanitize=thread --scratch-path .build/thread --filter '^HTTP2Tests' \
		--experimental-maximum-parallelization-width $(TEST_WIDTH)

fuzz: setup ## fuzz the HTTP/2 client with server bytes for FUZZ_SECONDS=60
	scripts/fuzz

soak: setup ## run with random faults between the client and APNs for SOAK_SECONDS=600
	GRANDSTAND_SOAK_SECONDS=$${SOAK_SECONDS:-600} swift test --filter SoakTests

lint: ## check format, imports, sizes, and the code for Apple's platforms
	@scripts/setup python3
	swift format lint --strict --recursive --parallel Package.swift Plugins Sources Tests Benchmarks Examples migrations
	scripts/check-imports
	scripts/check-size
	scripts/check-examples

format: ## format every Swift file in place
	swift format --in-place --recursive --parallel Package.swift Plugins Sources Tests Benchmarks Examples migrations

migrations: setup ## apply the migrations to an empty database, and check that older builds can still use it
	@scripts/setup python3
	scripts/check-migrations

bench: setup ## run the benchmarks beside their limits and peers (docs/internals/benchmarks.md)
	GRANDSTAND_BENCHMARKS=1 swift build -c release --product TransportBenchmark
	swift build -c release --product grandstand
	Benchmarks/run.py all

docker: ## run PostgreSQL, simulator and server in containers until Ctrl-C
	docker compose -f docker/compose.yaml up --build

ENGINE ?= $(firstword $(foreach name,docker podman buildah,$(shell command -v $(name))))
IMAGE_FLAGS ?=
# The other image format has no health checks.
IMAGE_FORMAT = $(if $(findstring docker,$(ENGINE)),,--format docker)
# The build context does not contain git's data, so the version is passed as an argument.
image: ## build the image "grandstand" with docker, podman or buildah (IMAGE_FLAGS="--target demo": with PostgreSQL)
	@[ -n "$(ENGINE)" ] || { echo "image: none of docker, podman, buildah is here; apt-get install buildah" >&2; exit 1; }
	bases="$$(scripts/bases --arguments)" && $(ENGINE) build $(IMAGE_FORMAT) -f docker/Dockerfile -t grandstand $$bases \
		--build-arg VERSION="$$(git describe --tags --always)" --build-arg REVISION="$$(git rev-parse HEAD)" \
		--build-arg SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" $(IMAGE_FLAGS) .

bases: ## update docker/bases with the present digests of the base images; commit it
	@[ -n "$(ENGINE)" ] || { echo "bases: none of docker, podman, buildah is here; apt-get install buildah" >&2; exit 1; }
	scripts/bases "$(ENGINE)"

# A program that runs without an installed toolchain, built from exactly the commits in docs/internals/dependencies.md.
# GRANDSTAND=<build> uses an existing build instead.
RELEASE = swift build -c release --static-swift-stdlib --force-resolved-versions $(SWIFT_FLAGS)
PORTABLE = $(or $(GRANDSTAND),$$($(RELEASE) --show-bin-path)/grandstand)
portable: setup
	$(if $(GRANDSTAND),,scripts/dependencies pin && $(RELEASE) --product grandstand)

deb: portable ## build .build/grandstand_VERSION_ARCH.deb for this machine's Debian (docs/deploy.md)
	scripts/deb "$(PORTABLE)"

sbom: portable ## write .build/grandstand.cdx.json: the parts of the program and the libraries it loads (CycloneDX)
	scripts/dependencies sbom "$(PORTABLE)" >.build/grandstand.cdx.json
	@echo .build/grandstand.cdx.json

clean: ## remove all builds
	rm -rf .build
