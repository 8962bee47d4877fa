# Updates from their acceptance to APNs' 200.
from harness import *

BATCH = 500


# Seconds in which plain SQL inserts and settles the newest updates once more, in copies of their tables, a commit for
# each batch.
def plain_sql(place, count):
    place.sql(
        "drop table if exists parts, copied_broadcasts, copied_deliveries, unsettled",
        "create table copied_broadcasts (like broadcasts including all)",
        "create table copied_deliveries (like deliveries including all)",
        f"create table parts as select id, (row_number() over () - 1) / {BATCH} as part from "
        f"(select id from broadcasts where event_key <> 'quiet' order by accepted_at desc limit {count}) newest",
        "create table unsettled as select * from deliveries where broadcast_id in (select id from parts)",
        "update unsettled set state = 'queued', settled_at = null",
        "create index on parts (part)", "create index on unsettled (broadcast_id)", "vacuum analyze")
    parts = range(-(-count // BATCH))
    return place.plain_sql([
        "begin; insert into copied_broadcasts select b.* from broadcasts b join parts using (id) "
        f"where part = {part}; insert into copied_deliveries overriding system value select u.* "
        f"from parts p join unsettled u on u.broadcast_id = p.id where part = {part}; commit"
        for part in parts
    ] + [
        "update copied_deliveries d set state = 'accepted', settled_at = now(), attempts = 1 "
        f"from parts p where p.id = d.broadcast_id and part = {part}" for part in parts])


# Updates all events by batches, four at a time.
async def burst(caller, keys, number):
    bodies = [{"items": [{"eventKey": key, "event": "update", "contentState": content(number)} for key in part]}
              for part in (keys[first:first + BATCH] for first in range(0, len(keys), BATCH))]
    for answer in await asyncio.gather(*(caller.must("POST", "/broadcasts", body) for body in bodies)):
        refused = [item for item in answer["items"] if "id" not in item and "broadcast" not in item]
        if refused:
            fail(f"refused: {refused[0]}")


# saturday: a burst of updates to as many events by batches of 500, beside h2load and plain SQL together; in every
# second round with another app's updates beside it.
def saturday(lanes=10000, rounds=5):
    with field() as place:
        keys = [f"match-{number}" for number in range(lanes)]
        place.open({**{key: [audience()] for key in keys}, "quiet": [audience(OTHER)]})
        before, ratios, beside = place.memory(), [], []
        quiet = asyncio.run(others(place, asyncio.sleep(3), 0.05))

        async def play(number):
            await burst(place.caller(4), keys, number)
            await asyncio.to_thread(place.settle, "b.event_key <> 'quiet'")

        for number in range(rounds):
            began = time.time()
            if number % 2:
                beside += asyncio.run(others(place, play(number), 0.05))
            else:
                asyncio.run(play(number))
            count, last = place.sql(
                "select count(*), extract(epoch from max(d.settled_at)) from deliveries d join broadcasts b "
                "on b.id = d.broadcast_id where d.state = 'accepted' and b.event_key <> 'quiet' "
                f"and b.accepted_at > to_timestamp({began})").split("|")
            if int(count) != lanes:
                fail(f"{count} accepted instead of {lanes}")
            ours, sent, plain = float(last) - began, place.h2load(lanes), plain_sql(place, lanes)
            say(f"round {number + 1}: {ours:.2f} s, h2load {sent:.2f} s, plain SQL {plain:.2f} s, ratio "
                f"{ours / (sent + plain):.2f}{', another app beside it' if number % 2 else ''}")
            if number % 2 == 0:
                ratios.append(ours / (sent + plain))
        result(f"a burst of {lanes}, to h2load and plain SQL", statistics.median(ratios), at_most=3.5)
        if beside:
            say(f"another app's update: quiet {milliseconds(quiet)}, beside the burst {milliseconds(beside)}")
            result("beside the burst, times quiet", statistics.median(beside) / statistics.median(quiet), at_most=5)
        result("memory that grew", place.memory() - before, at_most=50, unit=" MB")
        result("kept for a delivery", int(place.sql(
            "select pg_table_size('deliveries') / count(*) from deliveries")), unit=" bytes")


# sustained: updates one by one at an even rate, from POST to APNs' 200, beside a commit and a round trip.
def sustained(rate=200, seconds=25, lanes=1000, callers=50):
    with field() as place:
        keys = [f"match-{number}" for number in range(lanes)]
        place.open({key: [audience()] for key in keys})
        place.sql("create table commits (number int)")
        commit = place.plain_sql(["insert into commits values (1)"] * 500) / 500
        trip = place.h2load(500, connections=1, streams=1) / 500
        before, body = place.memory(), json.dumps({"event": "update", "contentState": content(1)})

        async def offer():
            caller = place.caller(callers)
            return await paced((keys[number % lanes] for number in range(int(rate * seconds))), rate,
                               lambda key: caller("POST", f"/events/{key}/broadcasts", body))

        began = time.monotonic()
        accepted = sum(status == 202 for status, _ in asyncio.run(offer()))
        say(f"{accepted / (time.monotonic() - began):.0f} accepted a second")
        place.settle()
        result("accepted of those offered", accepted / int(rate * seconds), at_least=1)
        result("events whose newest update is not at APNs", int(place.sql(
            "select count(*) from (select distinct on (b.event_key) d.state from deliveries d join broadcasts b "
            "on b.id = d.broadcast_id order by b.event_key, b.accepted_at desc, d.id desc) newest "
            "where state <> 'accepted'")), at_most=0)
        half, most = percentiles(place.latencies())
        say(f"a commit {commit * 1000:.2f} ms, a round trip {trip * 1000:.2f} ms")
        result("memory that grew", place.memory() - before, unit=" MB")
        result("POST to APNs' 200, p50", half, unit=" ms", **({"at_most": 10} if rate <= 200 else {}))
        result("p99", most, unit=" ms")
        result("p50 to commit and round trip", half / 1000 / (commit + trip))
