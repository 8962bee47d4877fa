#!/usr/bin/env python3
"""Feeds through PUT /v1/events/{key}/state, from outside.

    Benchmarks/states.sh [name=value ...]

Each of `matches` matches has a feed that tells the whole state once a second for `minutes`, changed or not. The time goes
`speed` times as fast, and so do the intervals of the server and of the content type: quietInterval is 30 s of the match
(the least that can be declared is 1 s, so 30 is the highest speed), the lane's interval 1 s of it. A state has the
score, cards and period, which are news, and the minute, possession and shots, which are quiet. One that is late goes at
once; how late they were is said.

    outcomes      of the states, beside what the feeds' own changes are
    sent          messages to APNs by priority; how many of priority 10 a match and hour
    saved         states of which nothing was sent by itself: unchanged, or quiet and replaced by a newer one
    memory        of the server, before, after and the most
    a state       processor time of the server and of PostgreSQL for one, and how long the call took
    unchanged     `rounds` times a lookup and a state that brings nothing new, in turn over one connection
    receipts      `receipts` of phones that read the stamp: each of some thousands shows most of a match's messages after
                  0.01 to 100 s, by a clock that is up to four minutes off, and reports twice; the percentiles of each
                  message beside what the phones did
"""
import collections, datetime, json, os, pathlib, random, re, secrets, socket, statistics, subprocess, sys, tempfile, threading, time
import urllib.request, uuid

import outbox
from outbox import Stage, audience, sql, wait

APP = "com.example.goal"
TYPE = {
    "check": "refuse", "stamp": {"member": "/updatedAt", "as": "unix"},
    "versions": [{"name": "1.0", "schema": {
        "type": "object", "required": ["home", "away", "period", "minute"],
        "properties": {
            "home": {"type": "integer", "minimum": 0}, "away": {"type": "integer", "minimum": 0},
            "minute": {"type": "integer"}, "possession": {"type": "number"}, "shots": {"type": "integer"},
            "period": {"enum": ["first", "pause", "second", "over"]}, "updatedAt": {"type": "integer"},
            "cards": {"type": "array", "items": {"type": "object", "required": ["color"],
                                                 "properties": {"color": {"type": "string"}}}}}}}],
    "rules": {"quiet": ["/minute", "/possession", "/shots"], "rings": [
        {"when": {"increases": "/home"}, "alert": {"title": "Goal", "body": "{home} : {away}"}},
        {"when": {"increases": "/away"}, "alert": {"title": "Goal", "body": "{home} : {away}"}},
        {"when": {"becomes": "/period", "value": "over"}, "alert": {"title": "Full time", "body": "{home} : {away}"}}]}}


class Match:
    """A match of `seconds`: its states, and what each is beside the one before."""

    def __init__(self, number, seconds):
        chance = random.Random(number)
        self.seconds = seconds
        self.state = {"home": 0, "away": 0, "period": "first", "minute": 0, "possession": 0.5, "shots": 0, "cards": []}
        self.chance = chance

    def states(self):
        """Each state, and its outcome as the feed has it."""
        chance, state = self.chance, self.state
        before = None
        for second in range(self.seconds):
            share = second / self.seconds
            state["period"] = "first" if share < 0.43 else "pause" if share < 0.57 else "second" if share < 0.995 else "over"
            if state["period"] in ("first", "second"):
                state["minute"] = second // 60
                if second % 11 == 0:
                    state["possession"] = round(chance.uniform(0.35, 0.65), 2)
                if chance.random() < 1 / 240:
                    state["shots"] += 1
                # 2.7 goals and four cards a match.
                if chance.random() < 2.7 / 5400:
                    state[chance.choice(["home", "away"])] += 1
                if chance.random() < 4 / 5400:
                    state["cards"] = state["cards"] + [{"color": "yellow", "minute": state["minute"]}]
            text = json.dumps(state)
            yield text, outcome(before, state), second
            before = json.loads(text)


def outcome(old, new):
    if old is None:
        return "update"
    if old == new:
        return "unchanged"
    if new["home"] > old["home"] or new["away"] > old["away"] or new["period"] == "over" != old["period"]:
        return "rings"
    quiet = ("minute", "possession", "shots")
    return "quiet" if all(old[name] == new[name] for name in new if name not in quiet) else "update"


