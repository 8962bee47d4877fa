#!/bin/bash
# What is done again and again, beside 500 live events: without a past, and with PAST finished events, in one run on a
# throw-away cluster.
#     PAST=12000 ROUNDS=5
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --product LedgerBenchmark
ours="$(GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --show-bin-path)/LedgerBenchmark"

. Benchmarks/throw-away-cluster.sh
"$ours" "$target" history "${PAST:-12000}" "${ROUNDS:-5}"
