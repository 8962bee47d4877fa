"""The console's match day in a browser. See scripts/browser-check, which starts this with what it needs."""
import argparse
import os
import sys
import time
import traceback

import axe_playwright_python

from browser import Browser
from matchday import CHAPTERS
from place import Place
from stage import ROOT


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pictures", default=os.path.join(ROOT, ".build/browser"))
    arguments.add_argument("--only", help="the chapter to run, after those it stands on")
    arguments.add_argument("--write", action="store_true", help="put the README's two pictures into docs/pictures")
    options = arguments.parse_args()
    os.makedirs(options.pictures, exist_ok=True)
    with open(os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js")) as file:
        axe = file.read()
    findings, failed, started = [], 0, time.monotonic()
    with Place() as place:
        place.keep = os.path.join(ROOT, "docs/pictures") if options.write else None

        def browser(scripts=True):
            return Browser(place, axe, options.pictures, scripts)

        for chapter in CHAPTERS:
            name = chapter.__name__.replace("_", " ")
            begun = time.monotonic()
            try:
                findings += chapter(place, browser) or []
                print(f"browser-check: {name}: {time.monotonic() - begun:.1f} s", flush=True)
            except Exception as error:
                failed += 1
                print(f"browser-check: {name}: FAILED: {error}", flush=True)
                traceback.print_exc(limit=-3)
                if place.processes["server"].poll() is not None:
                    print("browser-check: the server ended: " + place.log("server")[-1_000:])
                    break
            if options.only and options.only in name:
                break
    for finding in dict.fromkeys(findings):
        print("browser-check: " + finding)
    if failed or findings:
        print(f"browser-check: {failed} chapters failed, {len(set(findings))} findings; pictures in {options.pictures}")
        return 1
    print(f"browser-check: {len(CHAPTERS)} chapters, nothing found, {time.monotonic() - started:.0f} s; pictures in "
          f"{options.pictures}")
    return 0


sys.exit(main())
