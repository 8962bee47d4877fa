#!/usr/bin/env bash
# Requests per second of our HTTP/2 client beside h2load's, on the same server in the same run.
#
# nghttpd (one worker) runs on core 1, the client under test on core 0; three rounds, the clients taking turns;
# 600-byte POSTs over TLS; CASES are connections x requests in flight on each. Prints the runs with the median rate.
# Needs the Debian packages nghttp2-server, nghttp2-client, openssl and time, and two cores. With HTTPX_PYTHON, a Python
# that has httpx[http2] (from PyPI), that is measured too; and async-http-client where it was built.
#
#     GRANDSTAND_BENCHMARKS=1 swift build -c release --product HTTP2Benchmark
#     swift build -c release --package-path Benchmarks/AsyncHTTPClientBenchmark
#     Benchmarks/http2-vs-h2load.sh [requests per run, default 100000]
set -euo pipefail
cd "$(dirname "$0")/.."

requests=${1:-100000}
rounds=${ROUNDS:-3}
port=${PORT:-$((20000 + RANDOM % 20000))}
benchmark=${HTTP2_BENCHMARK:-.build/release/HTTP2Benchmark}
ahc=${AHC_BENCHMARK:-Benchmarks/AsyncHTTPClientBenchmark/.build/release/AsyncHTTPClientBenchmark}

for tool in nghttpd h2load openssl taskset /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install nghttp2-server nghttp2-client openssl util-linux time" >&2; exit 1; }
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

# Runs a command on core 0; its processor seconds and peak kilobytes go to $work/usage.
measured() { taskset -c 0 /usr/bin/time --format '%U %S %M' --output "$work/usage" "$@"; }

# Microseconds of processor time for a request, from $work/usage.
cpu_per_request() { awk -v n="$requests" '{ printf "%.1f", ($1 + $2) * 1e6 / n }' "$work/usage"; }

h2load_run() {  # connections in-flight [option...]: requests/s, CPU µs per request, MB
    local clients=$1 streams=$2
    shift 2
    measured h2load --requests "$requests" --clients "$clients" --max-concurrent-streams "$streams" --threads 1 \
        --data "$work/body" "$@" "https://127.0.0.1:$port/" >"$work/h2load.log" 2>&1
    grep -q " 0 failed, 0 errored" "$work/h2load.log" || { cat "$work/h2load.log" >&2; exit 1; }
    echo "$(sed -n 's|^finished in .*, \([0-9.]*\) req/s.*|\1|p' "$work/h2load.log" | cut -d. -f1)" \
        "$(cpu_per_request)" "$(awk '{ print int($3 / 1024) }' "$work/usage")"
}

# Milliseconds that half and 99 of 100 requests took; a run of its own, since writing them down takes time.
h2load_latency() {  # connections in-flight
    rm -f "$work/latencies"
    h2load_run "$1" "$2" --log-file="$work/latencies" >/dev/null
    cut -f3 "$work/latencies" | sort -n |
        awk '{ v[NR] = $1 } END { printf "p50 %.2f ms, p99 %.2f ms", v[int(NR / 2) + 1] / 1000, v[int(NR * .99)] / 1000 }'
}

swift_run() {  # program requests connections in-flight: the same, then the latencies
    local line program=$1 count=$2
    shift 2
    line=$(taskset -c 0 "$program" 127.0.0.1 "$port" "$work/cert.pem" "$1" "$2" "$count")
    echo "$line" >>"$work/swift.log"
    echo "$line" | sed -E 's|^([0-9]+) requests/s, (p50 .* ms, p99 .* ms), ([0-9.]+) CPU s, .* ([0-9]+) MB peak|\1 \3 \4 \2|' |
        awk -v n="$count" '{ $2 = sprintf("%.1f", $2 * 1e6 / n); print }'
}

python_run() {  # connections in-flight: httpx, a fiftieth of the requests
    taskset -c 0 "$HTTPX_PYTHON" Benchmarks/httpx-load.py "https://127.0.0.1:$port/" "$work/cert.pem" "$work/body" \
        "$1" "$2" $((requests / 50))
}

# The run with the median rate, from lines that begin with it.
median() { sort -n | awk '{ l[NR] = $0 } END { print l[int((NR + 1) / 2)] }'; }

printf '%-10s %-8s %10s %7s %14s %7s %5s  %s\n' "in flight" client requests/s ratio "CPU µs/request" ratio MB latency
for case in ${CASES:-1x100 1x500 2x1000}; do
    connections=${case%x*} in_flight=${case#*x}
    rm -f "$work"/runs.*
    for _ in $(seq "$rounds"); do
        h2load_run "$connections" "$in_flight" >>"$work/runs.h2load"
        swift_run "$benchmark" "$requests" "$connections" "$in_flight" >>"$work/runs.ours"
        # A tenth of the requests: it takes ten times as long for each, and more.
        if [ -x "$ahc" ]; then
            swift_run "$ahc" $((requests / 10)) "$connections" "$in_flight" >>"$work/runs.ahc"
        fi
        if [ -n "${HTTPX_PYTHON-}" ]; then python_run "$connections" "$in_flight" >>"$work/runs.httpx"; fi
    done
    read -r base base_cpu _ < <(median <"$work/runs.h2load")
    for client in h2load ours ahc httpx; do
        [ -f "$work/runs.$client" ] || continue
        read -r rate cpu megabytes latency < <(median <"$work/runs.$client")
        if [ "$client" = h2load ]; then latency=$(h2load_latency "$connections" "$in_flight"); fi
        printf '%-10s %-8s %10s %7s %14s %7s %5s  %s\n' "$connections x $in_flight" "$client" "$rate" \
            "$(awk "BEGIN { printf \"%.3f\", $rate / $base }")" "$cpu" \
            "$(awk "BEGIN { printf \"%.2f\", $cpu / $base_cpu }")" "$megabytes" "$latency"
    done
done
if grep -v ", 0 failed," "$work/swift.log"; then
    echo "some requests failed" >&2
    exit 1
fi
