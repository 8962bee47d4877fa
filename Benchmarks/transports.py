# Our HTTP/2 client and the simulator, beside the usual programs.
from harness import *

TRANSPORTS = os.path.join(ROOT, ".build/release/TransportBenchmark")
NGHTTP2 = "apt-get install nghttp2-client nghttp2-server util-linux"


# The entry with the median rate, which is its first value.
def middle(runs):
    return sorted(runs)[len(runs) // 2]


def cases(text):
    return [tuple(map(int, case.split("x"))) for case in text.split(",")]


# One worker of nghttpd on core 1. Its windows are opened wide, so that the client is what is measured.
def nghttpd(place, key, certificate, path):
    os.makedirs(os.path.dirname(place.folder + "/www" + path), exist_ok=True)
    with open(place.folder + "/www" + path, "w"):
        port = stage.free_port()
    place.start("nghttpd", "taskset", "-c", "1", "nghttpd", "--htdocs", place.folder + "/www", "--address", "127.0.0.1",
                "--workers", "1", "--window-bits", "30", "--connection-window-bits", "30", "--max-concurrent-streams",
                "1000", str(port), key, certificate)
    time.sleep(0.5)
    if place.processes["nghttpd"].poll() is not None:
        fail("nghttpd ended: " + place.log("nghttpd"))
    return port


# http2: requests a second of our client beside h2load's, in turn on core 0, at the same nghttpd on core 1: POSTs of 600
# bytes over TLS; of=connections x requests in flight on each.
def http2(requests=100000, rounds=3, of="1x100,1x500,2x1000"):
    need("nghttpd", "h2load", "taskset", install=NGHTTP2)
    with stage.Stage() as place:
        port = nghttpd(place, place.folder + "/apns/server.key", place.folder + "/apns/server.pem", "/index.html")
        for connections, streams in cases(of):
            theirs, ours = [], []
            for _ in range(rounds):
                rate, used, megabytes = h2load(
                    f"https://127.0.0.1:{port}/", requests, {}, "x" * 600, connections, streams, core=0)
                theirs.append((rate, used / requests * 1e6, megabytes))
                text, used, megabytes = measured(
                    TRANSPORTS, str(port), place.apns["ca"], str(connections), str(streams),
                    str(requests), core=0)
                found = json.loads(text)
                # A tenth of the requests warmed up.
                ours.append((found["count"] / found["seconds"], used / requests / 1.1 * 1e6, megabytes,
                             found["p50"], found["p99"]))
            (limit, theirs, _), (rate, own, megabytes, half, most) = middle(theirs), middle(ours)
            say(f"{connections} x {streams}: h2load {limit:,.0f} a second, {theirs:.1f} µs of the processor each; "
                f"ours {rate:,.0f}, {own:.1f} µs, p50 {half:.2f} ms, p99 {most:.2f} ms, {megabytes} MB")
            result(f"our client at {connections} x {streams}, to h2load", rate / limit, at_least=0.4)


# simulator: broadcasts a second that it answers beside nghttpd, which answers with an empty file, in turn on core 1;
# h2load has core 0. The simulator checks all of a broadcast and writes its journal.
def simulator(requests=100000, rounds=3, of="1x100,1x500,10x100"):
    need("nghttpd", "h2load", "taskset", install=NGHTTP2)
    with stage.Stage() as place:
        pid, path = place.processes["simulator"].pid, "/4/broadcasts/apps/com.example.stadium"
        subprocess.run(["taskset", "-apc", "1", str(pid)], check=True, capture_output=True)
        port = nghttpd(place, place.folder + "/apns/server.key", place.folder + "/apns/server.pem", path)
        channel = place.control("POST", "/apps/com.example.stadium/development/channels", {})["channelIds"][0]
        headers, body = broadcast(stage.provider_token(place.apns["key"]), channel)
        # The channel stores no messages.
        headers["apns-expiration"] = "0"
        for connections, streams in cases(of):
            rates = {}
            for _ in range(rounds):
                for url in (f"https://127.0.0.1:{port}", place.apns["development"]):
                    rate, *_ = h2load(url + path, requests, headers, body, connections, streams, core=0)
                    rates.setdefault(url, []).append(rate)
            limit, ours = map(middle, rates.values())
            say(f"{connections} x {streams}: nghttpd {limit:,.0f} a second, the simulator {ours:,.0f}")
            result(f"the simulator at {connections} x {streams}, to nghttpd", ours / limit, at_least=0.3)
        result("memory at most", memory(pid, "VmHWM"), at_most=100, unit=" MB")
