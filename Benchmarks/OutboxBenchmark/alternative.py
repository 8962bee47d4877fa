"""The outbox's promises as one would write them by hand: FastAPI, asyncpg, httpx and a queue table.

An update is durable before it is answered; of two that wait for a channel the newer one goes; one at a time for each
channel, with rising timestamps; what a dead process had claimed is sent by another; refusals for a while are repeated.

    DSN=… HOST=https://… CA=… KEY_FILE=… TEAM=… SECRET=… TOPIC=… uvicorn alternative:app
    psql -f alternative.sql first; POST /v1/events/{key}/broadcasts as ours has it.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import time
import uuid

import asyncpg
import fastapi
import httpx
import jwt

SENDERS, BATCH, LEASE = 8, 100, 20
KNOWN = hashlib.sha256(os.environ["SECRET"].encode()).digest()
TOPIC = os.environ["TOPIC"]

ACCEPT = """
with lane as (
    select id, channel_id from peer_lanes where event_key = $1 for no key update
), superseded as (
    update peer_messages m set state = 'superseded', settled_at = clock_timestamp()
    from lane where m.lane = lane.id and m.state = 'waiting' and not m.alerts
)
insert into peer_messages (id, lane, body, alerts) select $2, id, $3, $4 from lane returning id
"""
CLAIM = """
with due as (
    select m.id, m.lane, l.last_timestamp, l.channel_id from peer_lanes l
    join lateral (
        select id, lane from peer_messages where lane = l.id and state in ('waiting', 'sending') order by seq limit 1
    ) m on true
    where l.has_work and (l.leased_until is null or l.leased_until < clock_timestamp()) and l.due_at <= clock_timestamp()
    order by l.due_at limit $1 for no key update of l skip locked
), lane as (
    update peer_lanes l set leased_until = clock_timestamp() + $2 * interval '1 second',
        last_timestamp = greatest(l.last_timestamp + 1, extract(epoch from clock_timestamp())::bigint)
    from due where l.id = due.lane returning l.id, l.last_timestamp
)
update peer_messages m set state = 'sending', timestamp = lane.last_timestamp, tries = tries + 1
from due join lane on lane.id = due.lane where m.id = due.id
returning m.id, m.lane, m.body, m.timestamp, m.tries, due.channel_id
"""
SETTLE = """
with verdict as (
    select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::float8[]) as v(id, lane, state, rest)
), message as (
    update peer_messages m set state = v.state, settled_at = case when v.state <> 'waiting' then clock_timestamp() end
    from verdict v where m.id = v.id
)
update peer_lanes l set leased_until = null, due_at = clock_timestamp() + v.rest * interval '1 second',
    has_work = v.state = 'waiting' or exists (
        select from peer_messages m where m.lane = l.id and m.state = 'waiting' and m.id <> v.id)
from verdict v where l.id = v.lane
"""


class Peer:
    def __init__(self):
        self.bell = asyncio.Event()
        self.token, self.token_at = None, 0

    def bearer(self):
        if time.time() - self.token_at > 1800:
            with open(os.environ["KEY_FILE"]) as file:
                key = file.read()
            self.token_at = time.time()
            team = os.environ["TEAM"]
            self.token = jwt.encode({"iss": team, "iat": int(self.token_at)}, key, "ES256", headers={"kid": team})
        return self.token

    async def send(self, row):
        body = json.loads(row["body"])
        aps = {"event": body["event"], "timestamp": row["timestamp"], "content-state": body["contentState"]}
        if "alert" in body:
            aps["alert"] = body["alert"]
        try:
            answer = await self.client.post(
                f"/4/broadcasts/apps/{TOPIC}",
                content=json.dumps({"aps": aps}),
                headers={
                    "authorization": f"bearer {self.bearer()}", "apns-channel-id": row["channel_id"],
                    "apns-push-type": "liveactivity", "apns-expiration": str(int(time.time()) + 28800), "apns-priority": "10",
                })
        except httpx.HTTPError:
            return "waiting", min(2 ** row["tries"], 60)
        if answer.status_code == 200:
            return "accepted", 0
        return ("waiting", min(2 ** row["tries"], 60)) if answer.status_code in (429, 500, 503) else ("rejected", 0)

    async def work(self):
        while True:
            rows = await self.pool.fetch(CLAIM, BATCH, LEASE)
            if not rows:
                self.bell.clear()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.bell.wait(), 0.25)
                continue
            verdicts = await asyncio.gather(*map(self.send, rows))
            await self.pool.execute(
                SETTLE, [row["id"] for row in rows], [row["lane"] for row in rows], [state for state, _ in verdicts],
                [float(rest) for _, rest in verdicts])


peer = Peer()


@contextlib.asynccontextmanager
async def lifespan(_):
    peer.pool = await asyncpg.create_pool(os.environ["DSN"], min_size=16, max_size=32)
    limits = httpx.Limits(max_connections=4)
    peer.client = httpx.AsyncClient(
        base_url=os.environ["HOST"], http2=True, verify=os.environ["CA"], limits=limits, timeout=10)
    workers = [asyncio.create_task(peer.work()) for _ in range(SENDERS)]
    yield
    for worker in workers:
        worker.cancel()


app = fastapi.FastAPI(lifespan=lifespan)


@app.post("/v1/events/{key}/broadcasts", status_code=202)
async def broadcast(key: str, request: fastapi.Request):
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or hashlib.sha256(secret.encode()).digest() != KNOWN:
        raise fastapi.HTTPException(401)
    body = await request.body()
    try:
        message = json.loads(body)
        known = message["event"] in ("update", "end") and isinstance(message["contentState"], dict)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known or len(body) > 5120:
        raise fastapi.HTTPException(422)
    identifier = uuid.uuid4()
    async with peer.pool.acquire() as connection, connection.transaction():
        if not await connection.fetchval(ACCEPT, key, identifier, body.decode(), "alert" in message):
            raise fastapi.HTTPException(404)
        await connection.execute("update peer_lanes set has_work = true where event_key = $1", key)
    peer.bell.set()
    return {"id": str(identifier)}
