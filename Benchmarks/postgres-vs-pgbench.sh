#!/bin/bash
# Our `Postgres` target against `pgbench -S -M prepared`: the same statement, database and number of connections, over
# the same Unix socket, in turn, on a throw-away cluster. Prints each round's transactions per second, the medians and
# their ratio.   ROUNDS=3 SECONDS_EACH=5 CONNECTIONS="1 8 16"
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-3} each=${SECONDS_EACH:-5} counts=${CONNECTIONS:-1 8 16} scale=10
scratch=${SCRATCH:-.build}

GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --product PostgresBenchmark
ours="$(GRANDSTAND_BENCHMARKS=1 swift build --scratch-path "$scratch" -c release --show-bin-path)/PostgresBenchmark"

. Benchmarks/throw-away-cluster.sh
"$bin/pgbench" -i -q -s $scale "$target" >/dev/null 2>&1

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf '%-12s %10s %10s %7s %10s %7s\n' connections pgbench ours ratio "on pool" ratio
for count in $counts; do
    theirs_all="" ours_all="" pool_all=""
    threads=$((count < 2 ? 1 : 2))
    for _ in $(seq "$rounds"); do
        theirs=$("$bin/pgbench" -S -M prepared -n -c "$count" -j $threads -T "$each" "$target" 2>/dev/null | sed -nE 's/^tps = ([0-9]+).*/\1/p')
        mine=$("$ours" "$target" "$count" "$each" $((scale * 100000)) | sed -nE 's/^tps = ([0-9]+)/\1/p')
        pool=$("$ours" "$target" "$count" "$each" $((scale * 100000)) pool | sed -nE 's/^tps = ([0-9]+)/\1/p')
        theirs_all+="$theirs"$'\n' ours_all+="$mine"$'\n' pool_all+="$pool"$'\n'
        echo "  round: $theirs $mine $pool" >&2
    done
    a=$(printf '%s' "$theirs_all" | median) b=$(printf '%s' "$ours_all" | median) c=$(printf '%s' "$pool_all" | median)
    awk -v n="$count" -v a="$a" -v b="$b" -v c="$c" \
        'BEGIN { printf "%-12s %10d %10d %7.2f %10d %7.2f\n", n, a, b, b / a, c, c / a }'
done
