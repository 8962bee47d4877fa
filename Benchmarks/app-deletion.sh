#!/bin/bash
# How long an app with ten years of history is being deleted, and what another app's organiser notices of it. On a throw-away
# cluster: INSTALLATIONS with two topics, a token and an activity each; EVENTS with MESSAGES deliveries each; beside it
# another app whose events are asked for fifty times a second.
#     INSTALLATIONS=200000 EVENTS=8000 MESSAGES=100 GRANDSTAND=<a built program> Benchmarks/app-deletion.sh
set -euo pipefail
cd "$(dirname "$0")/.."
installations=${INSTALLATIONS:-200000} events=${EVENTS:-8000} messages=${MESSAGES:-100}
if [ -z "${GRANDSTAND:-}" ]; then
    swift build -c release --product grandstand
    GRANDSTAND="$(swift build -c release --show-bin-path)/grandstand"
fi
. Benchmarks/throw-away-cluster.sh
sql() { as "$bin/psql" -h "$work" -U bench -X -q -At -v ON_ERROR_STOP=1 -d bench "$@"; }
as "$bin/createdb" -h "$work" -U bench bench 2>/dev/null || true
export DATABASE_URL="host=$work user=bench dbname=bench" GRANDSTAND_PORT=$((20000 + $$ % 20000)) GRANDSTAND_LOG_LEVEL=warning
export GRANDSTAND_APNS_KEY_DIR=$work GRANDSTAND_RECONCILE_INTERVAL=0
"$GRANDSTAND" migrate >/dev/null
admin=$("$GRANDSTAND" keys create --name admin --scope admin)
"$GRANDSTAND" serve >"${TMPDIR:-/tmp}/app-deletion.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; cleanup' EXIT
base=http://127.0.0.1:$GRANDSTAND_PORT
call() { curl -sS -o "${3:-/dev/null}" -w '%{http_code}\n' -H "Authorization: Bearer $admin" -H 'Content-Type: application/json' \
    -X "$1" "$base$2" ${4:+-d "$4"}; }
for _ in $(seq 100); do curl -s -o /dev/null "$base/healthz" && break; sleep 0.1; done
for app in Old Other; do
    call PUT "/v1/apps/com.example.$app" /dev/null '{"name": "App", "teamId": "ABCDE12345", "keyId": "KEY1234567"}' >/dev/null
done
began=$SECONDS
sql <<SQL
insert into events (key, name, created_at, updated_at, ended_at)
    select 'old' || n, 'Match', now(), now(), now() from generate_series(1, $events) n;
with made as (
    insert into lanes (bundle_id, environment, storage_policy, closed_at)
        select 'com.example.Old', 'production', 'noMessageStored', now() from generate_series(1, $events) returning id)
insert into audiences (event_key, bundle_id, environment, position, storage_policy, lane)
    select 'old' || row_number() over (), 'com.example.Old', 'production', 0, 'noMessageStored', id from made;
insert into broadcasts (id, event_key, event, accepted_at)
    select gen_random_uuid(), 'old' || n, 'update', now() from generate_series(1, $events) n, generate_series(1, $messages);
insert into deliveries (broadcast_id, lane, state, is_end, priority, alerting, apns_expiration, expires_at, apns_request_id,
        settled_at)
    select b.id, u.lane, 'accepted', false, 5, false, 0, now(), gen_random_uuid(), now()
    from audiences u join broadcasts b using (event_key);
insert into installations (app, installation, secret_hash, system_version, live_activities_enabled, frequent_pushes_enabled,
        created_at, seen_at)
    select id, gen_random_uuid(), sha256('secret'), 18000, true, true, now(), now()
    from app_environments, generate_series(1, $installations)
    where bundle_id = 'com.example.Old' and environment = 'production';
insert into follows select id, 'team:' || n, app from installations, generate_series(1, 2) n;
insert into start_tokens select id, 'MatchAttributes', app, sha256(id::text::bytea), now() from installations;
insert into activities (installation, activity, app, event_key, attributes_type, state, reported_at)
    select id, gen_random_uuid()::text, app, 'old1', 'MatchAttributes', 'ended', now() from installations;
vacuum analyze;
SQL
echo "$installations installations, $((events * messages)) deliveries: made in $((SECONDS - began)) s," \
    "$(sql -c "select pg_size_pretty(pg_database_size('bench'))")"
ask() {
    python3 - "$base" "$admin" "$1" <<'PYTHON'
import http.client, sys, time
from urllib.parse import urlsplit
base, key, until = urlsplit(sys.argv[1]), sys.argv[2], sys.argv[3]
BODY = '{"name": "Match", "channelsOpenAt": "2099-01-01T00:00:00Z", "startsAt": "2099-01-02T00:00:00Z", "audiences": [' \
    '{"bundleId": "com.example.Other", "environment": "production", "storagePolicy": "noMessageStored"}]}'
times, connection, began = [], http.client.HTTPConnection(base.hostname, base.port, timeout=30), time.monotonic()
def get(path):
    connection.request("GET", path, headers={"Authorization": "Bearer " + key})
    answer = connection.getresponse()
    answer.read()
    return answer.status
while True:
    asked = time.monotonic()
    connection.request("PUT", "/v1/events/other%d" % (len(times) % 50), BODY, {
        "Authorization": "Bearer " + key, "Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status in (200, 201), (answer.status, text)
    times.append(time.monotonic() - asked)
    if until.startswith("/"):
        if len(times) % 10 == 0 and get(until) == 404: break
    elif time.monotonic() - began > float(until): break
    time.sleep(0.02)
times.sort()
print("%.1f s; the other organiser: p50 %.1f ms, p99 %.1f ms, longest %.0f ms" % (
    time.monotonic() - began, times[len(times) // 2] * 1e3, times[int(len(times) * .99)] * 1e3, times[-1] * 1e3))
PYTHON
}
echo "quiet: $(ask 10)"
began=$(date +%s.%N)
echo "DELETE: $(call DELETE /v1/apps/com.example.Old) after $(echo "$(date +%s.%N) - $began" | bc) s; then GET says" \
    "$(call GET /v1/apps/com.example.Old)"
echo "gone after $(ask /v1/apps/com.example.Old)"
echo "left: $(sql -c "select (select count(*) from installations), (select count(*) from follows), (select count(*) from deliveries)")"
