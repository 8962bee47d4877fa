"""httpx over HTTP/2: POSTs as fast as they go; prints requests/s, CPU µs per request, MB and latencies.

usage: httpx-load.py URL CA-FILE BODY-FILE CONNECTIONS IN-FLIGHT REQUESTS
"""

import asyncio
import resource
import ssl
import sys
import time

import httpx


async def caller(client, url, body, times, latencies):
    for _ in range(times):
        start = time.perf_counter()
        (await client.post(url, content=body)).raise_for_status()
        latencies.append(time.perf_counter() - start)


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main(url, authority, body_file, connections, in_flight, requests):
    with open(body_file, "rb") as file:
        body = file.read()
    context = ssl.create_default_context(cafile=authority)
    # A client each: httpx opens further connections only when one is full.
    clients = [
        httpx.AsyncClient(http1=False, http2=True, verify=context, timeout=60, limits=httpx.Limits(max_connections=1))
        for _ in range(int(connections))
    ]
    callers = int(connections) * int(in_flight)
    share = max(1, int(requests) // callers)
    latencies = []
    for client in clients:
        await caller(client, url, body, 10, [])
    start, cpu_start = time.perf_counter(), cpu()
    await asyncio.gather(
        *(caller(clients[n % len(clients)], url, body, share, latencies) for n in range(callers))
    )
    elapsed, used = time.perf_counter() - start, cpu() - cpu_start
    latencies.sort()
    count = len(latencies)
    print(
        f"{int(count / elapsed)} {used * 1e6 / count:.1f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} "
        f"p50 {latencies[count // 2] * 1000:.2f} ms, p99 {latencies[min(count - 1, count * 99 // 100)] * 1000:.2f} ms"
    )


asyncio.run(main(*sys.argv[1:]))
