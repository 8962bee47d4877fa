#!/usr/bin/env python3
"""A normal caller beside hostile ones: what it waits, and what the server's memory does.

Usage: hostile-clients.py URL KEY PID [SECONDS]

URL is a running server's base (http), KEY a key of scope organise, PID the server's process. Three phases of SECONDS
each (default 10): quiet; 1,000 connections that send their header a byte at a time; a flood of wrong keys. In all of
them one caller asks for GET /v1/events fifty times a second. Exit 0 when its p99 stays within 5 times the quiet one and
memory grows by less than 200 MB.
"""
import http.client
import multiprocessing
import os
import socket
import sys
import time
from urllib.parse import urlsplit

BASE = urlsplit(sys.argv[1])
KEY = sys.argv[2]
PID = int(sys.argv[3])
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 10
SLOW = 1_000
FLOODERS = 4


def memory():
    with open(f"/proc/{PID}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


def normal(seconds):
    """One caller at a steady pace: the times it waited, in milliseconds."""
    times = []
    connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=30)
    end = time.monotonic() + seconds
    due = time.monotonic()
    while time.monotonic() < end:
        time.sleep(max(0, due - time.monotonic()))
        # From when it was due: a server that makes the caller late is not excused.
        started, due = due, due + 0.02
        connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {KEY}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        times.append((time.monotonic() - started) * 1_000)
    connection.close()
    return sorted(times)


def slow_lorises(stop, counts):
    head = b"GET /v1/events HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 10_000
    open_ones = []
    while not stop.is_set():
        while len(open_ones) < SLOW and not stop.is_set():
            try:
                peer = socket.create_connection((BASE.hostname, BASE.port), timeout=2)
                peer.setblocking(False)
                open_ones.append([peer, 0])
            except OSError:
                break
        counts["open"] = max(counts.get("open", 0), len(open_ones))
        alive = []
        for peer, sent in open_ones:
            try:
                peer.send(head[sent : sent + 1])
                try:
                    if peer.recv(1) == b"":
                        raise ConnectionError
                except BlockingIOError:
                    pass
                alive.append([peer, sent + 1])
            except OSError:
                counts["dropped"] = counts.get("dropped", 0) + 1
                peer.close()
        open_ones = alive
        stop.wait(0.5)
    for peer, _ in open_ones:
        peer.close()


def flood(stop, counts, number):
    connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=30)
    n = 0
    while not stop.is_set():
        n += 1
        try:
            connection.request("GET", "/v1/apps", headers={"Authorization": f"Bearer gs_guess{number}-{n}"})
            answer = connection.getresponse()
            answer.read()
            counts[answer.status] = counts.get(answer.status, 0) + 1
        except (OSError, http.client.HTTPException):
            connection.close()


def hostile(work, stop, told, *more):
    counts = {}
    work(stop, counts, *more)
    told.put(counts)


def beside(workers):
    """The caller's times, and what became of the hostile ones: processes, so that they do not share its interpreter."""
    stop, told = multiprocessing.Event(), multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=hostile, args=(work, stop, told, *more)) for work, *more in workers
    ]
    for process in processes:
        process.start()
    time.sleep(1)
    times = normal(SECONDS)
    stop.set()
    counts = {}
    for _ in processes:
        for what, count in told.get().items():
            counts[what] = counts.get(what, 0) + count
    for process in processes:
        process.join()
    return times, counts


def percentile(times, part):
    return times[min(len(times) - 1, int(len(times) * part))]


def report(name, times, counts):
    print(
        f"{name:<12} p50 {percentile(times, 0.5):7.2f} ms  p99 {percentile(times, 0.99):7.2f} ms  "
        f"n {len(times)}  memory {memory()} MB  {counts or ''}",
        flush=True,
    )
    return percentile(times, 0.99)


def main():
    if not os.path.isdir(f"/proc/{PID}"):
        sys.exit(f"there is no process {PID}")
    normal(1)
    at_first = memory()
    quiet = report("quiet", *beside([]))
    slow = report("slow loris", *beside([(slow_lorises,)]))
    flooded = report("bad keys", *beside([(flood, n) for n in range(FLOODERS)]))
    grown = memory() - at_first
    print(f"p99 ratios: slow loris {slow / quiet:.2f}, bad keys {flooded / quiet:.2f}; memory +{grown} MB")
    sys.exit(0 if max(slow, flooded) <= 5 * quiet and grown < 200 else 1)


main()
