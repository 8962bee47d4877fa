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
"""
import collections, json, os, pathlib, random, re, socket, statistics, subprocess, sys, tempfile, threading, time

import outbox
from outbox import Stage, audience, sql, wait

APP = "com.example.goal"
TYPE = {
    "check": "refuse",
    "versions": [{"name": "1.0", "schema": {
        "type": "object", "required": ["home", "away", "period", "minute"],
        "properties": {
            "home": {"type": "integer", "minimum": 0}, "away": {"type": "integer", "minimum": 0},
            "minute": {"type": "integer"}, "possession": {"type": "number"}, "shots": {"type": "integer"},
            "period": {"enum": ["first", "pause", "second", "over"]},
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


def main():
    known = {"matches": 20, "minutes": 105, "speed": 30, "rounds": 2000}
    given = dict(pair.split("=", 1) for pair in sys.argv[1:])
    settings = {name: given.pop(name) for name in list(given) if name.startswith("GRANDSTAND_")}
    for name in given:
        if name not in known:
            sys.exit(f"There is no {name}; known are {', '.join(known)} and GRANDSTAND_…")
    options = {**known, **{name: float(value) for name, value in given.items()}}
    settings.setdefault("GRANDSTAND_LANE_INTERVAL", str(1 / options["speed"]))
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, **settings)
        try:
            matches = [f"match-{n}" for n in range(int(options["matches"]))]
            stage.open_events([APP], matches + ["quiet"], lambda key: [audience(APP)])
            kind = json.loads(json.dumps(TYPE))
            kind["rules"]["quietInterval"] = max(1, round(30 / options["speed"]))
            stage.call("PUT", f"/apps/{APP}/contents/MatchAttributes", kind)
            if options["minutes"]:
                play(stage, options)
            if options["rounds"]:
                unchanged(stage, int(options["rounds"]))
        finally:
            stage.stop()


if __name__ == "__main__":
    main()
