# What all benchmarks use: a field of servers, callers, the limits (h2load and plain SQL), and one form of results.
import asyncio, contextlib, json, os, re, statistics, subprocess, sys, tempfile, time, urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scripts"))
sys.dont_write_bytecode = True
import stage
from stage import ROOT, ask, fail, need, until

APP, OTHER = "com.example.goal", "com.example.other"
SECONDS = "extract(epoch from d.settled_at - b.accepted_at)"
# Settings of the servers, from the command line.
SETTINGS = {}
MISSED = []


# Prints a figure beside its aim.
def result(what, value, at_most=None, at_least=None, unit=""):
    missed = at_most is not None and value > at_most or at_least is not None and value < at_least
    aim = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}" if at_least is not None else ""
    print(f"  {what}: {value:,.{0 if value >= 100 else 2}f}{unit}"
          + (f" (aim: {aim})" if aim else "") + ("  MISSED" if missed else ""), flush=True)
    if missed:
        MISSED.append(what)


def say(text):
    print("  " + text, flush=True)


# Half and 99 of 100, in milliseconds.
def percentiles(seconds):
    ordered = sorted(seconds) or [float("nan")]
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.99)] * 1000


def milliseconds(seconds):
    return "p50 {:.1f} ms, p99 {:.1f} ms".format(*percentiles(seconds)) + f" ({len(seconds)})"


# Megabytes of a process: VmRSS now, VmHWM at most.
def memory(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(field + r":\s+(\d+)", file.read()).group(1)) / 1024


# Seconds that a process has used of the processor, with those of its children that ended.
def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


