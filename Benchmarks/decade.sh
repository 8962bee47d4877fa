#!/bin/bash
# What a server does all the time, beside LIVE live events: without a past, with ten years of a league in the database
# (EVENTS finished events, each with AUDIENCES audiences, their lanes and deleted channels and UPDATES broadcasts to all of
# them, as builds before retention of events leave them, and AUDIT audit entries), and once the janitors have been through.
# In one run on a throw-away cluster: the databases take turns.
#     LIVE=200 EVENTS=100000 AUDIENCES=1 UPDATES=1 AUDIT=300000 ROUNDS=3 SECONDS_EACH=12 WARM=10 GRANDSTAND=<a built program>
# AUDIENCES=5 UPDATES=20 makes ten million deliveries, which take 6 GB of the disk.
set -euo pipefail
cd "$(dirname "$0")/.."
live=${LIVE:-200} events=${EVENTS:-100000} audiences=${AUDIENCES:-1} updates=${UPDATES:-1} audit=${AUDIT:-300000} rounds=${ROUNDS:-3} each=${SECONDS_EACH:-12}

if [ -z "${GRANDSTAND:-}" ]; then
    swift build -c release --product grandstand
    GRANDSTAND="$(swift build -c release --show-bin-path)/grandstand"
fi

. Benchmarks/throw-away-cluster.sh
as "$bin/pg_ctl" -D "$work/data" -m fast stop >/dev/null
as "$bin/pg_ctl" -D "$work/data" -l "$work/data/log" -w -o "-k '$work' -c listen_addresses='' -c fsync=off \
    -c shared_preload_libraries=pg_stat_statements -c shared_buffers=512MB -c max_wal_size=8GB" start >/dev/null
sql() { as "$bin/psql" -h "$work" -U bench -X -q -At -v ON_ERROR_STOP=1 -d "$@"; }
sql postgres -c 'create extension pg_stat_statements'

pids=()
stop() { for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done; pids=(); }
trap 'stop; kill "${simulator:-}" 2>/dev/null || true; cleanup' EXIT
apns=$(mktemp -d)
# Ports of nobody's, from this process's number.
port=$((20000 + $$ % 20000))
"$GRANDSTAND" simulator --port $((port + 1)) --dir "$apns" --control-port $((port + 3)) >"$apns/log" 2>&1 &
simulator=$!
for _ in $(seq 100); do [ -e "$apns/ca.pem" ] && ls "$apns"/AuthKey_*.p8 >/dev/null 2>&1 && break; sleep 0.1; done

export GRANDSTAND_APNS_KEY_DIR=$apns GRANDSTAND_APNS_CA_FILE=$apns/ca.pem GRANDSTAND_LOG_LEVEL=warning GRANDSTAND_LANE_INTERVAL=0
export GRANDSTAND_APNS_PRODUCTION_SEND_URL=https://127.0.0.1:$((port + 2)) GRANDSTAND_APNS_PRODUCTION_MANAGE_URL=https://127.0.0.1:$((port + 2))
export GRANDSTAND_APNS_DEVELOPMENT_SEND_URL=https://127.0.0.1:$((port + 1)) GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL=https://127.0.0.1:$((port + 1))
export GRANDSTAND_RECONCILE_INTERVAL=5 GRANDSTAND_PORT=$port
base=http://127.0.0.1:$port
at() { export DATABASE_URL="host=$work user=bench dbname=$1"; }
serve() {
    at "$1"
    "$GRANDSTAND" serve >>"$apns/serve.log" 2>&1 &
    pids+=($!)
    for _ in $(seq 300); do curl -sf "$base/readyz" >/dev/null && return; sleep 0.1; done
    cat "$apns/serve.log" >&2; exit 1
}
api() { curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$@"; }

# The database without a past: LIVE events with their channels.
as "$bin/createdb" -h "$work" -U bench empty
at empty
"$GRANDSTAND" migrate >/dev/null
KEY=$("$GRANDSTAND" keys create --name bench --scope admin | grep -o 'gs_[A-Za-z0-9_-]*' | head -1)
serve empty
api -X PUT "$base/v1/apps/com.example.Stadium" -d '{"name": "Stadium", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}' >/dev/null
for n in $(seq "$live"); do
    api -X PUT "$base/v1/events/live-$n" -d '{"name": "Derby", "audiences": [{"bundleId": "com.example.Stadium",
        "environment": "production", "storagePolicy": "mostRecentMessageStored"}]}' >/dev/null
done
for _ in $(seq 300); do
    [ "$(sql empty -c "select count(*) from channels where state = 'active'")" = "$live" ] && break; sleep 0.2
done
stop

# The same with ten years before it.
as "$bin/createdb" -h "$work" -U bench -T empty decade
sql decade <<SQL
set session_replication_role = replica;
create temporary table n as
    select n, 'past-' || n as key, now() - interval '40 days' - n * interval '3600 days' / $events as at
    from generate_series(1, $events) n;
insert into events (key, name, starts_at, ends_at, created_at, updated_at, first_update_at, ended_at)
    select key, 'Match', at, at + interval '2 hours', at, at, at, at + interval '2 hours' from n;
create temporary table m as
    select n.*, a, n * 100 + a + 1000000 as lane, md5('channel-' || n || '-' || a)::uuid as channel,
        case a when 0 then '' else 'v' || a end as variant
    from n, generate_series(0, $audiences - 1) a;
insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key, created_at, changed_at,
        deletion_confirmed)
    select channel, 'com.example.Stadium', 'production', 'mostRecentMessageStored', 'deleted', 'past-' || lane, key, at,
        at + interval '6 hours', true from m;
insert into lanes (id, bundle_id, environment, storage_policy, channel, newest_broadcast, fenced_at, closed_at, last_timestamp)
    overriding system value
    select lane, 'com.example.Stadium', 'production', 'mostRecentMessageStored', channel,
        md5('broadcast-' || n || '-' || $updates)::uuid, at, at, extract(epoch from at)::bigint from m;
insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane, variant)
    select key, 'com.example.Stadium', 'production', 'mostRecentMessageStored', a, lane, variant from m;
insert into broadcasts (id, event_key, event, content_state, accepted_at)
    select md5('broadcast-' || n || '-' || u)::uuid, key, (case u when $updates then 'end' else 'update' end)::broadcast_event,
        '{"home": 1, "away": 0}', at - ($updates - u) * interval '5 minutes' from n, generate_series(1, $updates) u;
insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at, attempts,
        apns_timestamp, apns_request_id, settled_at)
    select md5('broadcast-' || n || '-' || u)::uuid, lane, 'accepted', u = $updates, false, 5, 0, at, 1,
        extract(epoch from at)::bigint, md5('request-' || lane || '-' || u)::uuid, at - ($updates - u) * interval '5 minutes'
    from m, generate_series(1, $updates) u;
insert into audit_log (at, actor, action, event_key)
    select now() - interval '1 hour' - i * interval '3600 days' / $audit, 'key:desk', 'broadcast.accepted', 'past-' || i
    from generate_series($audit, 1, -1) i;
set session_replication_role = default;
analyze;
SQL

rows() { sql "$1" -c "select count(*) || ' events, ' || (select count(*) from deliveries) || ' deliveries, ' || (select count(*) from channels) || ' channels, '
    || (select count(*) from lanes) || ' lanes, ' || (select count(*) from audit_log) || ' audit entries' from events"; }
# The median of numbers, one a line.
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

# One turn: prints milliseconds of PostgreSQL for each second, memory of the server in MiB, medians of an accepted broadcast
# and of a lookup in ms.
turn() {
    serve "$1"
    # Lookups are read into memory first, as after each start.
    sleep "${WARM:-10}"
    sql postgres -c 'select pg_stat_statements_reset()' >/dev/null
    sleep "$each"
    local busy memory accept lookup
    busy=$(sql postgres -c "select round((sum(total_exec_time + total_plan_time) / $each)::numeric, 3)
        from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = '$1'")
    if [ -n "${STATEMENTS:-}" ]; then
        sql postgres -c "select round(total_exec_time::numeric, 1) as ms, calls, rows, left(regexp_replace(query, '\s+', ' ', 'g'), 110)
            from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = '$1'
            order by total_exec_time desc limit 8" >&2
    fi
    accept=$(for n in $(seq 100); do
        api -o /dev/null -w '%{time_total}\n' "$base/v1/events/live-$((n % live + 1))/broadcasts" -d '{"event": "update", "contentState": {"n": 1}}'
    done | awk '{ print $1 * 1000 }' | median)
    lookup=$(for n in $(seq 100); do
        api -o /dev/null -w '%{time_total}\n' "$base/v1/lookup/com.example.Stadium/production/live-$((n % live + 1))"
    done | awk '{ print $1 * 1000 }' | median)
    memory=$(awk '/VmRSS/ { print $2 / 1024 }' "/proc/${pids[0]}/status")
    stop
    echo "$busy $memory $accept $lookup"
}

compare() {
    for round in $(seq "$rounds"); do for database in empty decade; do turn "$database" >>"$work/$1-$database"; done; done
    for column in 1 2 3 4; do
        name=$(sed -n "${column}p" <<<$'PostgreSQL, ms each second\nmemory, MiB\naccepted broadcast, ms\nlookup, ms')
        without=$(awk "{ print \$$column }" "$work/$1-empty" | median) with=$(awk "{ print \$$column }" "$work/$1-decade" | median)
        awk -v name="$name" -v a="$without" -v b="$with" 'BEGIN { printf "  %-28s %8.2f %8.2f   %.2f x\n", name, a, b, b / a }'
    done
}

# The janitors begin with the server: a first turn of its own lasts until they are done.
export GRANDSTAND_HISTORY_DAYS=3650 GRANDSTAND_AUDIT_DAYS=36500
echo "kept: $(rows decade)"
compare kept
export GRANDSTAND_HISTORY_DAYS=30 GRANDSTAND_AUDIT_DAYS=400
began=$(date +%s)
serve decade
for _ in $(seq "${PATIENCE:-900}"); do
    left=$(sql decade -c "select (select count(*) from events where ended_at is not null) +
        (select count(*) from channels where state = 'deleted')")
    old=$(sql decade -c "select count(*) from audit_log where at < now() - interval '402 days'")
    [ "$left" = 0 ] && [ "$old" = 0 ] && break
    sleep 1
done
echo "forgotten in $(($(date +%s) - began)) s: $(rows decade)"
stop
sql decade -c 'vacuum analyze'
compare pruned
