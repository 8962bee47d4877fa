# Feeds through PUT /v1/events/{key}/state.
from harness import *
import collections, random

QUIET = ("minute", "possession", "shots")
SCHEMA = {
    "type": "object", "required": ["home", "away", "period", "minute"],
    "properties": {
        "home": {"type": "integer", "minimum": 0}, "away": {"type": "integer", "minimum": 0},
        "minute": {"type": "integer"}, "possession": {"type": "number"}, "shots": {"type": "integer"},
        "period": {"enum": ["first", "pause", "second", "over"]}, "cards": {"type": "array"}}}
RINGS = [{"when": when, "alert": {"title": "News", "body": "{home} : {away}"}} for when in (
    {"increases": "/home"}, {"increases": "/away"}, {"becomes": "/period", "value": "over"})]


# The states of a match, one a second, and what each is beside the one before.
def match(number, seconds):
    chance, before = random.Random(number), None
    state = {"home": 0, "away": 0, "period": "first", "minute": 0, "possession": 0.5, "shots": 0, "cards": []}
    for second in range(seconds):
        share = second / seconds
        ends = {"first": 0.43, "pause": 0.57, "second": 0.995, "over": 1}
        state["period"] = next(period for period, end in ends.items() if share < end)
        if state["period"] in ("first", "second"):
            state["minute"] = second // 60
            if second % 11 == 0:
                state["possession"] = round(chance.uniform(0.35, 0.65), 2)
            # 2.7 goals, four cards and some twenty shots a match.
            state["shots"] += chance.random() < 1 / 240
            if chance.random() < 2.7 / 5400:
                state[chance.choice(["home", "away"])] += 1
            if chance.random() < 4 / 5400:
                state["cards"] = [*state["cards"], {"color": "yellow", "minute": state["minute"]}]
        yield dict(state), "end" if second == seconds - 1 else outcome(before, state)
        before = dict(state)


def outcome(old, new):
    if old is None or old == new:
        return "update" if old is None else "unchanged"
    if new["home"] > old["home"] or new["away"] > old["away"] or new["period"] == "over" != old["period"]:
        return "rings"
    return "quiet" if all(old[name] == new[name] for name in new if name not in QUIET) else "update"


# states: feeds that tell the whole state once a second for `minutes`, `speed` times as fast, and so are the server's
# intervals (at most 30 times): what is sent of it, and what a state costs. Then `rounds` times a lookup, and a state
# that brings nothing new.
def states(matches=20, minutes=20, speed=30, rounds=1000):
    with field(GRANDSTAND_LANE_INTERVAL=str(1 / speed)) as place:
        place.open({key: [audience()] for key in [*(f"match-{number}" for number in range(matches)), "quiet"]})
        rules = {"quiet": ["/" + name for name in QUIET], "rings": RINGS, "quietInterval": max(1, round(30 / speed))}
        place.ask("PUT", f"/apps/{APP}/contents/MatchAttributes", {
            "check": "refuse", "versions": [{"name": "1.0", "schema": SCHEMA}], "rules": rules})
        if minutes:
            asyncio.run(play(place, matches, minutes, speed))
        if rounds:
            asyncio.run(unchanged(place, rounds))


async def play(place, matches, minutes, speed):
    told, times, wrong, late = collections.Counter(), [], [], [0.0]
    caller, began = place.caller(matches), time.monotonic() + 0.5
    memory, used = place.memory(), processor_seconds(place.pid)

    async def feed(number):
        for sequence, (state, expected) in enumerate(match(number, int(minutes * 60))):
            due = began + sequence / speed
            await asyncio.sleep(max(0, due - time.monotonic()))
            late[0], sent = max(late[0], time.monotonic() - due), time.monotonic()
            answer = await caller.must("PUT", f"/events/match-{number}/state", {
                "contentState": state, "sequence": sequence + 1, "final": expected == "end"})
            times.append(time.monotonic() - sent)
            told[answer["outcome"]] += 1
            if answer["outcome"] != expected:
                wrong.append((number, sequence, answer["outcome"], expected))

    await asyncio.gather(*map(feed, range(matches)))
    await asyncio.to_thread(place.settle)
    sent = dict(row.split("|") for row in place.sql(
        "select priority, count(*) from deliveries where state = 'accepted' group by 1 order by 1").split("\n"))
    say(f"{len(times)} states, late by {late[0]:.2f} s at most: " + ", ".join(f"{told[name]} {name}" for name in told))
    say(f"sent by priority: {sent}; replaced while they waited: "
        + place.sql("select count(*) from deliveries where state = 'superseded'"))
    used = (processor_seconds(place.pid) - used) / len(times) * 1e6
    say(f"a call {milliseconds(times)}, {used:.0f} µs of the server")
    result("outcomes that differ from the feeds' changes", len(wrong), at_most=0)
    result("of priority 10 a match and hour", int(sent.get("10", 0)) / (matches * minutes / 60))
    result("memory that grew", place.memory() - memory, unit=" MB")


# In turn over one connection: a lookup from memory, one through the router, a state without a sequence, and one with a
# sequence that rises.
async def unchanged(place, rounds):
    caller, times = place.caller(1), collections.defaultdict(list)
    state, _ = next(match(0, 1))
    await caller.must("PUT", "/events/quiet/state", {"contentState": state, "sequence": 1})
    await asyncio.to_thread(place.settle)
    lookup = f"/lookup/{APP}/production/quiet"
    # A body is out of the ordinary for a lookup. The first rounds fill caches.
    for number in range(-100, rounds):
        for name, method, path, body in (
                ("lookup", "GET", lookup, None), ("lookup by the router", "GET", lookup, ""),
                ("unchanged", "PUT", "/events/quiet/state", {"contentState": state}),
                ("with a sequence", "PUT", "/events/quiet/state", {"contentState": state, "sequence": number + 102})):
            began = time.monotonic()
            await caller.must(method, path, body)
            times[name] += [time.monotonic() - began] if number >= 0 else []
    for name, values in times.items():
        say(f"{name}: {milliseconds(values)}")
    route = statistics.median(times["lookup by the router"])
    result("an unchanged state, to a lookup by the router", statistics.median(times["unchanged"]) / route, at_most=3)
    result("with a sequence", statistics.median(times["with a sequence"]) / route, at_most=3)
