# Pushes to phones.
from harness import *
import datetime

ACCEPTED = ["--quirk", "unknown-device=accepted"]
KICK_OFF = {"title": "Kick-off", "body": "Now"}


# Installations that follow two of three topics, as their registrations leave them.
def install(place, count):
    place.sql(
        f"""insert into installations (app, installation, secret_hash, system_version, locale,
            live_activities_enabled, frequent_pushes_enabled, created_at, seen_at)
        select ae.id, gen_random_uuid(), sha256('secret'), (array[17004, 18000, 18004, 26001])[1 + n % 4],
            (array['de-AT', 'en-GB', 'fr-FR', 'de'])[1 + n % 4], true, n % 20 > 0, now(), now()
        from generate_series(1, {count}) n, app_environments ae
        where ae.bundle_id = '{APP}' and ae.environment = 'production'""",
        """insert into start_tokens (installation, attributes_type, app, token, registered_at)
        select id, 'MatchAttributes', app, sha256(id::text::bytea) || sha256(id::text::bytea), now()
        from installations""",
        """insert into follows (installation, topic, app)
        select id, t, app from installations, unnest(array['team:a', (array['team:b', 'league:c'])[1 + id % 2]]) t""",
        "vacuum analyze")


# Seconds in which h2load sends as many pushes to devices.
def h2load_pushes(place, count):
    aps = {"timestamp": int(time.time()), "event": "start", "attributes-type": "MatchAttributes",
           "attributes": {"home": "A"}, "content-state": content(1), "alert": KICK_OFF}
    headers = {
        "authorization": f"bearer {stage.provider_token(place.apns['key'])}", "apns-push-type": "liveactivity",
        "apns-priority": "10", "apns-topic": f"{APP}.push-type.liveactivity",
        "apns-expiration": str(int(time.time()) + 3600)}
    rate, *_ = h2load(f"{place.apns['production']}/3/device/{'ab' * 64}", count, headers, {"aps": aps})
    return count / rate


# Seconds in which plain SQL inserts and settles a row a push, a commit for 2,000.
def plain_sql(place, count):
    place.sql("create table plain (run bigint, installation bigint, state text, at timestamptz, "
              "primary key (run, installation)) with (fillfactor = 80)")
    return place.plain_sql([
        statement.format(first=first, last=min(count, first + 1999)) for first in range(1, count + 1, 2000)
        for statement in (
            "insert into plain select 1, n, 'sending', now() from generate_series({first}, {last}) n",
            "update plain set state = 'accepted', at = now() "
            "where run = 1 and installation between {first} and {last}")])


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text).timestamp()


# starts: a start by push of an event's activity for all followers, with a report every five seconds, which counts them
# anew, beside h2load and plain SQL together; another app's goals beside it.
def starts(followers=100000):
    with field(simulator=ACCEPTED) as place:
        place.open({"warm": [audience()], "quiet": [audience(OTHER)]})
        install(place, followers)

        quiet = asyncio.run(others(place, asyncio.sleep(5), 0.2))
        used, at = processor_seconds(place.pid), time.time() + 3
        place.open({"derby": [audience()]}, topics=["team:a", "team:b"], start={
            "at": utc(at), "until": utc(at + 3600), "attributesType": "MatchAttributes", "attributes": {"home": "A"},
            "contentState": content(1), "alert": KICK_OFF,
            "alertsByLocale": {"de": {"title": "Anpfiff", "body": "Jetzt"}}})
        report = lambda: place.ask("GET", "/events/derby/starts")
        busy = asyncio.run(others(place, asyncio.to_thread(
            until, "the starts are done", lambda: report()["state"] == "done", 3600, 5), 0.2))
        done, used = report(), processor_seconds(place.pid) - used
        sent = done["counts"]["accepted"]
        ours = seconds_of(done["finishedAt"]) - seconds_of(done["startedAt"])
        sends, plain = h2load_pushes(place, followers), plain_sql(place, followers)
        say(f"{sent} of {followers} in {ours:.1f} s ({sent / ours:.0f} a second), {used / sent * 1e6:.0f} µs of the "
            f"processor each; h2load {sends:.1f} s, plain SQL {plain:.1f} s")
        result("starts, to h2load and plain SQL", ours / (sends + plain), at_most=3)
        result("the first after its time", seconds_of(done["startedAt"]) - at, at_most=1, unit=" s")
        result("memory at most", place.memory("VmHWM"), at_most=150, unit=" MB")
        say(f"another app's goal: quiet {milliseconds(quiet)}, beside the starts {milliseconds(busy)}")
        result("beside the starts, times quiet", statistics.median(busy) / statistics.median(quiet), at_most=5)


# crowd: an update to activities by their tokens, and a newer one a second later, beside h2load.
def crowd(members=50000):
    with field(simulator=ACCEPTED) as place:
        place.open({"warm": [audience()]})
        place.ask("PUT", "/events/derby", {"name": "derby", "audiences": [{**audience(), "delivery": "tokens"}]})
        install(place, members)
        # Whoever does not allow frequent pushes would get the newer update a minute later.
        place.sql("update installations set frequent_pushes_enabled = true")
        place.sql("""insert into activities (installation, activity, app, event_key, attributes_type, state,
                update_token, registered_at, reported_at)
            select id, 'one', app, 'derby', 'MatchAttributes', 'active', sha256(id::text::bytea), now(), now()
            from installations""", "vacuum analyze")

        def update(number):
            return place.ask("POST", "/events/derby/broadcasts", {"event": "update", "contentState": content(number)})

        def tokens(made):
            deliveries = place.ask("GET", f"/broadcasts/{made['id']}")["deliveries"]
            return next(one for one in deliveries if one["kind"] == "tokens")

        first = update(1)
        time.sleep(1)
        newer, began = update(2), time.time()
        until("the newer update is settled", lambda: tokens(newer)["settledAt"], 600, 0.2)
        ours, peer = seconds_of(tokens(newer)["settledAt"]) - began, h2load_pushes(place, members)
        say(f"the first update reached {tokens(first)['counts']['accepted']}, the newer one "
            f"{tokens(newer)['counts']['accepted']} in {ours:.1f} s; h2load {peer:.1f} s")
        result("an update by token, to h2load", ours / peer, at_most=3)
        result("memory at most", place.memory("VmHWM"), at_most=150, unit=" MB")
