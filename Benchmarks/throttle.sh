#!/bin/bash
# Match traffic against an APNs that takes so many messages a second and does not say how many: the release build of the
# server and the simulator, and a throw-away PostgreSQL that flushes as it should.
#     Benchmarks/throttle.sh app|channel|connection|both [rate=20] [burst=20] [retry_after=0] [seconds=60] [replicas=1]
#         [lanes=60] [updates=2] [goals=0.5] [changes=30:10,45:40] [GRANDSTAND_…=…]
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}

if [ -z "${GRANDSTAND:-}" ]; then
    swift build --scratch-path "$scratch" -c release --product grandstand
    GRANDSTAND="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/grandstand"
fi
FLUSH=on . Benchmarks/throw-away-cluster.sh
export GRANDSTAND TARGET="$target" PSQL="$bin/psql"
python3 Benchmarks/throttle.py "$@"
