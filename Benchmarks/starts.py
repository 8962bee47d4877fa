#!/usr/bin/env python3
"""Pushes to devices from outside: the built server and simulator, each a process, a throw-away PostgreSQL, and the limits.

    Benchmarks/starts.sh starts|crowd [name=value ...]
"""
import datetime, json, os, pathlib, re, statistics, subprocess, sys, tempfile, threading, time

import outbox
from outbox import Stage, audience, content, sql, wait

APP = "com.example.goal"
OTHER = "com.example.other"


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


def install(count):
    """Installations of the app that follow one or two of three topics, as their registrations leave them."""
    sql(f"""
        insert into installations (app, installation, secret_hash, system_version, locale, live_activities_enabled,
            frequent_pushes_enabled, created_at, seen_at)
        select ae.id, gen_random_uuid(), sha256('secret'), (array[17004, 18000, 18004, 26001])[1 + n % 4],
            (array['de-AT', 'en-GB', 'fr-FR', 'de'])[1 + n % 4], true, n % 20 > 0, now(), now()
        from generate_series(1, {count}) n, app_environments ae
        where ae.bundle_id = '{APP}' and ae.environment = 'production';
        insert into start_tokens (installation, attributes_type, app, token, registered_at)
        select id, 'MatchAttributes', app, sha256(id::text::bytea) || sha256(id::text::bytea), now() from installations;
        insert into follows (installation, topic, app)
        select id, t, app from installations, unnest(array['team:a', (array['team:b', 'league:c'])[1 + id % 2]]) t;
        vacuum analyze""".replace(";\n", "; "))


def h2load_seconds(stage, requests):
    """Seconds in which h2load sends as many device pushes to the same simulator."""
    return outbox.h2load(
        stage, requests, f"/3/device/{'ab' * 64}",
        {"apns-push-type": "liveactivity", "apns-priority": "10", "apns-topic": f"{APP}.push-type.liveactivity",
         "apns-expiration": str(int(time.time()) + 3600)},
        {"aps": {"timestamp": int(time.time()), "event": "start", "attributes-type": "MatchAttributes",
                 "attributes": {"home": "A"}, "content-state": content(1),
                 "alert": {"title": "Kick-off", "body": "Now"}}})


def sql_seconds(rows, batch=2000):
    """Seconds in which plain SQL inserts and settles as many rows, a commit for each batch."""
    sql("create table plain (run bigint, installation bigint, state text, at timestamptz, "
        "primary key (run, installation)) with (fillfactor = 80)")
    statements = []
    for first in range(0, rows, batch):
        last = min(rows, first + batch)
        statements.append(
            f"insert into plain select 1, n, 'sending', now() from generate_series({first + 1}, {last}) n")
        statements.append(
            f"update plain set state = 'accepted', at = now() where run = 1 and installation > {first} "
            f"and installation <= {last}")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(";\n".join(statements) + ";\n")
        script.flush()
        os.chmod(script.name, 0o644)
        began = time.monotonic()
        subprocess.run([outbox.PSQL, outbox.TARGET, "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", script.name], check=True)
        seconds = time.monotonic() - began
    sql("drop table plain")
    return seconds


class Goals:
    """Another app's updates, one at a time: seconds from POST to APNs' 200."""

    def __init__(self, stage):
        self.stage = stage
        self.connection = stage.connect()

    def one(self):
        began = time.time()
        made = self.stage.call(
            "POST", "/events/other/broadcasts", {"event": "update", "contentState": content(1)}, self.connection)
        wait(f"select settled_at is not null from deliveries where broadcast_id = '{made['id']}'", 30)
        settled = float(sql(
            f"select extract(epoch from settled_at) from deliveries where broadcast_id = '{made['id']}'"))
        return settled - began

    def several(self, count=10):
        return [self.one() for _ in range(count)]


def put_event(stage, key, start=None, app=APP):
    event = {"name": key, "audiences": [audience(app)], "topics": ["team:a", "team:b"]}
    if start:
        event["start"] = start
    stage.call("PUT", f"/events/{key}", event)
    wait(f"select count(*) = 0 from audiences a join lanes l on l.id = a.lane "
         f"where a.event_key = '{key}' and l.channel is null", 60)


def start(at):
    return {"at": utc(at), "until": utc(at + 3600), "attributesType": "MatchAttributes",
            "attributes": {"home": "A"}, "contentState": content(1), "alert": {"title": "Kick-off", "body": "Now"},
            "alertsByLocale": {"de": {"title": "Anpfiff", "body": "Jetzt"}}}


