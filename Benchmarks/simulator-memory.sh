#!/usr/bin/env bash
# Resident memory of the simulator as it fills: channels at Apple's limit, a stored message on each, a full journal.
#
# APPS apps in both environments, CHANNELS channels each, by the control API; then a broadcast of SIZE bytes to each, by
# curl over HTTP/2 with all checks on. Prints what is resident after each step. Needs curl with HTTP/2, openssl and xxd.
#
#     swift build -c release --product grandstand
#     Benchmarks/simulator-memory.sh
set -euo pipefail
cd "$(dirname "$0")/.."

apps=${APPS:-3}
channels=${CHANNELS:-10000}
size=${SIZE:-600}
program=${GRANDSTAND:-.build/release/grandstand}
[ -x "$program" ] || { echo "build first: swift build -c release --product grandstand" >&2; exit 1; }

work=$(mktemp -d)
trap 'kill "$simulator" 2>/dev/null; wait; rm -rf "$work"' EXIT
"$program" simulator --port 0 --control-port 0 --dir "$work/apns" --no-lock-screens >"$work/log" 2>&1 &
simulator=$!
for _ in $(seq 100); do
    grep -q ^listening "$work/log" && break
    sleep 0.1
done
address() { sed -nE "s/^listening.* $1=([^ ]+).*/\1/p" "$work/log"; }
resident() { awk -v what="$1" '/VmRSS/ { printf "%-55s %4d MB\n", what, $2 / 1024 }' "/proc/$simulator/status"; }
resident "started"

b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
claims=$(printf '{"alg":"ES256","kid":"SIMULATOR1"}' | b64).$(printf '{"iss":"SIMULATOR1","iat":%d}' "$(date +%s)" | b64)
signature=$(printf %s "$claims" | openssl dgst -sha256 -sign "$(address key)" | openssl asn1parse -inform DER |
    awk -F: '/INTEGER/ { printf "%064s", $4 }' | tr ' ' 0 | xxd -r -p | b64)
frame=$(printf '{"aps":{"timestamp":%d,"event":"update","content-state":{"x":""}}}' "$(date +%s)")
padding=$(head -c $((size - ${#frame})) /dev/zero | tr '\0' x)
printf %s "${frame/\"x\":\"\"/\"x\":\"$padding\"}" >"$work/body"
until=$(($(date +%s) + 3600))

for app in $(seq "$apps"); do
    for environment in development production; do
        curl -sS "$(address control)/apps/com.example.app$app/$environment/channels" \
            -d "{\"storagePolicy\": \"mostRecentMessageStored\", \"count\": $channels}" |
            grep -oE '[A-Za-z0-9+/]{22}==' >"$work/ids.$app.$environment"
    done
done
resident "$((apps * 2 * channels)) channels of $apps apps"

for ids in "$work"/ids.*; do
    environment=${ids##*.} app=${ids%.*}
    awk -v url="$(address "$environment")/4/broadcasts/apps/com.example.app${app##*.}" -v body="$work/body" \
        -v ca="$(address ca)" -v token="$claims.$signature" -v until="$until" '
        { if (NR > 1) print "next"
          printf "url=\"%s\"\nhttp2\nsilent\ncacert=\"%s\"\noutput=/dev/null\ndata-binary=\"@%s\"\n", url, ca, body
          printf "header=\"authorization: bearer %s\"\nheader=\"apns-channel-id: %s\"\n", token, $0
          printf "header=\"apns-push-type: liveactivity\"\nheader=\"apns-priority: 5\"\nheader=\"apns-expiration: %s\"\n", until }
        ' "$ids" >"$work/curl"
    # A few are refused: those that curl sends before it has read that a new connection has one stream.
    curl --parallel --parallel-max 50 --config "$work/curl" 2>/dev/null || true
done
resident "a stored message of $size bytes on each, journal full"
accepted=$(curl -sS "$(address control)/counters" | grep -oE '"operation":"broadcast","status":200,[^}]*' |
    sed 's/.*"count"://' | awk '{ n += $1 } END { print n + 0 }')
echo "$accepted broadcasts accepted"
[ "$accepted" -ge $((apps * 2 * channels * 99 / 100)) ]