# Runs a program, on one core if it is given: its output, its seconds of the processor, and its megabytes at most.
def measured(*command, core=None):
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([*pinned, *command], stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if status:
        fail(f"{' '.join(map(str, command))}: {text[-2000:]}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


# Requests a second by h2load, its seconds of the processor and its megabytes.
# A connection takes one stream until it has seen a token; h2load begins with all of them and counts the others as
# failed. The rate is that of the rest.
def h2load(url, requests, headers, body, connections=2, streams=100, core=None):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(body if isinstance(body, str) else json.dumps(body))
        file.flush()
        fields = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
        text, *used = measured("h2load", "-n", str(requests), "-c", str(connections), "-m", str(streams), "-t", "1",
                               "-d", file.name, *fields, url, core=core)
    good = int(re.search(r"status codes: (\d+) 2xx", text).group(1))
    if good < requests - connections * streams:
        fail(text)
    number, unit = re.search(r"finished in ([\d.]+)(ms|s)", text).groups()
    return good / float(number) * (1000 if unit == "ms" else 1), *used


# A broadcast's header fields and body, of about 600 bytes.
def broadcast(token, channel):
    state = {"phase": "second half", "minute": 80, "home": 2, "away": 1, "scorers": ["x" * 380]}
    return {
        "authorization": f"bearer {token}", "apns-channel-id": channel, "apns-push-type": "liveactivity",
        "apns-priority": "10", "apns-expiration": str(int(time.time()) + 3600),
    }, {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": state,
                "alert": {"title": "Goal!", "body": "2-1"}}}


# Calls over HTTP/1.1 and connections that stay open, with as little of Python as there can be, because the callers
# share the processor with what is measured.
class Caller:
    def __init__(self, url, key, connections=50, **fields):
        self.address, self.idle, self.places = urllib.parse.urlsplit(url), [], asyncio.Semaphore(connections)
        fields = {"Host": "x", "Authorization": "Bearer " + key, **fields}
        self.head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    # Status and text of the answer.
    async def __call__(self, method, path, body=None):
        data = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        fields = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        async with self.places:
            reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(
                self.address.hostname, self.address.port)
            writer.write(f"{method} /v1{path} HTTP/1.1\r\n{self.head}{fields}\r\n".encode() + data)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            text = await reader.readexactly(int(length.group(1)) if length else 0)
            self.idle.append((reader, writer))
        return int(head[9:12]), text

    # The answer's JSON; a refusal ends the benchmark.
    async def must(self, method, path, body=None):
        status, text = await self(method, path, body)
        if not 200 <= status < 300:
            fail(f"{method} {path}: {status} {text[:500]}")
        return json.loads(text) if text else None


# Starts `each` of every job at an even pace, whether or not earlier ones are done. Returns what they return.
async def paced(jobs, rate, each):
    began, tasks = time.monotonic(), []
    for number, job in enumerate(jobs):
        await asyncio.sleep(max(0, began + number / rate - time.monotonic()))
        tasks.append(asyncio.create_task(each(job)))
    return await asyncio.gather(*tasks)


# Another app's updates, one at a time, while `work` is done: seconds from their acceptance to APNs' 200.
async def others(place, work, pause):
    began, over, caller = time.time(), asyncio.Event(), place.caller(1)

    async def post():
        while not over.is_set():
            await caller.must("POST", "/events/quiet/broadcasts", {"event": "update", "contentState": content(1)})
            await asyncio.sleep(pause)

    posts = asyncio.create_task(post())
    await work
    over.set()
    await posts
    await asyncio.to_thread(place.settle)
    return place.latencies(f"b.event_key = 'quiet' and b.accepted_at > to_timestamp({began})")


# Servers beside each other on a PostgreSQL that flushes as it should, with a simulator in Apple's place.
@contextlib.contextmanager
def field(replicas=1, simulator=(), **settings):
    # Quirks about capitals would cost calls that are not measured here.
    options = ["--journal", "1", "--capitals", "accepted", *simulator]
    settings = {"GRANDSTAND_LANE_INTERVAL": "0", "GRANDSTAND_RECONCILE_INTERVAL": "0", **settings, **SETTINGS}
    need("h2load", install="apt-get install nghttp2-client")
    with stage.Cluster(flush=True) as cluster, Field(cluster.dsn, simulator=options, **settings) as place:
        place.cluster, place.sql = cluster, cluster.sql
        place.run("migrate")
        place.admin = place.key("admin")
        place.urls = [place.serve(f"server{number}") for number in range(replicas)]
        place.pid = replicas and place.processes["server0"].pid
        yield place


class Field(stage.Stage):
    def ask(self, method, path, body=None):
        return ask(method, f"{self.urls[0]}/v1{path}", body, self.admin)

    def caller(self, connections=50, replica=0):
        return Caller(self.urls[replica], self.admin, connections)

    def memory(self, field="VmRSS"):
        return memory(self.pid, field)

    # Registers apps, puts events, and waits until their channels are there.
    def open(self, events, **more):
        for app in {audience["bundleId"] for audiences in events.values() for audience in audiences}:
            self.ask("PUT", f"/apps/{app}", {"name": "Benchmark", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"})

        async def put():
            caller = self.caller(4)
            await asyncio.gather(*(
                caller.must("PUT", f"/events/{key}", {"name": key, "audiences": audiences, **more})
                for key, audiences in events.items()))

        asyncio.run(put())
        wanted = sum(map(len, events.values()))
        until("every channel is there", lambda: int(self.sql(
            "select count(*) from channels where state = 'active' and event_key = any(array["
            + ",".join(f"'{key}'" for key in events) + "])")) >= wanted, 600, 0.5)
        self.sql("vacuum analyze")

    # Waits until every message has its final state, or those of some broadcasts b.
    def settle(self, condition="true"):
        # Asking takes processor time from those who are measured. The rows have the times.
        until("every message is settled", lambda: self.sql(
            "select not exists (select from deliveries d join broadcasts b on b.id = d.broadcast_id "
            f"where d.settled_at is null and {condition})") == "t", 120, 0.2)

    # Seconds from their acceptance to APNs' 200, of deliveries d with their broadcasts b.
    def latencies(self, condition="true"):
        return [float(row) for row in self.sql(
            f"select {SECONDS} from deliveries d join broadcasts b on b.id = d.broadcast_id "
            f"where d.state = 'accepted' and {condition}").split()]

    # Seconds in which h2load sends as many broadcasts to the simulator.
    def h2load(self, requests, **options):
        app, channel = self.sql(
            "select bundle_id, channel_id from channels where state = 'active' and environment = 'production' limit 1"
        ).split("|")
        headers, body = broadcast(stage.provider_token(self.apns["key"]), channel)
        rate, *_ = h2load(f"{self.apns['production']}/4/broadcasts/apps/{app}", requests, headers, body, **options)
        return requests / rate

    # Seconds in which psql runs statements, each in its own transaction.
    def plain_sql(self, statements):
        began = time.monotonic()
        self.cluster.psql(input=";\n".join(statements) + ";")
        return time.monotonic() - began


def audience(app=APP, environment="production"):
    return {"bundleId": app, "environment": environment, "storagePolicy": "mostRecentMessageStored"}


def content(number):
    return {"home": number, "away": 0, "minute": number % 90, "period": "second-half", "scorers": "Ada 12', Grace 34'"}
