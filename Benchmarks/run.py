#!/usr/bin/env python3
"""Runs benchmarks of the release build, each beside its limit or peer, and prints figures beside their aims.

    Benchmarks/run.py NAME [name=value …] [GRANDSTAND_…=value …]
    Benchmarks/run.py all

GRANDSTAND names another build. Settings go to the servers. Exit 1 if an aim was missed. The results are in
docs/internals/benchmarks.md. NAME is one of:
"""
import inspect, json, os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("GRANDSTAND", os.path.join(os.path.dirname(sys.path[0]), ".build/release/grandstand"))
import devices, harness, lookup, messages, throttle, transports

BENCHMARKS = {one.__name__: one for one in (
    messages.saturday, messages.sustained, throttle.throttle, devices.starts, devices.crowd, lookup.lookup,
    transports.http2, transports.simulator)}


def usage():
    lines = []
    for name, benchmark in BENCHMARKS.items():
        options = [f"{option.name}={option.default}" for option in inspect.signature(benchmark).parameters.values()]
        lines.append(f"    {name} {' '.join(options)}")
    sys.exit(__doc__ + "\n".join(lines))


def main():
    names, given = sys.argv[1:2], dict(pair.partition("=")[::2] for pair in sys.argv[2:])
    names = list(BENCHMARKS) if names == ["all"] else names
    if not names or names[0] not in BENCHMARKS:
        usage()
    harness.SETTINGS.update({name: given.pop(name) for name in list(given) if name.startswith("GRANDSTAND_")})
    for name in names:
        benchmark = BENCHMARKS[name]
        known = inspect.signature(benchmark).parameters
        if len(names) == 1 and not set(given) <= set(known):
            usage()
        options = {option: value if isinstance(known[option].default, str) else json.loads(value)
                   for option, value in given.items() if option in known}
        print(name, *sys.argv[2:], flush=True)
        benchmark(**options)
    if harness.MISSED:
        harness.fail("missed: " + "; ".join(harness.MISSED))


main()
