#!/bin/bash
# Lookups from memory beside nginx, which serves the same bytes from a file, and beside a FastAPI route that asks the
# database (ALTERNATIVE_PYTHON: a Python with fastapi, uvicorn[standard] and asyncpg; left out when unset). Each server has
# core 0, in turn; wrk has core 1, with PostgreSQL. Needs wrk and nginx-light (Debian packages). Hummingbird alone
# (HummingbirdBenchmark) answers the same bytes and header fields by a route, too, beside our route.
# GRANDSTAND, HUMMINGBIRD: programs that are built already.
#     EVENTS=200000 ROUNDS=3 SECONDS_EACH=5 CONNECTIONS=64 CHANGES=1000
# LIST: a list's query instead of one event, "topic=team:7" (one event of 200) or "limit=50"; without Hummingbird and FastAPI.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
export EVENTS=${EVENTS:-200000} ROUNDS=${ROUNDS:-3} SECONDS_EACH=${SECONDS_EACH:-5} CONNECTIONS=${CONNECTIONS:-64}
export CHANGES=${CHANGES:-1000}

for tool in wrk nginx taskset; do
    command -v "$tool" >/dev/null || { echo "lookup.sh: $tool is missing; apt install wrk nginx-light util-linux" >&2; exit 1; }
done
[ -n "${GRANDSTAND:-}" ] || swift build --scratch-path "$scratch" -c release --product grandstand
ours=${GRANDSTAND:-$(swift build --scratch-path "$scratch" -c release --show-bin-path)/grandstand}
if [ -z "${HUMMINGBIRD:-}" ] && [ -z "${LIST:-}" ]; then
    export GRANDSTAND_BENCHMARKS=1
    swift build --scratch-path "$scratch" -c release --product HummingbirdBenchmark
    HUMMINGBIRD="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/HummingbirdBenchmark"
fi

. Benchmarks/throw-away-cluster.sh
servers=()
stop() { for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done; wait "${servers[@]}" 2>/dev/null || true; }
trap 'stop; cleanup' EXIT
taskset -apc 1 "$(sed -n 1p "$work/data/postmaster.pid")" >/dev/null

sql() { "$bin/psql" -qXAt -v ON_ERROR_STOP=1 "$target" "$@"; }
export DATABASE_URL="$target" GRANDSTAND_APNS_KEY_DIR="$work/keys" GRANDSTAND_ROLES=api GRANDSTAND_LOG_LEVEL=warning
mkdir "$work/keys"
"$ours" migrate >/dev/null
sql -v events="$EVENTS" -f Benchmarks/LookupBenchmark/events.sql
secret=$("$ours" keys create --name phones --scope lookup --app com.example.Stadium)
path=/v1/lookup/com.example.Stadium/production/match-$((EVENTS / 2))
if [ -n "${LIST:-}" ]; then
    path="/v1/lookup/com.example.Stadium/production?$LIST"
    unset ALTERNATIVE_PYTHON HUMMINGBIRD
fi

memory() { awk -v field="$1:" '$1 == field { printf "%d", $2 / 1024 }' "/proc/$2/status"; }
reachable() { for _ in $(seq 600); do curl -sfo /dev/null "$@" && return; sleep 0.1; done; echo "no answer: $*" >&2; exit 1; }

GRANDSTAND_PORT=18080 taskset -c 0 "$ours" serve & servers+=($!)
grandstand=$!
authorization="Authorization: Bearer $secret"
reachable -H "$authorization" "http://127.0.0.1:18080$path"
sleep 5
resident=$(memory VmRSS "$grandstand")

mkdir -p "$work/www$(dirname "${path%%\?*}")"
curl -sH "$authorization" "http://127.0.0.1:18080$path" >"$work/www${path%%\?*}"
cat >"$work/nginx.conf" <<CONF
worker_processes 1; daemon off; pid $work/nginx.pid; error_log $work/nginx.log; user $(id -un);
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; default_type application/json;
    client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u;
    scgi_temp_path $work/s;
    server { listen 127.0.0.1:18081; root $work/www; add_header Cache-Control "public, max-age=10"; }
}
CONF
chmod 755 "$work"
taskset -c 0 nginx -c "$work/nginx.conf" 2>"$work/nginx.err" & servers+=($!)
reachable "http://127.0.0.1:18081$path"

