# A normal caller beside hostile ones.
from harness import *
import multiprocessing, socket


# Seconds that one caller waits who asks fifty times a second, from when each request was due: a server that makes the
# caller late is not excused.
async def normal(url, key, seconds):
    caller = Caller(url, key, 1)

    async def one(due):
        await caller.must("GET", "/events")
        return time.monotonic() - due

    began = time.monotonic()
    return await paced((began + number / 50 for number in range(int(seconds * 50))), 50, one)


# Connections that send their header a byte at a time.
def slow(address, key, over):
    open_ones, data = [], b"GET /v1/events HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 10_000
    while not over.is_set():
        while len(open_ones) < 1000 and not over.is_set():
            try:
                open_ones.append((socket.create_connection(address, 2), 0))
            except OSError:
                break
        alive = []
        for peer, sent in open_ones:
            try:
                peer.send(data[sent:sent + 1])
                alive.append((peer, sent + 1))
            except OSError:
                peer.close()
        open_ones = alive
        over.wait(0.5)


async def flood(address, over, count, call):
    async def again(number):
        caller = Caller("http://{}:{}".format(*address), f"gs_guess{number}", 1)
        while not over.is_set():
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await call(caller)
                continue
            caller.idle.clear()

    await asyncio.gather(*map(again, range(count)))


def keys(address, key, over):
    asyncio.run(flood(address, over, 4, lambda caller: caller("GET", "/apps")))


# Bodies of 4 MiB: batches of 500 broadcasts, the most there may be.
def bodies(address, key, over):
    filler = {"filler": "x" * ((4 << 20) // 500 - 100)}
    item = json.dumps({"event": "update", "eventKey": "derby", "contentState": filler})
    body = '{"items":[' + ",".join([item] * 500) + "]}"

    async def send(caller):
        caller.head = f"Host: x\r\nAuthorization: Bearer {key}\r\n"
        await caller("POST", "/broadcasts", body)

    asyncio.run(flood(address, over, 100, send))


# hostile: a caller's p99 beside 1,000 slow connections, beside wrong keys, and beside 100 callers with bodies of 4 MiB,
# to its quiet time; and the server's memory.
def hostile(seconds=10):
    with field() as place:
        address = (socket.gethostbyname("127.0.0.1"), int(place.urls[0].rsplit(":", 1)[1]))
        organiser = place.key("organise")
        asyncio.run(normal(place.urls[0], place.admin, 1))
        quiet = percentiles(asyncio.run(normal(place.urls[0], place.admin, seconds)))[1]
        say(f"quiet p99 {quiet:.1f} ms")
        for work in (slow, keys, bodies):
            over, before = multiprocessing.Event(), place.memory()
            # A process, so that they do not share the caller's interpreter.
            process = multiprocessing.Process(target=work, args=(address, organiser, over))
            process.start()
            time.sleep(1)
            most = percentiles(asyncio.run(normal(place.urls[0], place.admin, seconds)))[1]
            over.set()
            process.join()
            result(f"p99 beside {work.__name__}, to quiet", most / quiet, at_most=None if work is bodies else 5)
            result("memory that grew", place.memory("VmHWM") - before, at_most=400, unit=" MB")
