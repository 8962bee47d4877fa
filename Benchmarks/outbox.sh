#!/bin/bash
# The outbox under load: the release build of the server and the simulator, a throw-away PostgreSQL that flushes as it
# should, and beside them h2load and plain SQL.
#     Benchmarks/outbox.sh saturday|audiences|sustained|growth|bloat|peer [name=value ...]
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

if [ -z "${GRANDSTAND:-}" ]; then
    swift build --scratch-path "$scratch" -c release --product grandstand
    GRANDSTAND="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/grandstand"
fi
FLUSH=on . Benchmarks/throw-away-cluster.sh
export GRANDSTAND TARGET="$target" PSQL="$bin/psql"
python3 Benchmarks/outbox.py "$@"