def starts(folder, followers=1000000):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0", simulator=["--quirk", "unknown-device=accepted"])
    try:
        stage.open_events([APP, OTHER], ["warm", "other"], lambda key: [audience(OTHER if key == "other" else APP)])
        install(followers)
        goals = Goals(stage)
        goals.several(5)
        quiet = goals.several(20)
        server = stage.servers[0]
        before, memory = processor_seconds(server), stage.memory()
        at = time.time() + 3
        put_event(stage, "derby", start(at))
        busy, stop = [], threading.Event()

        def others():
            own = Goals(stage)
            while not stop.is_set():
                busy.append(own.one())
                time.sleep(0.2)

        beside = threading.Thread(target=others)
        beside.start()
        wait("select exists (select from starts)", 60)
        wait("select finished_at is not null from fan_outs where policy = 'start'", 3600)
        stop.set()
        beside.join()
        first, seconds, sent = sql(
            f"select extract(epoch from r.started_at) - {at}, extract(epoch from r.finished_at - r.started_at), "
            "(select count(*) from starts where state = 'accepted') from fan_outs r where policy = 'start'").split("|")
        used = processor_seconds(server) - before
        peer = h2load_seconds(stage, followers)
        plain = sql_seconds(followers)
        print(f"starts to {sent} of {followers} followers: {float(seconds):.1f} s ({int(sent) / float(seconds):.0f}/s), "
              f"the first {float(first):.2f} s after its time; h2load {peer:.1f} s, plain SQL {plain:.1f} s, "
              f"ratio {float(seconds) / (peer + plain):.2f}; server {used / int(sent) * 1e6:.0f} us of processor a start, "
              f"memory {memory:.0f} -> {peak_memory(server):.0f} MB at most")
        print(f"another app's goal: quiet {statistics.median(quiet) * 1000:.1f} ms, beside the starts "
              f"{statistics.median(busy) * 1000:.1f} ms (ratio {statistics.median(busy) / statistics.median(quiet):.1f}, "
              f"worst {max(busy) * 1000:.0f} ms, {len(busy)} goals)")
    finally:
        stage.stop()


def crowd(folder, members=200000):
    stage = Stage(folder, GRANDSTAND_LANE_INTERVAL="0", simulator=["--quirk", "unknown-device=accepted"])
    try:
        stage.call("PUT", f"/apps/{APP}", {"name": "Benchmark", "teamId": outbox.TEAM, "keyId": outbox.TEAM})
        stage.call("PUT", "/events/derby", {"name": "derby", "audiences": [{**audience(APP), "delivery": "tokens"}]})
        install(members)
        sql("""insert into activities (installation, activity, app, event_key, attributes_type, state, update_token,
                   registered_at, reported_at, frequent)
               select id, 'one', app, 'derby', 'MatchAttributes', 'active', sha256(id::text::bytea), now(), now(), true
                   from installations; vacuum analyze""")
        server = stage.servers[0]
        before = processor_seconds(server)
        began = time.time()
        first = stage.call("POST", "/events/derby/broadcasts", {"event": "update", "contentState": content(1)})
        time.sleep(1)
        newer = time.time()
        second = stage.call("POST", "/events/derby/broadcasts", {"event": "update", "contentState": content(2)})

        def tokens(made):
            found = stage.call("GET", f"/broadcasts/{made['id']}")
            return next(d for d in found["deliveries"] if d["kind"] == "tokens")

        while tokens(second)["state"] in ("queued", "sending"):
            time.sleep(0.1)
        seconds = time.time() - newer
        old, new = tokens(first), tokens(second)
        sent = old["counts"]["accepted"] + new["counts"]["accepted"]
        peer = h2load_seconds(stage, members)
        print(f"crowd of {members}: the first update reached {old['counts']['accepted']} ({old['state']}), the newer "
              f"{new['counts']['accepted']} in {seconds:.1f} s ({new['counts']['accepted'] / seconds:.0f}/s); h2load "
              f"{peer:.1f} s, ratio {seconds / peer:.2f}; server "
              f"{(processor_seconds(server) - before) / sent * 1e6:.0f} us of processor a push, "
              f"{peak_memory(server):.0f} MB at most")
    finally:
        stage.stop()


if __name__ == "__main__":
    what = {"starts": starts, "crowd": crowd}[sys.argv[1]]
    values = {name: int(value) for name, value in (part.split("=") for part in sys.argv[2:])}
    with tempfile.TemporaryDirectory() as folder:
        what(folder, **values)