class Caller:
    """One connection, and as little of Python as there can be: the time is the server's."""

    def __init__(self, stage):
        self.socket = socket.create_connection(("127.0.0.1", stage.ports[0]))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.key = stage.key

    def request(self, method, path, body=None):
        content = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(body.encode())}\r\n"
        return (f"{method} /v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.key}\r\n"
                f"{content}\r\n{body or ''}").encode()

    def __call__(self, request):
        """Status and body."""
        self.socket.sendall(request)
        data = b""
        while True:
            data += self.socket.recv(65536)
            head, separator, rest = data.partition(b"\r\n\r\n")
            if separator:
                length = re.search(rb"(?i)content-length: (\d+)", head)
                if len(rest) >= (int(length.group(1)) if length else 0):
                    return int(data[9:12]), rest
            if not data:
                sys.exit("the server closed a connection")


class Feed(threading.Thread):
    def __init__(self, stage, number, options, begin):
        super().__init__(daemon=True)
        self.caller, self.key = Caller(stage), f"match-{number}"
        self.match = Match(number, int(options["minutes"] * 60))
        self.speed, self.begin = options["speed"], begin
        self.told, self.expected = collections.Counter(), collections.Counter()
        self.times, self.late, self.wrong = [], 0.0, []

    def run(self):
        for sequence, (state, expected, second) in enumerate(self.match.states(), 1):
            due = self.begin + second / self.speed
            now = time.time()
            if now < due:
                time.sleep(due - now)
            self.late = max(self.late, now - due)
            is_final = second == self.match.seconds - 1
            body = f'{{"contentState": {state}, "sequence": {sequence}, "final": {json.dumps(is_final)}}}'
            request = self.caller.request("PUT", f"/events/{self.key}/state", body)
            began = time.perf_counter()
            status, answer = self.caller(request)
            self.times.append(time.perf_counter() - began)
            if status not in (200, 202):
                self.wrong.append((status, answer[:300]))
                continue
            told = json.loads(answer)["outcome"]
            self.told[told] += 1
            self.expected["end" if is_final else expected] += 1
            if told != ("end" if is_final else expected):
                self.wrong.append((self.key, second, told, expected))


def processor_seconds():
    """Of the server's process, and of all of PostgreSQL's."""
    ticks = os.sysconf("SC_CLK_TCK")
    found = {"grandstand": 0.0, "postgres": 0.0}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        if name in found:
            fields = text.rsplit(")", 1)[1].split()
            found[name] += (int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])) / ticks
    return found


def milliseconds(values):
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered) * 1000:.2f} ms, p99 {ordered[int(len(ordered) * 0.99)] * 1000:.1f} ms"


def play(stage, options):
    matches = int(options["matches"])
    before, memory, most = processor_seconds(), stage.memory(), 0.0
    begin = time.time() + 0.5
    feeds = [Feed(stage, n, options, begin) for n in range(matches)]
    for feed in feeds:
        feed.start()
    while any(feed.is_alive() for feed in feeds):
        most = max(most, stage.memory())
        time.sleep(1)
    took = time.time() - begin
    wait("select not exists (select from deliveries where settled_at is null)", 60)
    after = processor_seconds()
    told, expected = (sum((getattr(feed, name) for feed in feeds), collections.Counter()) for name in ("told", "expected"))
    total = sum(told.values())
    wrong = [one for feed in feeds for one in feed.wrong]
    hours = matches * options["minutes"] / 60
    print(f"{matches} matches, {options['minutes']:g} minutes, {options['speed']:g} times as fast: {total} states in {took:.0f} s, "
          f"late by {max(feed.late for feed in feeds):.2f} s at most")
    print("  outcomes: " + ", ".join(f"{told[name]} {name}" for name in ("unchanged", "quiet", "update", "rings", "end"))
          + ("; as the feeds changed" if told == expected and not wrong else f"; WRONG: {len(wrong)}, such as {wrong[:3]}"))
    rows = [line.split("|") for line in sql(
        "select d.priority, d.alerting, count(*) from deliveries d join broadcasts b on b.id = d.broadcast_id "
        "where d.state = 'accepted' group by 1, 2 order by 1, 2").split("\n")]
    sent = sum(int(row[2]) for row in rows)
    urgent = sum(int(row[2]) for row in rows if int(row[0]) == 10)
    print("  sent: " + ", ".join(f"{row[2]} of priority {row[0]}{' that ring' if row[1] == 't' else ''}" for row in rows)
          + f"; of priority 10 {urgent / hours:.1f} a match and hour")
    replaced = int(sql("select count(*) from deliveries where state = 'superseded'"))
    print(f"  saved: {total - sent} of {total} states ({(total - sent) / total:.1%}), {told['unchanged']} unchanged, "
          f"{replaced} replaced while they waited; other deliveries: "
          + (sql("select state, count(*) from deliveries where state not in ('accepted', 'superseded') group by 1") or "none"))
    print(f"  memory: {memory:.0f} MB before, {stage.memory():.0f} after, {most:.0f} at most")
    cost = {name: (after[name] - before[name]) / total * 1e6 for name in after}
    print(f"  a state: {cost['grandstand']:.0f} µs of the server and the simulator, {cost['postgres']:.0f} µs of PostgreSQL; "
          f"{milliseconds([one for feed in feeds for one in feed.times])}", flush=True)


