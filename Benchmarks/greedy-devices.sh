#!/bin/bash
# What COUNT installations cost that take all they get: 200 topics of 128 characters, 20 tokens of 512 bytes, receipts, and the
# largest activities; where that is refused, what is always accepted. Beside them an organiser accepts messages. On a
# throw-away cluster.
#     COUNT=10000 GRANDSTAND=<a built program> Benchmarks/greedy-devices.sh
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${GRANDSTAND:-}" ]; then
    swift build -c release --product grandstand
    GRANDSTAND="$(swift build -c release --show-bin-path)/grandstand"
fi
. Benchmarks/throw-away-cluster.sh
sql() { as "$bin/psql" -h "$work" -U bench -X -q -At -v ON_ERROR_STOP=1 -d bench "$@"; }
as "$bin/createdb" -h "$work" -U bench bench 2>/dev/null || true
export DATABASE_URL="host=$work user=bench dbname=bench" GRANDSTAND_PORT=$((20000 + $$ % 20000)) GRANDSTAND_LOG_LEVEL=warning
export GRANDSTAND_APNS_KEY_DIR=$work GRANDSTAND_RECEIPT_SHARE=1
"$GRANDSTAND" migrate >/dev/null
admin=$("$GRANDSTAND" keys create --name admin --scope admin)
"$GRANDSTAND" serve >"${TMPDIR:-/tmp}/greedy-devices.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; cleanup' EXIT
base=http://127.0.0.1:$GRANDSTAND_PORT
for _ in $(seq 100); do curl -s -o /dev/null "$base/healthz" && break; sleep 0.1; done
put() { curl -sS --fail-with-body -o /dev/null -H "Authorization: Bearer $admin" -H 'Content-Type: application/json' -X PUT "$base$1" -d "$2"; }
put /v1/apps/com.example.Goal '{"name": "Goal", "teamId": "ABCDE12345", "keyId": "KEY1234567"}'
put /v1/events/derby '{"name": "Derby", "channelsOpenAt": "2099-01-01T00:00:00Z", "startsAt": "2099-01-02T00:00:00Z", "audiences":
    [{"bundleId": "com.example.Goal", "environment": "production", "storagePolicy": "noMessageStored"}]}'
device=$("$GRANDSTAND" keys create --name device --scope device --app com.example.Goal)
before=$(sql -c "select pg_database_size('bench')")
python3 - "$base" "$admin" "$device" "${COUNT:-10000}" <<'PYTHON'
import collections, http.client, json, random, secrets, string, sys, threading, time, uuid
from urllib.parse import urlsplit
base, admin, device, count = urlsplit(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
answers, times, done = collections.Counter(), [], threading.Event()
letters = string.ascii_letters + string.digits + "._"
def text(length): return "".join(random.choices(letters, k=length))
def connect(): return http.client.HTTPConnection(base.hostname, base.port, timeout=60)
def ask(connection, key, method, path, body, **headers):
    connection.request(method, path, json.dumps(body), {
        "Authorization": "Bearer " + key, "Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    answer.read()
    return answer.status
def greedy(numbers):
    connection = connect()
    for _ in numbers:
        path = f"/v1/apps/com.example.Goal/production/installations/{uuid.uuid4()}"
        def send(what, method, path, body):
            status = ask(connection, device, method, path, body, **{"Grandstand-Installation-Secret": secret})
            answers[what, status] += 1
            return status
        secret = secrets.token_urlsafe(40)
        tokens = [{"attributesType": text(200), "token": secrets.token_hex(512)} for _ in range(20)]
        state = {"systemVersion": "18.4", "appVersion": text(64), "locale": text(64), "timeZone": text(64)}
        if send("all", "PUT", path, {**state, "startTokens": tokens, "topics": [text(128) for _ in range(200)]}) == 429:
            send("small", "PUT", path, {**state, "topics": [text(128) for _ in range(4)]})
        for number in range(2):
            send("activity", "PUT", f"{path}/activities/{number}{text(127)}", {
                "eventKey": "derby", "attributesType": text(200), "state": "active", "updateToken": secrets.token_hex(512),
                "channelId": text(200)})
        now = int(time.time())
        send("receipts", "POST", path + "/receipts", {"items": [
            {"eventKey": "derby", "timestamp": now + n, "shownAt": "2026-11-21T20:45:00Z"} for n in range(100)]})
def organise():
    connection = connect()
    while not done.is_set():
        began = time.monotonic()
        answers["organiser", ask(connection, admin, "POST", "/v1/events/derby/broadcasts", {
            "event": "update", "contentState": {"n": len(times)}})] += 1
        times.append(time.monotonic() - began)
        time.sleep(0.1)
organiser = threading.Thread(target=organise)
organiser.start()
began = time.monotonic()
workers = [threading.Thread(target=greedy, args=(range(n, count, 8),)) for n in range(8)]
for worker in workers: worker.start()
for worker in workers: worker.join()
done.set()
organiser.join()
times.sort()
print(f"{count} greedy installations in {time.monotonic() - began:.0f} s")
for (what, status), n in sorted(answers.items()): print(f"  {what} {status}: {n}")
print(f"the organiser: p50 {times[len(times) // 2] * 1e3:.1f} ms, longest {times[-1] * 1e3:.0f} ms")
PYTHON
sql -c "select '  ' || t || ': ' || pg_size_pretty(pg_total_relation_size(t::regclass)) from unnest(array['installations', 'follows',
    'start_tokens', 'activities', 'receipts', 'fan_out_queue', 'device_accounts']) t"
echo "the database grew by $((($(sql -c "select pg_database_size('bench')") - before) / 1000)) kB;" \
    "estimated $(sql -c 'select sum(bytes) / 1000 from device_accounts') kB without activities"
