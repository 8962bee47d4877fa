#!/bin/bash
# The ledger at Apple's limit, on a throw-away cluster: reconciling CHANNELS channels beside fetching the list and one
# upsert of as many rows, and provisioning EVENTS events beside as many plain creations.
#     CHANNELS=10000 EVENTS=2000 ROUNDS=7
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --product LedgerBenchmark
ours="$(GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --show-bin-path)/LedgerBenchmark"

. Benchmarks/throw-away-cluster.sh
"$ours" "$target" "${CHANNELS:-10000}" "${EVENTS:-2000}" "${ROUNDS:-7}"
