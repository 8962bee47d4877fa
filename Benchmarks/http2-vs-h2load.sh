#!/usr/bin/env bash
# Requests per second of our HTTP/2 client beside h2load's, on the same server in the same run.
#
# nghttpd (one worker) runs on core 1, the client under test on core 0; three rounds, the clients taking turns;
# 600-byte POSTs over TLS on one connection, 100 and 500 in flight. Prints medians and their ratio.
# Needs the Debian packages nghttp2-server and nghttp2-client, openssl, and two cores.
#
#     GRANDSTAND_BENCHMARKS=1 swift build -c release --product HTTP2Benchmark
#     Benchmarks/http2-vs-h2load.sh [requests per run, default 100000]
set -euo pipefail
cd "$(dirname "$0")/.."

requests=${1:-100000}
rounds=${ROUNDS:-3}
port=${PORT:-$((20000 + RANDOM % 20000))}
benchmark=${HTTP2_BENCHMARK:-.build/release/HTTP2Benchmark}

for tool in nghttpd h2load openssl taskset; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install nghttp2-server nghttp2-client openssl util-linux" >&2; exit 1; }
done
[ -x "$benchmark" ] || { echo "build first: GRANDSTAND_BENCHMARKS=1 swift build -c release --product HTTP2Benchmark" >&2; exit 1; }

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
head -c 600 /dev/zero | tr '\0' x >"$work/body"
mkdir "$work/www" && echo ok >"$work/www/index.html"

# The windows are opened wide, so that the client is what is measured.
taskset -c 1 nghttpd --htdocs "$work/www" --address 127.0.0.1 --workers 1 --window-bits 30 --connection-window-bits 30 \
    --max-concurrent-streams 1000 "$port" "$work/key.pem" "$work/cert.pem" >"$work/nghttpd.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
# An open port may be somebody else's: nghttpd ends at once when it can't have it.
sleep 0.2
kill -0 "$server" 2>/dev/null || { echo "nghttpd did not start on port $port:" >&2; cat "$work/nghttpd.log" >&2; exit 1; }

h2load_rate() {  # in-flight
    taskset -c 0 h2load --requests "$requests" --clients 1 --max-concurrent-streams "$1" --threads 1 \
        --data "$work/body" "https://127.0.0.1:$port/" >"$work/h2load.log" 2>&1
    grep -q " 0 failed, 0 errored" "$work/h2load.log" || { cat "$work/h2load.log" >&2; exit 1; }
    sed -n 's|^finished in .*, \([0-9.]*\) req/s.*|\1|p' "$work/h2load.log" | cut -d. -f1
}

ours() {  # in-flight pool|loop
    taskset -c 0 "$benchmark" 127.0.0.1 "$port" "$work/cert.pem" 1 "$1" "$requests" "$2" | tee -a "$work/ours.log"
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

printf '%-10s %-8s %12s %8s  %s\n' "in flight" client "requests/s" ratio "our last run"
for in_flight in 100 500; do
    h2load=() pool=() loop=() pool_line= loop_line=
    for _ in $(seq "$rounds"); do
        h2load+=("$(h2load_rate "$in_flight")")
        pool_line=$(ours "$in_flight" pool)
        pool+=("${pool_line%% *}")
        loop_line=$(ours "$in_flight" loop)
        loop+=("${loop_line%% *}")
    done
    base=$(median "${h2load[@]}")
    for client in h2load pool loop; do
        case $client in
            h2load) rate=$base line= ;;
            pool) rate=$(median "${pool[@]}") line=${pool_line#*, } ;;
            loop) rate=$(median "${loop[@]}") line=${loop_line#*, } ;;
        esac
        printf '%-10s %-8s %12s %8s  %s\n' "1 x $in_flight" "$client" "$rate" \
            "$(awk "BEGIN { printf \"%.2f\", $rate / $base }")" "$line"
    done
done
if grep -v ", 0 failed," "$work/ours.log"; then
    echo "some of our requests failed" >&2
    exit 1
fi
