#!/bin/bash
# Feeds of football matches that tell their state once a second: what is sent of it, and what a state costs that brings
# nothing new, beside a lookup. The release build of the server and the simulator, and a throw-away PostgreSQL that flushes
# as it should.
#     Benchmarks/states.sh [matches=20] [minutes=105] [speed=30] [rounds=2000] [GRANDSTAND_…=…]
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

if [ -z "${GRANDSTAND:-}" ]; then
    swift build --scratch-path "$scratch" -c release --product grandstand
    GRANDSTAND="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/grandstand"
fi
FLUSH=on . Benchmarks/throw-away-cluster.sh
export GRANDSTAND TARGET="$target" PSQL="$bin/psql"
python3 Benchmarks/states.py "$@"
