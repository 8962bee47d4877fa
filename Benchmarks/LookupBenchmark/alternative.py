"""The obvious alternative: a FastAPI route that runs the lookup's query with asyncpg. DSN names the database."""

import datetime
import os

import asyncpg
import fastapi
import fastapi.responses

QUERY = """
select e.key, e.starts_at, e.ends_at, e.first_update_at, e.ended_at, e.cancelled_at, u.storage_policy, c.channel_id
from apps a join audiences u on u.bundle_id = a.bundle_id
join events e on e.key = u.event_key join lanes l on l.id = u.lane
left join channels c on c.id = l.channel and c.state in ('active', 'retiring')
where a.topic = $1 and u.environment = $2::text::environment and u.event_key = $3
"""

app = fastapi.FastAPI()
pool = None


@app.on_event("startup")
async def start():
    global pool
    pool = await asyncpg.create_pool(os.environ["DSN"], min_size=8, max_size=16)


@app.get("/v1/lookup/{bundle_id}/{environment}/{key}")
async def lookup(bundle_id: str, environment: str, key: str):
    row = await pool.fetchrow(QUERY, bundle_id.lower(), environment, key)
    if row is None:
        raise fastapi.HTTPException(404)
    now = datetime.datetime.now(datetime.timezone.utc)
    live = row["first_update_at"] or (row["starts_at"] and row["starts_at"] <= now)
    return fastapi.responses.JSONResponse(
        {
            "eventKey": row["key"],
            "channelId": row["channel_id"],
            "storagePolicy": row["storage_policy"],
            "state": "live" if live else "scheduled",
            "startsAt": row["starts_at"] and row["starts_at"].isoformat(),
            "endsAt": row["ends_at"] and row["ends_at"].isoformat(),
        },
        headers={"Cache-Control": "public, max-age=10"},
    )