def commit_seconds():
    sql("create table commits (n int)")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("\\timing on\n" + "insert into commits values (1);\n" * 200)
        script.flush()
        run = subprocess.run([outbox.PSQL, outbox.TARGET, "-Xq", "-f", script.name], capture_output=True, text=True)
    sql("drop table commits")
    return statistics.median(float(one) for one in re.findall(r"Time: ([\d.]+) ms", run.stdout)) / 1000


def unchanged(stage, rounds):
    """In turn: a lookup from memory, one through the router as every other call, a state without a sequence, and one with a
    sequence that rises. A commit of plain SQL beside them."""
    state = json.dumps({"home": 1, "away": 0, "period": "first", "minute": 7, "possession": 0.5, "shots": 3, "cards": []})
    stage.call("PUT", "/events/quiet/state", {"contentState": json.loads(state), "sequence": 1})
    wait("select not exists (select from deliveries where settled_at is null)", 60)
    caller = Caller(stage)
    lookup = caller.request("GET", f"/lookup/{APP}/production/quiet")
    # Fields of a body are out of the ordinary for a lookup.
    routed = caller.request("GET", f"/lookup/{APP}/production/quiet", "")
    plain = caller.request("PUT", "/events/quiet/state", f'{{"contentState": {state}}}')
    numbered = lambda n: caller.request("PUT", "/events/quiet/state", f'{{"contentState": {state}, "sequence": {n + 2}}}')
    times = collections.defaultdict(list)
    for n in range(rounds + 100):
        for name, request in (("lookup", lookup), ("lookup through the router", routed), ("unchanged", plain),
                              ("unchanged, with a sequence", numbered(n))):
            began = time.perf_counter()
            status, answer = caller(request)
            took = time.perf_counter() - began
            if status != 200:
                sys.exit(f"{name}: {status} {answer[:300]}")
            # The first ones fill caches.
            if n >= 100:
                times[name].append(took)
    base, route = statistics.median(times["lookup"]), statistics.median(times["lookup through the router"])
    commit = commit_seconds()
    for name, values in times.items():
        print(f"  {name}: {milliseconds(values)}; {statistics.median(values) / base:.1f} x a lookup, "
              f"{statistics.median(values) / route:.1f} x one through the router")
    print(f"  a commit of one row by psql: {commit * 1000:.2f} ms", flush=True)


