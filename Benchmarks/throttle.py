#!/usr/bin/env python3
"""Match traffic through one or more servers against the simulator's hidden buckets.

    Benchmarks/throttle.sh app|channel|connection|both [name=value ...]

Each of `lanes` channels of one app gets an update of priority 5 `updates` times a second, and `goals` times a second one
of them, at random, an update of priority 10 with an alert. Another app has two updates a second of its own, from before
the traffic on. The bucket is by app, by channel or by connection (then the other app is within it, as it shares the
connections); `both` is one by app and one by channel of a tenth of the rate. Every figure is of what came after the first
`warm` seconds:

    share of 429    of the answers to this app's broadcasts
    use             what the buckets let through, of what they could have; and of that or what was asked for, if less
    goals           from the acceptance to APNs' 200; `allowed` is the time in which the bucket lets one message through
    another app     its updates, before the traffic and beside it, and the latter by each 30 s: as many as its channel may send
    newest states   lanes whose newest update is what APNs has stored, how long after the last one
"""
import json, os, random, statistics, sys, tempfile, threading, time, urllib.parse, urllib.request

import outbox
from outbox import Stage, audience, sql

APP = "com.example.goal"
OTHER = "com.example.other"
# Of a second: the lanes' updates are spread over it.
SLOTS = 10


