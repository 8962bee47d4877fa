#!/usr/bin/env python3
"""What many large bodies cost a server's memory, and the other callers.

    Benchmarks/bodies.py [PROGRAM] [COUNT] [BYTES]

Starts PROGRAM (.build/release/grandstand) with an embedded PostgreSQL in a temporary folder, sends COUNT (500) requests of
BYTES (4 MiB) at once while another caller asks for quotas, and prints the answers, the server's largest resident memory
and the other caller's times. On Linux.
"""
import collections, http.client, json, os, re, signal, subprocess, sys, tempfile, threading, time

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/grandstand")
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 500
BYTES = int(sys.argv[3]) if len(sys.argv) > 3 else 4 << 20


def resident(process, name):
    return int(re.search(name + r":\s+(\d+)", open(f"/proc/{process.pid}/status").read()).group(1)) / 1024


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            os.environ, GRANDSTAND_DATA_DIR=folder + "/data", GRANDSTAND_PORT="0", GRANDSTAND_LOG_FORMAT="json",
            GRANDSTAND_APNS_KEY_DIR=folder)
        environment.pop("DATABASE_URL", None)

        def key(name, scope):
            return subprocess.run(
                [PROGRAM, "keys", "create", "--name", name, "--scope", scope], env=environment, check=True,
                capture_output=True, text=True).stdout.strip()

        sender, other = key("sender", "organise"), key("other", "operate")
        log = open(folder + "/log", "w")
        server = subprocess.Popen([PROGRAM, "serve"], env=environment, stdout=log, stderr=log)
        try:
            while not (found := re.search(r'"message":"listening".*?:(\d+)"', open(folder + "/log").read())):
                if server.poll() is not None:
                    sys.exit(open(folder + "/log").read())
                time.sleep(0.1)
            measure(server, int(found.group(1)), sender, other)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def measure(server, port, sender, other):
    answers, times, done = collections.Counter(), [], threading.Event()
    # A batch has at most 500 broadcasts.
    item = json.dumps({"event": "update", "eventKey": "derby", "contentState": {"filler": "x" * (BYTES // 500 - 100)}})
    body = ('{"items":[' + ",".join([item] * 500) + "]}").encode().ljust(BYTES)

    def send():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            connection.request("POST", "/v1/broadcasts", body, {
                "Authorization": "Bearer " + sender, "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            answers[answer.status] += 1
        except OSError as error:
            answers[type(error).__name__] += 1
        finally:
            connection.close()

    def ask():
        while not done.is_set():
            began = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/v1/quotas", headers={"Authorization": "Bearer " + other})
            status = connection.getresponse().status
            connection.close()
            times.append((time.monotonic() - began, status))
            time.sleep(0.02)

    before = resident(server, "VmRSS")
    asking = threading.Thread(target=ask)
    asking.start()
    began = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    done.set()
    asking.join()
    slow = sorted(seconds for seconds, _ in times)
    statuses = collections.Counter(status for _, status in times)
    print(f"{COUNT} requests of {BYTES:,} bytes in {took:.1f} s: {dict(answers)}")
    print(f"resident: {before:.0f} MB before, {resident(server, 'VmHWM'):.0f} MB at most")
    print(f"the other caller: {dict(statuses)}, p50 {slow[len(slow) // 2] * 1e3:.0f} ms, longest {slow[-1] * 1e3:.0f} ms")


main()
