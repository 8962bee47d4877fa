# Match traffic through one or more servers against the simulator's hidden buckets.
from harness import *
import itertools, random

# Of a second: the lanes' updates are spread over it.
SLOTS = 10


def buckets(by, rate, burst, retry_after):
    one = {"name": by, "by": by, "rate": rate, "burst": burst, "retryAfter": bool(retry_after)}
    if by == "both":
        tenth = {"rate": rate / 10, "burst": max(1, burst / 10)}
        return [{**one, "name": "app", "by": "app", "bundleId": APP},
                {**one, "name": "channel", "by": "channel", "bundleId": APP, **tenth}]
    # A connection is shared by apps, so the other app is within its bucket.
    return [one if by == "connection" else {**one, "bundleId": APP}]


# throttle: match traffic against an APNs that takes `rate` messages a second and does not say how many, by=app,
# channel, connection or both (by app, and by channel a tenth of it). Each lane gets `updates` of priority 5 a second,
# one of them `goals` a second with an alert. Another app has two updates a second. What came before `warm` does not
# count.
def throttle(by="app", rate=20, burst=0, retry_after=0, seconds=60, replicas=1, lanes=60, updates=2, goals=0.5,
             warm=10):
    with field(replicas=replicas) as place:
        keys = [f"match-{number}" for number in range(lanes)]
        place.open({**{key: [audience()] for key in keys}, "quiet": [audience(OTHER)]})
        for bucket in buckets(by, rate, burst or max(1, rate), retry_after):
            place.control("POST", "/buckets", bucket)
        asyncio.run(play(place, keys, rate / 10 if by == "both" else rate, seconds, updates, goals, warm))


async def play(place, keys, allowed, seconds, updates, goals, warm):
    chance, numbers = random.Random(1), itertools.count(1)
    callers = [place.caller(replica=number) for number in range(len(place.urls))]
    over, late = asyncio.Event(), [0.0]

    def update(key, priority, **more):
        state = content(next(numbers))
        return {"eventKey": key, "event": "update", "priority": priority, "contentState": state, **more}

    # Posts the items that `make` returns, each `every` seconds, to all servers in turn.
    async def repeat(number, every, make):
        due = time.monotonic() + every * chance.random()
        while not over.is_set():
            await asyncio.sleep(max(0, due - time.monotonic()))
            late[0] = max(late[0], time.monotonic() - due)
            answer = await callers[number % len(callers)].must("POST", "/broadcasts", {"items": make()})
            refused = [item for item in answer["items"] if "id" not in item and "broadcast" not in item]
            if refused:
                fail(f"refused: {refused[0]}")
            due += every

    def counts():
        return time.time(), next(numbers), {
            bucket["name"]: bucket["counts"] for bucket in place.control("GET", "/buckets")["buckets"]}

    alone = time.time()
    tasks = [asyncio.create_task(repeat(0, 0.5, lambda: [update("quiet", 10)]))]
    await asyncio.sleep(10)
    began = time.time()
    # Batches have at most 500 broadcasts. A lane belongs to one task, so its numbers rise, but for goals.
    for slot in range(SLOTS):
        for first in range(slot, len(keys), SLOTS * 500):
            part = keys[first:first + SLOTS * 500:SLOTS]
            tasks.append(asyncio.create_task(
                repeat(slot, 1 / updates, lambda part=part: [update(key, 5) for key in part])))
    if goals:
        tasks.append(asyncio.create_task(repeat(0, 1 / goals, lambda: [
            update(chance.choice(keys), 10, alert={"title": "Goal", "body": "One more"})])))
    await asyncio.sleep(warm)
    begin, asked_before, before = counts()
    await asyncio.sleep(seconds - warm)
    end, asked, after = counts()
    over.set()
    await asyncio.gather(*tasks)
    reached, waited = await newest(callers[0], place, keys, numbers)
    within = f"b.accepted_at between to_timestamp({begin}) and to_timestamp({end})"
    uses = []
    for name in after:
        taken, refused, could = (after[name][what] - before[name][what] for what in ("taken", "refused", "allowed"))
        say(f"bucket by {name}: {taken / (end - begin):.1f} taken a second, {refused / (end - begin):.1f} refused")
        result(f"429s by {name}, percent", 100 * refused / max(1, taken + refused), at_most=5)
        # Where fewer were asked for than the bucket allows, of those.
        uses.append(100 * taken / max(1, min(could, asked - asked_before)))
    result("use of the narrowest bucket, percent", max(uses), at_least=85)
    ringing = place.latencies("d.alerting and " + within)
    say(f"goals {milliseconds(ringing)}, where the bucket lets one through in {1000 / allowed:.0f} ms")
    result("goals, p99", percentiles(ringing)[1] / 1000, at_most=2, unit=" s")
    quiet, beside = (place.latencies("b.event_key = 'quiet' and " + condition) for condition in (
        f"b.accepted_at between to_timestamp({alone}) and to_timestamp({began})", within))
    say(f"another app: alone {milliseconds(quiet)}, beside {milliseconds(beside)}")
    result("organisers' calls late by at most", late[0], unit=" s")
    result("lanes whose newest update is at APNs, percent", 100 * reached / len(keys), at_least=100)
    say(f"{waited:.1f} s after the last update")
    say("deliveries: " + place.sql("select state, count(*) from deliveries group by 1 order by 1").replace("\n", ", "))


# A last update of each lane: how many are what APNs has stored, and after how many seconds they all were.
async def newest(caller, place, keys, numbers):
    began, wanted = time.monotonic(), {key: next(numbers) for key in keys}
    channels = dict(row.split("|") for row in place.sql(
        f"select event_key, channel_id from channels where bundle_id = '{APP}' and event_key is not null").split("\n"))
    for key, number in wanted.items():
        await caller.must("POST", f"/events/{key}/broadcasts", {"event": "update", "contentState": content(number)})
    while True:
        listed = place.control("GET", f"/apps/{APP}/production/channels")["channels"]
        stored = {one["channelId"]: json.loads(one["storedMessage"]["body"])["aps"]["content-state"]["home"]
                  for one in listed if one["storedMessage"]}
        reached = sum(stored.get(channels[key]) == number for key, number in wanted.items())
        if reached == len(keys) or time.monotonic() - began > 60:
            return reached, time.monotonic() - began
        await asyncio.sleep(0.2)