class Control:
    """The simulator's control API."""

    def __init__(self, stage):
        self.base = stage.hosts["control"]

    def __call__(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, json.dumps(body).encode() if body is not None else None, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            data = answer.read()
        return json.loads(data) if data else None

    def counts(self):
        """Taken and refused by verdict of this app's buckets, and what they allowed, by name."""
        return {bucket["name"]: bucket["counts"] for bucket in self("GET", "/buckets")["buckets"]}

    def stored(self):
        """`home` of the message that is stored on each channel of the app."""
        listed = self("GET", f"/apps/{APP}/production/channels")["channels"]
        return {
            channel["channelId"]: json.loads(channel["storedMessage"]["body"])["aps"]["content-state"]["home"]
            for channel in listed if channel["storedMessage"]}


def buckets(kind, rate, burst, retry_after):
    """What the control API takes."""
    common = {"retryAfter": bool(retry_after)}
    if kind == "connection":
        return [{"name": kind, "by": kind, "rate": rate, "burst": burst, **common}]
    of_app = {"bundleId": APP, **common}
    if kind == "both":
        return [{"name": "app", "by": "app", "rate": rate, "burst": burst, **of_app},
                {"name": "channel", "by": "channel", "rate": rate / 10, "burst": max(1, burst / 10), **of_app}]
    return [{"name": kind, "by": kind, "rate": rate, "burst": burst, **of_app}]


class Traffic:
    """The organiser's backend: threads that post to all servers in turn until they are told to stop."""

    def __init__(self, stage, keys, updates, goals):
        self.stage, self.keys, self.updates, self.goals = stage, keys, updates, goals
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.number = 0
        self.late = 0.0
        self.last = 0.0
        self.failure = None
        self.threads = []

    def connect(self, n):
        import http.client
        ports = self.stage.ports
        return http.client.HTTPConnection("127.0.0.1", ports[n % len(ports)], timeout=60)

    def next(self):
        with self.lock:
            self.number += 1
            return self.number

    def post(self, connection, items):
        answer = self.stage.call("POST", "/broadcasts", {"items": items}, connection)
        for item, asked in zip(answer["items"], items):
            if "broadcast" not in item and "id" not in item:
                sys.exit(f"{asked['eventKey']} was refused: {item}")
        self.last = time.time()

    def paced(self, n, every, items):
        """Posts what `items` makes, each `every` seconds."""
        try:
            self.play(self.connect(n), every, items)
        except BaseException as error:
            self.failure = error
            raise

    def play(self, connection, every, items):
        due = time.time() + every * random.random()
        while not self.stop.wait(max(0, due - time.time())):
            self.late = max(self.late, time.time() - due)
            self.post(connection, items())
            due += every

    def start(self):
        def update(key):
            return {"eventKey": key, "event": "update", "priority": 5, "contentState": outbox.content(self.next())}

        def goal():
            return [{"eventKey": random.choice(self.keys), "event": "update", "priority": 10,
                     "contentState": outbox.content(self.next()), "alert": {"title": "Goal", "body": "One more"}}]

        # A lane belongs to one thread: its numbers are accepted in their order, but for goals.
        for n in range(SLOTS):
            mine = self.keys[n::SLOTS]
            for first in range(0, len(mine), 500):
                part = mine[first:first + 500]
                self.run(n, 1 / self.updates, lambda part=part: [update(key) for key in part])
        if self.goals:
            self.run(0, 1 / self.goals, goal)

    def run(self, *arguments):
        thread = threading.Thread(target=self.paced, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def finish(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()
        if self.failure:
            sys.exit(f"a caller ended: {self.failure}")


class Other(Traffic):
    """The other app: two updates a second of one event."""

    def start(self):
        self.run(0, 0.5, lambda: [{"eventKey": "other", "event": "update", "contentState": outbox.content(self.next())}])


def milliseconds(values):
    if not values:
        return "none"
    ordered = sorted(values)
    return (f"p50 {statistics.median(ordered) * 1000:.0f} ms, p99 {ordered[int(len(ordered) * 0.99)] * 1000:.0f} ms, "
            f"max {ordered[-1] * 1000:.0f} ms ({len(ordered)})")


def latencies(app, begin, end, condition="true"):
    """Seconds from acceptance to APNs' 200 of what was accepted in that time."""
    rows = sql(
        f"select extract(epoch from d.settled_at - b.accepted_at) from deliveries d "
        f"join broadcasts b on b.id = d.broadcast_id join lanes l on l.id = d.lane "
        f"where l.bundle_id = '{app}' and d.state = 'accepted' and {condition} "
        f"and b.accepted_at between to_timestamp({begin}) and to_timestamp({end})")
    return [float(row) for row in rows.split()]


def by_half_minute(app, begin, end):
    """The median of each 30 seconds, in milliseconds."""
    starts = [begin + 30 * n for n in range(max(1, int(end - begin) // 30))]
    parts = [latencies(app, at, at + 30) for at in starts]
    return ", ".join(f"{statistics.median(part) * 1000:.0f}" if part else "none" for part in parts)


def main():
    kinds = ("app", "channel", "connection", "both")
    if sys.argv[1:2] == [] or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kind = sys.argv[1]
    given = dict(pair.split("=", 1) for pair in sys.argv[2:])
    settings = {name: given.pop(name) for name in list(given) if name.startswith("GRANDSTAND_")}
    changes = [tuple(map(float, one.split(":"))) for one in given.pop("changes", "").split(",") if one]
    known = {"rate": 20, "burst": None, "retry_after": 0, "seconds": 60, "replicas": 1, "lanes": 60, "updates": 2,
             "goals": 0.5, "warm": 10, "seed": 1, "patience": 60}
    for name in given:
        if name not in known:
            sys.exit(f"There is no {name}; known are {', '.join(known)}, changes and GRANDSTAND_…")
    options = {**known, **{name: float(value) for name, value in given.items()}}
    burst = max(1, options["rate"]) if options["burst"] is None else options["burst"]
    random.seed(options["seed"])
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, replicas=int(options["replicas"]), simulator=["--control-port", "0"], **settings)
        try:
            play(stage, kind, options, burst, changes)
        finally:
            stage.stop()


def play(stage, kind, options, burst, changes):
    rate, seconds, warm = options["rate"], options["seconds"], options["warm"]
    keys = [f"match-{n}" for n in range(int(options["lanes"]))]
    stage.open_events([APP, OTHER], keys + ["other"], lambda key: [audience(OTHER if key == "other" else APP)])
    control = Control(stage)
    for bucket in buckets(kind, rate, burst, options["retry_after"]):
        control("POST", "/buckets", bucket)

    other = Other(stage, ["other"], 0, 0)
    quiet = time.time()
    other.start()
    time.sleep(10)
    traffic = Traffic(stage, keys, options["updates"], options["goals"])
    began = time.time()
    traffic.start()

    def until(second):
        time.sleep(max(0, began + second - time.time()))

    todo = sorted([(warm, None)] + changes + [(seconds, None)], key=lambda one: one[0])
    readings = []
    for second, new in todo:
        until(second)
        if new is None:
            readings.append((time.time(), control.counts(), traffic.number))
        else:
            for bucket in buckets(kind, new, 1, 0):
                control("PATCH", f"/buckets/{bucket['name']}", {"rate": bucket["rate"]})
    traffic.finish()
    ended = traffic.last
    reached, waited = newest(control, options["patience"])
    other.finish()

    (begin, before, asked_before), (end, after, asked) = readings
    print(f"{kind} {rate:g}/s, depth {burst:g}, {'with' if options['retry_after'] else 'without'} Retry-After"
          + (", changes " + ", ".join(f"{new:g}/s after {at:g} s" for at, new in changes) if changes else "")
          + f"; {len(keys)} lanes, {options['updates']:g} updates a second each, {int(options['replicas'])} server(s), "
          f"{end - begin:.0f} s")
    offered = asked - asked_before
    for name in after:
        taken, refused, allowed = (after[name][count] - before[name][count] for count in ("taken", "refused", "allowed"))
        print(f"  bucket by {name}: {taken / (end - begin):.1f} taken/s, {refused / (end - begin):.1f} refused/s, "
              f"share of 429 {refused / max(1, taken + refused):.1%}; use {taken / max(1, allowed):.1%} of what it allows, "
              f"{taken / max(1, min(allowed, offered)):.1%} of that or of what was asked for")
    allowed = {"app": 1 / rate, "channel": 1 / rate, "connection": 1 / rate, "both": 10 / rate}[kind] if rate else 0
    open_goals = sql(
        f"select count(*) from deliveries d join lanes l on l.id = d.lane "
        f"where l.bundle_id = '{APP}' and d.alerting and d.state <> 'accepted'")
    print(f"  goals: {milliseconds(latencies(APP, begin, end, 'd.alerting'))}; {open_goals} not at APNs; "
          f"allowed {allowed * 1000:.0f} ms")
    print(f"  another app: alone {milliseconds(latencies(OTHER, quiet, began))}; "
          f"beside {milliseconds(latencies(OTHER, begin, end))}; p50 by 30 s {by_half_minute(OTHER, begin, end)} ms")
    print(f"  newest states at APNs: {reached} of {len(keys)} lanes, {waited - ended:.1f} s after the last update; "
          f"organisers' calls late by {traffic.late:.1f} s at most")
    states = sql("select state, count(*) from deliveries group by 1 order by 1").replace("\n", ", ").replace("|", " ")
    print(f"  deliveries: {states}", flush=True)


def newest(control, patience):
    """Lanes whose newest update APNs has stored, and when they all were, or patience was over."""
    wanted = dict(row.split("|") for row in sql(
        f"select distinct on (d.lane) c.channel_id, b.content_state->>'home' from deliveries d "
        f"join broadcasts b on b.id = d.broadcast_id join lanes l on l.id = d.lane join channels c on c.id = l.channel "
        f"where l.bundle_id = '{APP}' order by d.lane, d.id desc").split("\n"))
    end = time.time() + patience
    while True:
        stored = control.stored()
        reached = sum(str(stored.get(channel)) == number for channel, number in wanted.items())
        if reached == len(wanted) or time.time() > end:
            return reached, time.time()
        time.sleep(0.2)


if __name__ == "__main__":
    main()
