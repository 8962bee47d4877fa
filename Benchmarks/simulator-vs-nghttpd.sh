#!/usr/bin/env bash
# Requests per second of the simulator beside nghttpd's: h2load posts broadcasts, the same to both.
#
# The server under test runs on core 1, h2load on core 0; three rounds, the servers taking turns. A broadcast is a
# 600-byte body under a valid token on a channel that is there; the simulator checks all of it, writes its journal and
# answers, nghttpd answers with an empty file. CASES are connections x requests in flight on each. Prints the runs with
# the median rate, and the server's processor time for a request.
# Needs the Debian packages nghttp2-server, nghttp2-client, openssl, curl, xxd and util-linux, and two cores.
#
#     swift build -c release --product grandstand
#     Benchmarks/simulator-vs-nghttpd.sh [requests per run, default 100000]
set -euo pipefail
cd "$(dirname "$0")/.."

requests=${1:-100000}
rounds=${ROUNDS:-3}
program=${GRANDSTAND:-.build/release/grandstand}

for tool in nghttpd h2load openssl curl xxd taskset; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install nghttp2-server nghttp2-client openssl curl xxd util-linux" >&2; exit 1; }
done
[ -x "$program" ] || { echo "build first: swift build -c release --product grandstand" >&2; exit 1; }

work=$(mktemp -d)
peer= simulator=
trap '[ -z "$peer" ] || kill "$peer" 2>/dev/null; [ -z "$simulator" ] || kill "$simulator" 2>/dev/null; wait; rm -rf "$work"' EXIT

taskset -c 1 "$program" simulator --port 0 --control-port 0 --dir "$work/apns" --no-lock-screens \
    >"$work/simulator.log" 2>&1 &
simulator=$!
for _ in $(seq 100); do
    grep -q ^listening "$work/simulator.log" && break
    sleep 0.1
done
address() { sed -nE "s/^listening.* $1=([^ ]+).*/\1/p" "$work/simulator.log"; }
[ -n "$(address development)" ] || { cat "$work/simulator.log" >&2; exit 1; }

app=com.example.stadium
path=/4/broadcasts/apps/$app
channel=$(curl -sS "$(address control)/apps/$app/development/channels" -d '{}' | sed -E 's/.*\["([^"]+)"\].*/\1/')
b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
claims=$(printf '{"alg":"ES256","kid":"SIMULATOR1"}' | b64).$(printf '{"iss":"SIMULATOR1","iat":%d}' "$(date +%s)" | b64)
signature=$(printf %s "$claims" | openssl dgst -sha256 -sign "$(address key)" | openssl asn1parse -inform DER |
    awk -F: '/INTEGER/ { printf "%064s", $4 }' | tr ' ' 0 | xxd -r -p | b64)
state=$(printf '{"phase":"second half","minute":80,"home":2,"away":1,"scorers":["%s"]}' "$(head -c 380 /dev/zero | tr '\0' x)")
printf '{"aps":{"timestamp":%d,"event":"update","content-state":%s,"alert":{"title":"Goal!","body":"2-1"}}}' \
    "$(date +%s)" "$state" >"$work/body"

# The same certificate, the same path, an answer without a body.
mkdir -p "$work/www$(dirname $path)" && : >"$work/www$path"
port=${PORT:-$((20000 + RANDOM % 20000))}
taskset -c 1 nghttpd --htdocs "$work/www" --address 127.0.0.1 --workers 1 --max-concurrent-streams 1000 \
    "$port" "$work/apns/server.key" "$work/apns/server.pem" >"$work/nghttpd.log" 2>&1 &
peer=$!
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
sleep 0.2
kill -0 "$peer" 2>/dev/null || { echo "nghttpd did not start on port $port:" >&2; cat "$work/nghttpd.log" >&2; exit 1; }

# Processor time of a process so far, in ticks of 10 ms.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

load() {  # process url connections in-flight: requests/s, the server's CPU µs per request
    local before after
    before=$(ticks "$1")
    taskset -c 0 h2load --requests "$requests" --clients "$3" --max-concurrent-streams "$4" --threads 1 \
        --data "$work/body" -H "authorization: bearer $claims.$signature" -H "apns-channel-id: $channel" \
        -H 'apns-push-type: liveactivity' -H 'apns-priority: 10' -H 'apns-expiration: 0' "$2$path" >"$work/h2load.log" 2>&1
    after=$(ticks "$1")
    # A client that sends before it has read SETTINGS has all but one stream refused, as at Apple: those are few, and
    # nothing else may fail.
    awk -v least=$((requests - $3 * $4)) '/^status codes:/ { ok = $3 >= least && $5 + $7 + $9 == 0 } END { exit !ok }' \
        "$work/h2load.log" || { cat "$work/h2load.log" >&2; exit 1; }
    sed -n 's|^finished in .*, \([0-9.]*\) req/s.*|\1|p' "$work/h2load.log" | cut -d. -f1 |
        awk -v t=$((after - before)) -v n="$requests" '{ printf "%d %.1f\n", $1, t * 10000 / n }'
}

# The run with the median rate, from lines that begin with it.
median() { sort -n | awk '{ l[NR] = $0 } END { print l[int((NR + 1) / 2)] }'; }

printf '%-10s %-10s %10s %7s %14s\n' "in flight" server requests/s ratio "CPU µs/request"
for case in ${CASES:-1x100 1x500 10x100}; do
    connections=${case%x*} in_flight=${case#*x}
    rm -f "$work"/runs.*
    for _ in $(seq "$rounds"); do
        load "$peer" "https://127.0.0.1:$port" "$connections" "$in_flight" >>"$work/runs.nghttpd"
        load "$simulator" "$(address development)" "$connections" "$in_flight" >>"$work/runs.simulator"
    done
    read -r base _ < <(median <"$work/runs.nghttpd")
    for server in nghttpd simulator; do
        read -r rate cpu < <(median <"$work/runs.$server")
        printf '%-10s %-10s %10s %7s %14s\n' "$connections x $in_flight" "$server" "$rate" \
            "$(awk "BEGIN { printf \"%.3f\", $rate / $base }")" "$cpu"
    done
done
awk '/VmHWM|VmRSS/ { printf "simulator %s %d MB\n", $1, $2 / 1024 }' "/proc/$simulator/status"
