#!/usr/bin/env python3
"""The outbox from outside: the built server and simulator, each a process, a throw-away PostgreSQL, and the limits.

    Benchmarks/outbox.sh saturday|audiences|sustained|growth|bloat|peer [name=value ...]

Standard library only, but for peer (ALTERNATIVE_PYTHON: a Python with fastapi, uvicorn, asyncpg, httpx[http2] and pyjwt); psql and h2load do what stands beside us.
"""
import base64, concurrent.futures, contextlib, http.client, json, os, pathlib, re, signal, socket, statistics, subprocess
import sys, tempfile, threading, time

BINARY = os.environ["GRANDSTAND"]
TARGET = os.environ["TARGET"]
PSQL = os.environ["PSQL"]
TEAM = "SIMULATOR1"


def sql(text, database=TARGET):
    # Each statement a transaction of its own, as VACUUM wants it.
    run = subprocess.run(
        [PSQL, database, "-XAtq", "-v", "ON_ERROR_STOP=1", *[part for one in text.split("; ") for part in ("-c", one)]],
        capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout.strip()


class Stage:
    """A simulator and servers in processes of their own, and a key to talk to them."""

    def __init__(self, folder, replicas=1, simulator=(), **settings):
        self.folder = folder
        self.processes = []
        # Quirks about capitals would cost calls that are not measured here.
        apns = self.start(
            ["simulator", "--port", "0", "--dir", f"{folder}/apns", "--no-lock-screens", "--journal", "1",
             "--capitals", "accepted", *simulator], {})
        line = self.line(apns, "listening")
        self.hosts = dict(re.findall(r"(\w+)=(\S+)", line))
        hosts = {
            f"GRANDSTAND_APNS_{environment.upper()}_{kind}_URL": self.hosts[environment]
            for environment in ("development", "production") for kind in ("SEND", "MANAGE")
        }
        self.environment = {
            "DATABASE_URL": TARGET, "GRANDSTAND_PORT": "0", "GRANDSTAND_APNS_KEY_DIR": f"{folder}/apns",
            "GRANDSTAND_APNS_CA_FILE": self.hosts["ca"], "GRANDSTAND_LOG_LEVEL": "warning",
            "GRANDSTAND_RECONCILE_INTERVAL": "0", **hosts, **settings,
        }
        sql("drop schema public cascade; create schema public; grant all on schema public to public")
        subprocess.run([BINARY, "migrate"], env={**os.environ, **self.environment}, check=True, capture_output=True)
        made = subprocess.run(
            [BINARY, "keys", "create", "--name", "benchmark", "--scope", "admin"],
            env={**os.environ, **self.environment}, check=True, capture_output=True, text=True)
        self.key = re.search(r"gs_\S+", made.stdout).group()
        self.environment["GRANDSTAND_LOG_LEVEL"] = "info"
        self.ports = []
        self.servers = []
        for _ in range(replicas):
            server = self.start(["serve"], self.environment)
            url = re.search(r"http://[^\s\"\\]+:(\d+)", self.line(server, "listening"))
            self.ports.append(int(url.group(1)))
            self.servers.append(server)

    def start(self, arguments, environment):
        process = subprocess.Popen(
            [BINARY, *arguments], env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        self.processes.append(process)
        return process

    @staticmethod
    def line(process, word):
        for line in process.stdout:
            if word in line:
                threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True).start()
                return line
        sys.exit(f"{process.args} ended before it said {word}")

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(30)

    def memory(self):
        """Megabytes resident, of the first server."""
        text = pathlib.Path(f"/proc/{self.servers[0].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=60)

    def call(self, method, path, body=None, connection=None):
        own = connection or self.connect()
        own.request(
            method, f"/v1{path}", json.dumps(body) if body is not None else None,
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        answer = own.getresponse()
        data = answer.read()
        if answer.status >= 300:
            sys.exit(f"{method} {path}: {answer.status} {data[:500]}")
        if not connection:
            own.close()
        return json.loads(data) if data else None

    def open_events(self, apps, keys, audiences):
        """Registers apps, puts events, and waits until every channel is there."""
        connection = self.connect()
        for app in apps:
            self.call("PUT", f"/apps/{app}", {"name": "Benchmark", "teamId": TEAM, "keyId": TEAM}, connection)

        def put(part):
            own = self.connect()
            for key in part:
                self.call("PUT", f"/events/{key}", {"name": key, "audiences": audiences(key)}, own)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(put, [keys[n::4] for n in range(4)]))
        wait("select count(*) = 0 from audiences a join lanes l on l.id = a.lane where l.channel is null", 600)
        sql("vacuum analyze")

    def token(self):
        encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
        text = encode(json.dumps({"alg": "ES256", "kid": TEAM}).encode()) + b"." + encode(
            json.dumps({"iss": TEAM, "iat": int(time.time())}).encode())
        der = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", f"{self.folder}/apns/AuthKey_{TEAM}.p8"], input=text,
            capture_output=True, check=True).stdout
        numbers, at = b"", 2
        for _ in range(2):
            length = der[at + 1]
            numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + length
        return (text + b"." + encode(numbers)).decode()


def wait(condition, seconds):
    end = time.time() + seconds
    while sql(condition) != "t":
        if time.time() > end:
            sys.exit(f"not within {seconds} s: {condition}")
        # Asking takes processor from those who are measured, and when it was is read off the rows.
        time.sleep(0.2)


def audience(app, environment="production"):
    return {"bundleId": app, "environment": environment, "storagePolicy": "mostRecentMessageStored"}


def content(n):
    return {"home": n, "away": 0, "minute": n % 90, "period": "second-half", "scorers": "Ada 12', Grace 34', Alan 56'"}


def h2load(stage, requests, path, headers, body, connections=2, streams=100, environment="production"):
    """Seconds in which h2load sends as many requests to the same simulator.

    A connection takes one stream until it has seen a token; h2load begins with all of them and counts the others as
    failed. The time is that of the rest, for as many requests.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(body, file)
        file.flush()
        headers = {"authorization": f"bearer {stage.token()}", **headers}
        run = subprocess.run(
            ["h2load", "-n", str(requests), "-c", str(connections), "-m", str(streams), "-d", file.name,
             *[part for name, value in headers.items() for part in ("-H", f"{name}: {value}")],
             f"{stage.hosts[environment]}{path}"], capture_output=True, text=True)
    found = re.search(r"finished in ([\d.]+)(ms|s)", run.stdout)
    good = re.search(r"status codes: (\d+) 2xx", run.stdout)
    if not found or not good or int(good.group(1)) < requests - connections * streams:
        sys.exit(run.stdout + run.stderr)
    return float(found.group(1)) / (1000 if found.group(2) == "ms" else 1) * requests / int(good.group(1))


def h2load_seconds(stage, requests, connections=2, streams=100, environment="production"):
    """Seconds in which h2load sends as many broadcasts to the same simulator."""
    app, channel = sql(
        f"select bundle_id, channel_id from channels where environment = '{environment}' and state = 'active' limit 1"
    ).split("|")
    return h2load(
        stage, requests, f"/4/broadcasts/apps/{app}",
        {"apns-push-type": "Liveactivity", "apns-priority": "10", "apns-expiration": str(int(time.time()) + 3600),
         "apns-channel-id": channel},
        {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": content(1)}},
        connections, streams, environment)


def sql_seconds(rows, batch=500):
    """Seconds in which plain SQL inserts and settles as many rows of the same tables, a commit for each batch."""
    statements = [
        """create temp table lane_list as select row_number() over (order by id) as n, id,
           gen_random_uuid() as broadcast, (select event_key from audiences where lane = lanes.id) as event_key from lanes""",
        "create index on lane_list (n)", "analyze lane_list",
    ]
    for start in range(0, rows, batch):
        part = f"from lane_list where n > {start} and n <= {start + batch}"
        statements.append(
            f"""with b as (insert into broadcasts (id, event_key, event, content_state, accepted_at)
                select broadcast, event_key, 'update', '{json.dumps(content(1)).replace("'", "''")}', now() {part})
            insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
                apns_request_id) select broadcast, id, 'queued', false, false, 10, 0, now() + '1 hour', gen_random_uuid()
            {part}""")
    for start in range(0, rows, batch):
        statements.append(
            f"""update deliveries set state = 'accepted', settled_at = now(), attempts = 1, apns_timestamp = 1
            where settled_at is null and lane in (select id from lane_list where n > {start} and n <= {start + batch})""")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write("\\timing on\n" + ";\n".join(statements) + ";\n")
        file.flush()
        run = subprocess.run([PSQL, TARGET, "-Xq", "-f", file.name], capture_output=True, text=True)
    if run.stderr:
        sys.exit(run.stderr)
    times = [float(t) for t in re.findall(r"Time: ([\d.]+) ms", run.stdout)]
    sql("delete from deliveries where apns_timestamp = 1; delete from broadcasts b where not exists "
        "(select from deliveries d where d.broadcast_id = b.id)")
    return sum(times[3:]) / 1000


def post_batches(stage, keys, n, size=500, at_once=4):
    """Updates every event by batch calls; returns when the first began."""
    bodies = [
        {"items": [{"eventKey": key, "event": "update", "contentState": content(n)} for key in keys[i:i + size]]}
        for i in range(0, len(keys), size)
    ]
    local = threading.local()

    def post(body):
        if not hasattr(local, "connection"):
            local.connection = stage.connect()
        answer = stage.call("POST", "/broadcasts", body, local.connection)
        refused = [item for item in answer["items"] if "broadcast" not in item and "id" not in item]
        if refused:
            sys.exit(f"refused: {refused[:3]}")

    began = time.time()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(post, bodies))
    return began


def last_settled(expected, seconds=120):
    wait("select not exists (select from deliveries where settled_at is null)", seconds)
    count, last = sql(
        "select count(*) filter (where state = 'accepted'), extract(epoch from max(settled_at)) from deliveries").split("|")
    if int(count) != expected:
        sys.exit(f"{count} accepted instead of {expected}")
    return float(last)


def clear():
    sql("delete from deliveries; delete from broadcasts; update lanes set newest_broadcast = null; vacuum analyze")


def saturday(folder, lanes=10000, rounds=5):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0")
    try:
        keys = [f"match-{n}" for n in range(lanes)]
        stage.open_events(
            ["com.example.goal", "com.example.other"], keys + ["quiet"],
            lambda key: [audience("com.example.other" if key == "quiet" else "com.example.goal")])
        connection = stage.connect()

        def single():
            """Seconds from one update of another app to Apple's 200."""
            made = stage.call(
                "POST", "/events/quiet/broadcasts", {"event": "update", "contentState": content(1)}, connection)["id"]
            return made

        def latencies(ids):
            wait("select not exists (select from deliveries where settled_at is null)", 60)
            text = ",".join(f"'{i}'" for i in ids)
            return [float(line) for line in sql(
                f"""select extract(epoch from d.settled_at - b.accepted_at) from deliveries d
                join broadcasts b on b.id = d.broadcast_id where b.id in ({text}) and d.state = 'accepted'""").split()]

        quiet_ids = []
        for _ in range(30):
            quiet_ids.append(single())
            time.sleep(0.02)
        quiet = latencies(quiet_ids)
        clear()
        stage_memory = stage.memory()
        rows = []
        busy = []
        for n in range(rounds):
            ids = []
            # The last one may have been idle for longer than the server keeps it.
            connection = stage.connect()
            stop = threading.Event()

            def others():
                while not stop.is_set():
                    ids.append(single())
                    time.sleep(0.05)

            beside = threading.Thread(target=others)
            # Every other round has the other app beside it.
            if n % 2:
                beside.start()
            began = post_batches(stage, keys, n)
            wait("select not exists (select from deliveries where settled_at is null and priority <> 1)", 120)
            if n % 2:
                stop.set()
                beside.join()
                busy += latencies(ids)
            ours = float(sql(
                "select extract(epoch from max(d.settled_at)) from deliveries d join lanes l on l.id = d.lane "
                "where l.bundle_id = 'com.example.goal'")) - began
            accepted = int(sql(
                "select count(*) from deliveries d join lanes l on l.id = d.lane "
                "where l.bundle_id = 'com.example.goal' and d.state = 'accepted'"))
            if accepted != lanes:
                sys.exit(f"{accepted} accepted instead of {lanes}")
            clear()
            plain = sql_seconds(lanes)
            sent = h2load_seconds(stage, lanes)
            clear()
            rows.append((ours, sent, plain))
            print(f"  round {n + 1}: ours {ours:.2f} s, h2load {sent:.2f} s, plain SQL {plain:.2f} s, "
                  f"ratio {ours / (sent + plain):.2f}{' (another app beside)' if n % 2 else ''}", flush=True)
        alone = [r for n, r in enumerate(rows) if n % 2 == 0]
        print(f"saturday, {lanes} lanes: median ratio {statistics.median(o / (h + s) for o, h, s in alone):.2f}; "
              f"memory {stage_memory:.0f} -> {stage.memory():.0f} MB; another app's update: quiet "
              f"{statistics.median(quiet) * 1000:.1f} ms, beside the burst {statistics.median(busy) * 1000:.1f} ms "
              f"(ratio {statistics.median(busy) / statistics.median(quiet):.1f}, worst {max(busy) * 1000:.0f} ms)")
    finally:
        stage.stop()


def audiences(folder, apps=200, rounds=5):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0")
    try:
        names = [f"com.example.app{n}" for n in range(apps)]
        everyone = [audience(name, e) for name in names for e in ("development", "production")]
        stage.open_events(names, ["large", "small"], lambda key: everyone if key == "large" else everyone[1:2])
        connection = stage.connect()
        ratios = []
        for n in range(rounds):
            def seconds(key, count):
                began = time.time()
                stage.call("POST", f"/events/{key}/broadcasts", {"event": "update", "contentState": content(n)}, connection)
                last = last_settled(count) - began
                clear()
                return last
            small, large = seconds("small", 1), seconds("large", len(everyone))
            plain, sent = sql_seconds(len(everyone)), h2load_seconds(stage, len(everyone))
            clear()
            ratios.append(large / (3 * small + plain + sent))
            print(f"  round {n + 1}: {len(everyone)} audiences {large * 1000:.0f} ms, one {small * 1000:.0f} ms, "
                  f"h2load {sent * 1000:.0f} ms, plain SQL {plain * 1000:.0f} ms", flush=True)
        print(f"audiences: median of ours / (3 x one + h2load + SQL) {statistics.median(ratios):.2f} (aim 1)")
    finally:
        stage.stop()


def commit_and_trip(stage):
    """Milliseconds of one small commit and of one HTTP/2 round trip, at rest."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write("\\timing on\n" + "insert into benchmark_commits values (1);\n" * 100)
        file.flush()
        sql("create table benchmark_commits (x int)")
        run = subprocess.run([PSQL, TARGET, "-Xq", "-f", file.name], capture_output=True, text=True)
        sql("drop table benchmark_commits")
    commit = statistics.median(float(t) for t in re.findall(r"Time: ([\d.]+) ms", run.stdout))
    trips = 500
    return commit, h2load_seconds(stage, trips, connections=1, streams=1) / trips * 1000


def offer(stage, folder, keys, rate, seconds, callers):
    """Updates the events one by one at that rate, each caller others than the rest, and says what was answered."""
    with open(f"{folder}/update", "w") as file:
        json.dump({"event": "update", "contentState": content(1)}, file)
    processes = []
    for caller in range(callers):
        # One process each: h2load's clients all begin with the first address.
        with open(f"{folder}/uris{caller}", "w") as file:
            for key in keys[caller::callers]:
                file.write(f"http://127.0.0.1:{stage.ports[0]}/v1/events/{key}/broadcasts\n")
        processes.append(subprocess.Popen(
            ["h2load", "--h1", "-c", "1", "-m", "1", "--rps", str(rate / callers),
             "-n", str(rate * seconds // callers), "-i", file.name, "-d", f"{folder}/update",
             "-H", f"authorization: Bearer {stage.key}", "-H", "content-type: application/json"],
            stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate()[0] for process in processes]
    good = sum(int(re.search(r"status codes: (\d+) 2xx", text).group(1)) for text in outputs)
    rates = [float(re.search(r", ([\d.]+) req/s", text).group(1)) for text in outputs]
    print(f"  answered 202: {good} of {rate * seconds}, {sum(rates):.0f}/s", flush=True)


def sustained(folder, lanes=5000, rate=2000, seconds=120, callers=50):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0")
    try:
        keys = [f"match-{n}" for n in range(lanes)]
        stage.open_events(["com.example.goal"], keys, lambda key: [audience("com.example.goal")])
        clear()
        commit, trip = commit_and_trip(stage)
        before = stage.memory()
        offer(stage, folder, keys, rate, seconds, callers)
        wait("select not exists (select from deliveries where settled_at is null)", 60)
        print("  states:", sql("select state, count(*) from deliveries group by 1").replace("\n", ", "))
        print("  newest lost:", sql(
            """select count(*) from (select distinct on (lane) state from deliveries order by lane, id desc) x
            where state <> 'accepted'"""))
        quarters = sql(
            """select string_agg(format('%s/%s', round(p50), round(p99)), ', ' order by quarter) from (
            select ntile as quarter, percentile_cont(0.5) within group (order by ms) as p50,
                percentile_cont(0.99) within group (order by ms) as p99 from (
                select ntile(4) over (order by b.accepted_at), extract(epoch from d.settled_at - b.accepted_at) * 1000 as ms
                from deliveries d join broadcasts b on b.id = d.broadcast_id where d.state = 'accepted') x group by 1) y""")
        p50, p99 = map(float, sql(
            """select percentile_cont(0.5) within group (order by ms), percentile_cont(0.99) within group (order by ms)
            from (select extract(epoch from d.settled_at - b.accepted_at) * 1000 as ms from deliveries d
            join broadcasts b on b.id = d.broadcast_id where d.state = 'accepted') x""").split("|"))
        print(f"sustained {rate}/s for {seconds} s over {lanes} lanes: POST to 200 p50 {p50:.1f} ms, p99 {p99:.1f} ms; commit "
              f"{commit:.2f} ms + round trip {trip:.2f} ms: ratios {p50 / (commit + trip):.1f} and {p99 / (commit + trip):.1f}; "
              f"p50/p99 by quarter {quarters} ms; memory {before:.0f} -> {stage.memory():.0f} MB")
    finally:
        stage.stop()


def peer(folder, lanes=1000, rate=2000, seconds=10, callers=50):
    """Ours and OutboxBenchmark/alternative.py, in turn on one database, offered the same updates."""
    python = os.environ.get("ALTERNATIVE_PYTHON") or sys.exit("peer: set ALTERNATIVE_PYTHON")
    here = pathlib.Path(__file__).parent / "OutboxBenchmark"
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0")
    try:
        keys = [f"match-{n}" for n in range(lanes)]
        stage.open_events(["com.example.goal"], keys, lambda key: [audience("com.example.goal")])
        clear()
        subprocess.run([PSQL, TARGET, "-Xq", "-v", "ON_ERROR_STOP=1", "-f", here / "alternative.sql"], check=True)
        port = free_port()
        environment = {
            **os.environ, "DSN": dsn(), "HOST": stage.hosts["production"], "CA": stage.hosts["ca"], "TEAM": TEAM,
            "KEY_FILE": f"{folder}/apns/AuthKey_{TEAM}.p8", "SECRET": stage.key, "TOPIC": "com.example.goal"}
        other = subprocess.Popen(
            [python, "-m", "uvicorn", "--app-dir", here, "alternative:app", "--port", str(port), "--log-level", "error",
             "--no-access-log"], env=environment)
        stage.processes.append(other)
        for _ in range(100):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        own = stage.ports[0]
        for name, at, table in (("grandstand", own, "deliveries"), ("by hand", port, "peer_messages")) * 2:
            stage.ports[0] = at
            print(f"{name}:", flush=True)
            began = time.time()
            offer(stage, folder, keys, rate, seconds, callers)
            wait(f"select not exists (select from {table} where settled_at is null)", 300)
            took = time.time() - began
            states = sql(f"select state, count(*) from {table} group by 1 order by 1").replace("\n", ", ")
            count = int(sql(f"select count(*) from {table}"))
            times = ("select extract(epoch from d.settled_at - b.accepted_at) as s from deliveries d join broadcasts b "
                     "on b.id = d.broadcast_id" if table == "deliveries" else
                     "select extract(epoch from settled_at - accepted_at) as s from peer_messages")
            p50, p99 = sql(f"select round(1000 * percentile_cont(0.5) within group (order by s)), "
                           f"round(1000 * percentile_cont(0.99) within group (order by s)) from ({times}) t").split("|")
            print(f"  {count / took:.0f} updates/s until the last was settled ({states}); p50 {p50} ms, p99 {p99} ms", flush=True)
            sql("delete from deliveries; delete from broadcasts; delete from peer_messages")
    finally:
        stage.stop()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def dsn():
    """The database as asyncpg reads it."""
    parts = dict(part.split("=", 1) for part in TARGET.split())
    return f"postgresql:///{parts['dbname']}?host={parts['host']}&user={parts['user']}"


def fill(lanes):
    """Events with lanes and channels that have nothing to send, as a season leaves them."""
    sql(f"""begin; set local session_replication_role = replica;
        insert into events (key, name, created_at, updated_at) select 'filled-' || n, 'Match', now(), now()
            from generate_series(1, {lanes}) n;
        insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key, created_at, changed_at)
            select md5('channel-' || n)::uuid, 'com.example.filler', 'production', 'mostRecentMessageStored', 'active',
                'filled-' || n, 'filled-' || n, now(), now() from generate_series(1, {lanes}) n;
        insert into lanes (id, bundle_id, environment, storage_policy, channel) overriding system value
            select n + 1000000, 'com.example.filler', 'production', 'mostRecentMessageStored', md5('channel-' || n)::uuid
            from generate_series(1, {lanes}) n;
        insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane)
            select 'filled-' || n, 'com.example.filler', 'production', 'mostRecentMessageStored', 0, n + 1000000
            from generate_series(1, {lanes}) n;
        commit""".replace("; ", ";\n"))
    sql("vacuum analyze")


def growth(folder, steps="1000,10000,100000"):
    """Cost of a delivery as lanes grow: the same thousand are updated, among more and more that are quiet."""
    base = None
    for lanes in map(int, str(steps).split(",")):
        stage = Stage(f"{folder}/{lanes}", GRANDSTAND_LANE_INTERVAL="0")
        try:
            keys = [f"match-{n}" for n in range(1000)]
            stage.open_events(["com.example.goal", "com.example.filler"], keys, lambda key: [audience("com.example.goal")])
            fill(lanes - len(keys))
            costs = []
            for n in range(9):
                began = post_batches(stage, keys, n)
                costs.append((last_settled(len(keys)) - began) / len(keys))
                sql("delete from deliveries; delete from broadcasts")
            cost = statistics.median(costs[2:])
            base = base or cost
            print(f"growth: {lanes} lanes, {cost * 1e6:.0f} us for a delivery, {cost / base:.2f} of the first", flush=True)
        finally:
            stage.stop()


def bloat(folder, deliveries=1000000, lanes=5000):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0")
    try:
        keys = [f"match-{n}" for n in range(lanes)]
        stage.open_events(["com.example.goal"], keys, lambda key: [audience("com.example.goal")])
        sizes = lambda: sql(
            """select format('lanes %s MB, lanes_due %s MB, pending %s MB, deliveries %s MB',
            round(pg_table_size('lanes') / 1e6, 1), round(pg_relation_size('lanes_due') / 1e6, 1),
            round(pg_relation_size('deliveries_pending') / 1e6, 1), round(pg_table_size('deliveries') / 1e6))""")
        print("  at first:", sizes(), flush=True)
        done, began, last = 0, time.time(), 0
        while done < deliveries:
            post_batches(stage, keys, done)
            wait("select not exists (select from deliveries where settled_at is null)", 120)
            done += lanes
            if done * 10 // deliveries > last:
                last = done * 10 // deliveries
                print(f"  {done}: {sizes()}, {done / (time.time() - began):.0f}/s", flush=True)
        print("bloat:", sql(
            """select string_agg(format('%s: HOT %s %%, dead %s %%', relname, round(100.0 * n_tup_hot_upd / n_tup_upd),
            round(100.0 * n_dead_tup / (n_live_tup + n_dead_tup))), ', ') from pg_stat_user_tables
            where relname in ('lanes', 'deliveries')"""), sizes())
    finally:
        stage.stop()


def main():
    scenario = {f.__name__: f for f in (saturday, audiences, sustained, growth, bloat, peer)}.get(sys.argv[1] if sys.argv[1:] else "")
    if not scenario:
        sys.exit(__doc__)
    options = dict(pair.split("=", 1) for pair in sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        scenario(folder, **{name: value if name == "steps" else int(value) for name, value in options.items()})


if __name__ == "__main__":
    main()