def receipts(stage, count):
    """The report of one event's phones beside their own record."""
    control = stage.hosts["control"]
    caller = Caller(stage)
    # Twice as fast as the channel's pace, and each twice.
    pace = float(stage.environment["GRANDSTAND_LANE_INTERVAL"]) / 4
    for n in range(400):
        body = f'{{"contentState": {{"home": {n // 40}, "away": 0, "period": "first", "minute": {n}, "cards": [{{"color": "{n}"}}]}}, "sequence": {n}}}'
        for _ in range(2):
            status, answer = caller(caller.request("PUT", "/events/phones/state", body))
            if status not in (200, 202):
                sys.exit(f"{status} {answer[:300]}")
            time.sleep(pace)
    wait("select not exists (select from deliveries where settled_at is null)", 60)
    accepted = {int(row.split("|")[0]): float(row.split("|")[1]) for row in sql(
        "select d.apns_timestamp, extract(epoch from b.accepted_at) from deliveries d join broadcasts b on b.id = d.broadcast_id "
        "where b.event_key = 'phones' and d.state = 'accepted'").split("\n")}
    superseded = sql("select count(*) from deliveries d join broadcasts b on b.id = d.broadcast_id "
                     "where b.event_key = 'phones' and d.state = 'superseded'")
    with urllib.request.urlopen(f"{control}/journal?operation=broadcast&status=200&limit=100000", timeout=60) as answer:
        journal = json.loads(answer.read())
    arrived = {}
    for entry in journal["entries"]:
        aps = json.loads(entry["body"])["aps"]
        stamp = aps["content-state"].get("updatedAt")
        if stamp in accepted and aps["timestamp"] == stamp:
            arrived[stamp] = entry["time"]
    if set(arrived) != set(accepted):
        sys.exit(f"the simulator has {len(arrived)} of {len(accepted)} messages")
    key = stage.call("POST", "/keys", {"name": "phones", "scopes": ["device"], "bundleId": APP})["secret"]
    shown = {stamp: [] for stamp in arrived}
    lock, chance = threading.Lock(), random.Random(38)
    share = 0.9
    phones = max(1, round(count / (len(arrived) * share)))
    recorded = [0]
    # What an app's installations may store grows with their number, and a sample is a part of them.
    sql(f"""
        insert into installations (app, installation, secret_hash, system_version, locale, live_activities_enabled,
            frequent_pushes_enabled, created_at, seen_at)
        select ae.id, gen_random_uuid(), sha256('secret'), 18004, 'en', true, true, now(), now()
        from generate_series(1, {count // 10}) n, app_environments ae
        where ae.bundle_id = '{APP}' and ae.environment = 'production'""")

    def utc(seconds):
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def report(numbers):
        own = Caller(stage)
        own.key = key
        for number in numbers:
            with lock:
                clock = chance.uniform(-240, 240)
                seen = {stamp: at + 10 ** chance.uniform(-2, 2) for stamp, at in arrived.items() if chance.random() < share}
                for stamp, at in seen.items():
                    shown[stamp].append(at - accepted[stamp])
            path = f"/apps/{APP}/production/installations/{uuid.UUID(int=chance.getrandbits(128), version=4)}"
            secret = secrets.token_urlsafe(40)

            def ask(method, path, body):
                request = own.request(method, path, json.dumps(body)).replace(
                    b"Host: x", b"Host: x\r\nGrandstand-Installation-Secret: " + secret.encode())
                status, answer = own(request)
                if status not in (200, 201):
                    sys.exit(f"{method} {path}: {status} {answer[:300]}")
                return json.loads(answer)

            ask("PUT", path, {"systemVersion": "18.4"})
            items = [{"eventKey": "phones", "timestamp": stamp, "shownAt": utc(at + clock)} for stamp, at in seen.items()]
            for first in range(0, len(items), 100):
                body = {"sentAt": utc(time.time() + clock), "items": items[first:first + 100]}
                for again in range(2):
                    answer = ask("POST", path + "/receipts", body)
                    if not again:
                        with lock:
                            recorded[0] += answer["recorded"]

    began = time.time()
    threads = [threading.Thread(target=report, args=(range(n, phones, 6),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.time() - began
    began = time.time()
    audiences = stage.call("GET", "/events/phones/receipts")["audiences"]
    asked = time.time() - began
    worst = {"p50": 0.0, "p99": 0.0}
    total = 0
    for message in audiences[0]["messages"]:
        times = sorted(shown[message["timestamp"]])
        total += message["shown"]
        for name, percent in (("p50", 50), ("p99", 99)):
            worst[name] = max(worst[name], abs(message["seconds"][name] - times[(len(times) * percent + 99) // 100 - 1]))
    print(f"  receipts: {total} of {phones} phones for {len(arrived)} messages ({superseded} superseded, each state told twice, "
          f"each report sent twice) in {took:.0f} s; p50 off by {worst['p50']:.2f} s at most, p99 by {worst['p99']:.2f} s; "
          f"the report took {asked:.1f} s", flush=True)
    if total != sum(map(len, shown.values())):
        sys.exit(f"the phones showed {sum(map(len, shown.values()))}")


def main():
    known = {"matches": 20, "minutes": 105, "speed": 30, "rounds": 2000, "receipts": 0}
    given = dict(pair.split("=", 1) for pair in sys.argv[1:])
    settings = {name: given.pop(name) for name in list(given) if name.startswith("GRANDSTAND_")}
    for name in given:
        if name not in known:
            sys.exit(f"There is no {name}; known are {', '.join(known)} and GRANDSTAND_…")
    options = {**known, **{name: float(value) for name, value in given.items()}}
    settings.setdefault("GRANDSTAND_LANE_INTERVAL", str(1 / options["speed"]))
    settings.setdefault("GRANDSTAND_RECEIPT_SHARE", "1")
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, simulator=["--control-port", "0", "--journal", "20000"], **settings)
        try:
            matches = [f"match-{n}" for n in range(int(options["matches"]))]
            stage.open_events([APP], matches + ["quiet", "phones"], lambda key: [audience(APP)])
            kind = json.loads(json.dumps(TYPE))
            kind["rules"]["quietInterval"] = max(1, round(30 / options["speed"]))
            stage.call("PUT", f"/apps/{APP}/contents/MatchAttributes", kind)
            if options["minutes"]:
                play(stage, options)
            if options["rounds"]:
                unchanged(stage, int(options["rounds"]))
            if options["receipts"]:
                receipts(stage, int(options["receipts"]))
        finally:
            stage.stop()


if __name__ == "__main__":
    main()
