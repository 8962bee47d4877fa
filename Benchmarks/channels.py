# The ledger of channels.
from harness import *


# channels: made for as many events, and reconciled with Apple's list, to fetching that list and upserting its rows.
def channels(count=2000, rounds=3):
    with field() as place:
        began = time.monotonic()
        place.open({f"match-{number}": [audience()] for number in range(count)})
        say(f"{count / (time.monotonic() - began):.0f} channels made a second, with their events")
        place.sql("create table plain (like channels including all)")
        ratios = []
        for _ in range(rounds):
            began = time.monotonic()
            report = place.ask("POST", f"/apps/{APP}/production/reconciliations", {})
            if report["matched"] != count:
                fail(f"matched {report['matched']} of {count}")
            ours, began = time.monotonic() - began, time.monotonic()
            measured("curl", "-sSf", "--http2", "--cacert", place.apns["ca"], "-o", place.folder + "/list",
                     "-H", "authorization: bearer " + stage.provider_token(place.apns["key"]),
                     f"{place.apns['production']}/1/apps/{APP}/all-channels")
            limit = time.monotonic() - began + place.plain_sql([
                "insert into plain select * from channels on conflict (id) do update set changed_at = now()"])
            say(f"reconciled in {ours * 1000:.0f} ms; the list and an upsert {limit * 1000:.0f} ms")
            ratios.append(ours / limit)
        result(f"reconciling {count} channels, to the list and an upsert", statistics.median(ratios), at_most=2)