if [ -n "${HUMMINGBIRD:-}" ]; then
    taskset -c 0 "$HUMMINGBIRD" 18083 "$work/www$path" & servers+=($!)
    reachable "http://127.0.0.1:18083$path"
fi

if [ -n "${ALTERNATIVE_PYTHON:-}" ]; then
    DSN="postgresql:///postgres?host=$work&user=bench" taskset -c 0 "$ALTERNATIVE_PYTHON" -m uvicorn \
        --app-dir Benchmarks/LookupBenchmark alternative:app --port 18082 --log-level error --no-access-log & servers+=($!)
    reachable "http://127.0.0.1:18082$path"
fi

# wrk's figures on one line: requests/s, p50, p99, what failed.
load() {
    taskset -c 1 wrk -t1 -c"$CONNECTIONS" -d"${SECONDS_EACH}s" --latency "${@:2}" "http://127.0.0.1:$1$path" |
        awk '/50%/ { p50 = $2 } /99%/ { p99 = $2 } /Requests\/sec/ { rate = $2 } /Non-2xx|Socket errors/ { bad = bad " " $0 }
             END { printf "%d %s %s%s\n", rate, p50, p99, bad }'
}
changes() {
    cat >"$work/change.sql" <<'SQL'
\set n random(1, :events)
update events set ends_at = clock_timestamp() where key = 'match-' || :n;
SQL
    "$bin/pgbench" -n -M prepared -c 4 -j 1 -R "$CHANGES" -T $((SECONDS_EACH + 2)) -D events="$EVENTS" -f "$work/change.sql" \
        -h "$work" -U bench postgres 2>/dev/null | awk '/tps/ { printf "%d", $3 }' >"$work/changes"
}
keyed=(-H "$authorization")
tag=$(curl -siH "$authorization" "http://127.0.0.1:18080$path" | tr -d '\r' | awk 'tolower($1) == "etag:" { print $2 }')
load 18080 "${keyed[@]}" >/dev/null
served=$(memory VmRSS "$grandstand")
printf '%-34s %s\n' "server, round" "requests/s p50 p99"
for round in $(seq "$ROUNDS"); do
    printf '%-34s %s\n' "grandstand $round" "$(load 18080 "${keyed[@]}")"
    printf '%-34s %s\n' "grandstand, 304 $round" "$(load 18080 "${keyed[@]}" -H "If-None-Match: $tag")"
    # A request that names itself goes to the router, which finds the same records.
    printf '%-34s %s\n' "grandstand, by the router $round" "$(load 18080 "${keyed[@]}" -H "X-Request-Id: a")"
    [ -z "${HUMMINGBIRD:-}" ] || printf '%-34s %s\n' "hummingbird alone $round" "$(load 18083 "${keyed[@]}" -H "X-Request-Id: a")"
    printf '%-34s %s\n' "nginx $round" "$(load 18081)"
    [ -z "${ALTERNATIVE_PYTHON:-}" ] || printf '%-34s %s\n' "fastapi $round" "$(load 18082)"
    changes & changing=$!
    sleep 1
    busy=$(load 18080 "${keyed[@]}")
    wait "$changing"
    printf '%-34s %s\n' "grandstand, $(cat "$work/changes") changes/s $round" "$busy"
    # What the changes take from wrk, with which PostgreSQL and pgbench share a core; our server stands still.
    kill -STOP "$grandstand"
    changes & changing=$!
    sleep 1
    busy=$(load 18081)
    wait "$changing"
    kill -CONT "$grandstand"
    printf '%-34s %s\n' "nginx, $(cat "$work/changes") changes/s $round" "$busy"
    sleep 2
done
atend=$(memory VmRSS "$grandstand")
sql -c "select pg_notify('grandstand_lookup', '1 events')" >/dev/null
sleep 5
echo "memory with $EVENTS events: $resident MB when read, $served MB when served, $atend MB after $ROUNDS rounds of changes," \
    "$(memory VmHWM "$grandstand") MB at most while everything was read anew aside"
