"""The chapters of the match day, in their order: each does what people do, and returns what it found wrong on the way."""
import datetime
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from stage import PROGRAM

APP = "com.example.Stadium"
OTHER = "com.example.Museum"
AUDIENCE = {"bundleId": APP, "environment": "production", "storagePolicy": "mostRecentMessageStored"}
PLAN = """{"season": "bl1", "format": "ics", "eventKey": "bl1:{uid}", "kind": "match", "topics": ["league:bl1"],
 "channelsOpenBefore": 86400, "defaultDuration": 7200,
 "audiences": [{"bundleId": "%s", "environment": "production", "storagePolicy": "mostRecentMessageStored"}]}""" % APP

HOSTILE = {
    "markup": "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "bidi": "Final \u202egnp.erocs\u202c \u2066x\u2069",
}


def season(fixtures=24):
    """A file of fixtures that begin in three days, three a day."""
    first = datetime.datetime.now(datetime.timezone.utc).replace(hour=14, minute=0, second=0, microsecond=0)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//example//fixtures//EN"]
    for number in range(fixtures):
        start = first + datetime.timedelta(days=3 + number // 3, hours=number % 3)
        lines += ["BEGIN:VEVENT", f"UID:m{number}", f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
                  f"SUMMARY:Club {number} – Club {number + 1}", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def set_up(place, browser):
    for app, name in ((APP, "Stadium"), (OTHER, "Museum")):
        place.call("PUT", f"/v1/apps/{app}", {
            "name": name, "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "channelLimit": 100,
            "preview": {"compact": "{{home}} – {{away}}", "expanded": "Derby {{home}} – {{away}}, {{minute}}′"}})
    started = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
    place.call("PUT", "/v1/events/derby", {
        "name": "Derby", "kind": "match", "startsAt": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "audiences": [AUDIENCE, dict(AUDIENCE, environment="development")],
        "topics": ["team:derby"], "start": {
            "attributesType": "MatchAttributes", "attributes": {}, "contentState": {"home": 0, "away": 0, "minute": 0},
            "alert": {"title": "Derby", "body": "It begins."}}})
    place.call("PUT", "/v1/events/night-tour", {
        "name": "Night tour", "audiences": [dict(AUDIENCE, bundleId=OTHER)]})
    for number, text in enumerate(HOSTILE.values()):
        place.call("PUT", f"/v1/events/hostile-{number}", {"name": text, "kind": text[:60], "audiences": [AUDIENCE]})


def sign_in(place, browser):
    with browser() as b:
        b.open("/console/events/derby")
        b.look("sign-in")
        b.fill("key", "gs_wrong", "body")
        b.one("main form button").click()
        b.wait_text("not known")
        b.fill("key", place.admin, "body")
        b.one("main form button").click()
        b.wait_text("Derby")
        assert b.path == "/console/events/derby", f"signing in led to {b.path}"
        cookie = b.driver.get_cookie("grandstand-session") or {}
        assert cookie.get("httpOnly") and cookie.get("sameSite") == "Strict", cookie
        assert place.admin not in str(b.driver.get_cookies()), "the key is in a cookie"
        b.press("Sign out", "header")
        b.wait("the sign-in page", lambda: "/sign-in" in b.path)
        # The cookie of before is worth nothing any more.
        b.driver.add_cookie(cookie)
        b.open("/console")
        b.wait("the sign-in page", lambda: "/sign-in" in b.path or "sign in" in b.text.lower())
        # It was this browser's wrong key.
        return [f for f in b.findings if "status of 401" not in f]


def every_page(place, browser):
    """Looks at each page that the navigation and the pages themselves lead to, one of a kind."""
    with browser() as b:
        b.sign_in(place.admin)
        seen, waiting = set(), ["/console"]
        while waiting:
            path = waiting.pop(0)
            kind = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/events/)[^/?]+|com\.example\.\w+|\?.*", "*", path)
            if kind in seen or "sign-" in path or path.endswith((".css", ".js")):
                continue
            seen.add(kind)
            b.open(path)
            assert "internal error" not in b.text.lower(), f"{path}: {b.text[:300]}"
            b.look("page-" + (re.sub(r"[^a-z]+", "-", kind.removeprefix("/console").lower()).strip("-") or "overview"))
            # All at once: a live part of the page may be replaced between two of them.
            links = b.driver.execute_script("return [...document.querySelectorAll('body a[href]')].map(a => a.href)")
            waiting += [urllib.parse.urlsplit(link).path for link in links if link.startswith(place.url + "/console")]
        for part in ("declare", "keys", "webhooks", "audit-log", "channels", "reconciliations"):
            assert any(part in kind for kind in seen), f"no link leads to {part}: {sorted(seen)}"
        return b.findings


def a_season(place, browser):
    """The command makes the events; the list shows them."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("bl1.json", PLAN), ("bl1.ics", season())):
            with open(os.path.join(folder, name), "w", newline="") as file:
                file.write(text)
        subprocess.run(
            [PROGRAM, "season", "apply", "bl1.json", "bl1.ics"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
            env=dict(os.environ, GRANDSTAND_URL=place.url, GRANDSTAND_API_KEY=place.admin))
    with browser() as b:
        b.sign_in(place.admin)
        b.open("/console/events?season=bl1")
        b.wait_text("Club 0 – Club 1")
        assert "Declare an event" in b.text
        b.look("season")
        b.fill("find", "lub 23 –")
        b.press("Find")
        b.wait("what was found", lambda: [a.text for a in b.all(".agenda a")] == ["Club 23 – Club 24"])
        return b.findings


def compose(b, content, button="Send", **fields):
    b.fill("contentState", content)
    if fields:
        b.one("#composer-more summary").click()
    for name, value in fields.items():
        b.driver.execute_script("document.querySelector(`[name=${arguments[0]}]`).value = arguments[1]", name, value)
    b.driver.execute_script("window.before = true")
    b.press(button)
    if button == "Send":
        b.wait("the page after it",
               lambda: not b.driver.execute_script("return window.before") and b.all(".desk .note.ok"))


# What of the match page is not within the window as it is, without scrolling.
OUTSIDE = """
return ['.score .lock-screen', '.outcome', '[name=contentState]', '[name=alertTitle]', '.composer button.primary',
    '[data-found=verdict]', '.started p', '.rows summary', '.rows li:nth-of-type(4) summary'].filter(css => {
  const box = document.querySelector(css)?.getBoundingClientRect();
  return !box || box.top < 0 || box.bottom > innerHeight || box.right > innerWidth;
});
"""


def a_match(place, browser):
    with browser() as desk, browser() as viewer:
        for b in (desk, viewer):
            b.sign_in(place.admin)
            b.open("/console/events/derby")
        # Wrong input first: said while typing, refused when sent, nothing changed.
        desk.fill("contentState", "{\"home\": 1, }")
        desk.wait("what is wrong", lambda: "line 1, column" in desk.one("#faults").text)
        assert desk.one("[name=contentState]").get_attribute("aria-invalid") == "true"
        desk.driver.execute_script("window.before = true")
        desk.press("Send")
        desk.wait("the refusal",
                  lambda: not desk.driver.execute_script("return window.before") and desk.all("#faults .critical"))
        assert desk.one("main").text.count("line 1, column") == 1, "the fault stands twice"
        assert place.call("GET", "/v1/events/derby/broadcasts")["items"] == []
        desk.look("composer-refused")
        desk.fill("contentState", "{\"home\": 1, \"away\": 0, \"minute\": 12}")
        desk.wait("what it comes to", lambda: "of 5,120 bytes" in desk.one("[data-found=verdict]").text)
        assert "1 – 0" in desk.one("[data-found=effect]").text
        desk.press("Preview")
        desk.wait_text("What would be sent")
        desk.wait_text("1 – 0")
        desk.look("composer-preview")
        assert place.call("GET", "/v1/events/derby/broadcasts")["items"] == []
        marker = viewer.driver.execute_script("return window.marker = Math.random()")
        desk.press("Send")
        desk.wait("the match page", lambda: desk.path == "/console/events/derby#compose")
        sent = datetime.datetime.now()
        viewer.wait_text("1 – 0", 5)
        seconds = (datetime.datetime.now() - sent).total_seconds()
        assert seconds < 3, f"the update was on the other screen after {seconds:.2f} s"
        viewer.wait("Apple's answer", lambda: viewer.all(".rows .dot.accepted") and viewer.all(".outcome .dot.accepted"), 5)
        assert viewer.driver.execute_script("return window.marker") == marker, "the page was loaded anew"
        # A scheduled one, withdrawn.
        later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
        compose(desk, "{\"home\": 9, \"away\": 9, \"minute\": 90}", sendAt=f"{later:%Y-%m-%dT%H:%M:%S}")
        desk.wait_text("scheduled")
        viewer.wait_text("scheduled", 5)
        desk.one(".rows summary").click()
        desk.press("Withdraw")
        desk.wait_text("withdrawn")
        # Who types is told that somebody else was faster; who does not begins with the newest.
        viewer.fill("alertTitle", "Half-time")
        for number in range(2, 8):
            compose(desk, "{\"home\": %d, \"away\": 1, \"minute\": %d}" % (number, number * 11))
            viewer.wait_text(f"{number} – 1", 5)
        viewer.wait("the warning", lambda: viewer.one("[data-newer]").is_displayed())
        viewer.look("match-newer")
        desk.open("/console/events/derby")
        desk.wait("the newest content", lambda: "7" in desk.one("[name=contentState]").get_attribute("value"))
        desk.wait("the answer", lambda: desk.all(".outcome .dot.accepted"))
        outside = desk.driver.execute_script(OUTSIDE)
        assert not outside, f"not within 1280 × 800: {outside}"
        desk.picture("match-window", height=800)
        desk.resize(390, 844)
        header, send = (desk.one(css).rect for css in ("header", ".composer button.primary"))
        assert header["height"] < 64, f"the header takes {header['height']} pixels of a phone"
        assert send["y"] + send["height"] < 844, f"Send is at {send['y']} on a phone"
        desk.resize(1280)
        if place.keep:
            desk.picture("match", place.keep, height=800)
        desk.look("match")
        desk.one(".rows summary").click()
        desk.wait_text("Apple took it (200)")
        desk.look("match-row")
        return desk.findings + [f for f in viewer.findings]


def the_readers_zone(place, browser):
    """Times are the reader's, in fields, too; what is sent is UTC."""
    place.call("PUT", "/v1/events/zoned", {
        "name": "Zoned", "startsAt": "2031-03-01T20:30:00Z", "endsAt": "2031-03-01T22:30:15Z", "audiences": [AUDIENCE]})
    with browser() as b:
        b.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
        b.sign_in(place.admin)
        b.open("/console/events/zoned")
        b.wait_text("Times are in Asia/Tokyo")
        heading = b.one(".heading").text
        assert "2 Mar 2031, 05:30" in heading and "AM" not in heading, heading
        assert b.one(".heading time").get_attribute("title") == "2031-03-01 20:30 UTC"
        field = b.one("main [name=startsAt]")
        assert field.get_attribute("value") == "2031-03-02 05:30", field.get_attribute("value")
        assert b.one("main [name=endsAt]").get_attribute("value") == "2031-03-02 07:30:15"
        assert "Asia/Tokyo" in b.one("main form[action$=move]").text
        b.driver.execute_script("arguments[0].value = '2031-03-02 04:00'", field)
        b.press("Move it")
        b.wait_text("It is moved")
        moved = place.call("GET", "/v1/events/zoned")
        assert moved["startsAt"].startswith("2031-03-01T19:00:00"), moved["startsAt"]
        assert moved["endsAt"].startswith("2031-03-01T22:30:15"), moved["endsAt"]
        b.open("/console/audit-log")
        assert "UTC" not in b.one("main").text, "a time on the page is not the reader's"
        return b.findings


def the_final_whistle(place, browser):
    with browser() as b:
        b.sign_in(place.admin)
        b.open("/console/events/derby")
        b.press("End it")
        b.wait("the end in the composer", lambda: b.one("[name=event][value=end]").is_selected())
        b.wait("the composer", lambda: b.all("textarea[name=contentState]"))
        b.press("Send")
        b.wait_text("Yes, send the end")
        assert place.call("GET", "/v1/events/derby")["state"] != "ended"
        b.look("end-question")
        b.press("Yes, send the end")
        b.wait("the end", lambda: place.call("GET", "/v1/events/derby")["state"] == "ended")
        b.open("/console/events/derby")
        b.press("Reopen")
        b.press("Reopen it")
        b.wait("the event", lambda: place.call("GET", "/v1/events/derby")["state"] != "ended")
        b.wait_text("The event is reopened")
        b.look("taken-back")
        return b.findings


def channels_and_quota(place, browser):
    with browser() as b:
        b.sign_in(place.admin)
        b.open("/console")
        plot = f'.plots svg[aria-labelledby="plot-production-{APP.lower()}"]'
        before = b.one(plot).get_attribute("outerHTML")
        for number in range(12):
            place.call("PUT", f"/v1/events/extra-{number}", {"name": f"Extra {number}", "audiences": [AUDIENCE]})
        b.wait("the plot to change", lambda: b.one(plot).get_attribute("outerHTML") != before, 30)
        b.look("overview")
        if place.keep:
            plots = b.one(plot).find_element("xpath", "ancestor::section").rect
            b.picture("quota", place.keep, top=plots["y"] - 16, height=plots["height"] + 32)
        b.open(f"/console/apps/{APP}/production/reconciliations")
        buttons = [e for e in b.all("#runs ~ ul button, section[aria-labelledby=runs] button") if e.is_displayed()]
        assert buttons, "no reconciliation can be run"
        buttons[0].click()
        b.wait_text("Plan")
        b.look("reconciliation")
        return b.findings


def keys(place, browser):
    with browser() as b:
        b.sign_in(place.admin)
        b.open("/console/keys")
        b.fill("name", "desk")
        for box in b.all("input[name=scope]"):
            if box.get_attribute("value") in ("organise", "operate", "admin"):
                box.click()
        b.press("Make the key")
        secret = b.wait("the secret", lambda: re.search(r"\bgs_[A-Za-z0-9_-]{20,}", b.driver.page_source)).group(0)
        b.look("secret")
        b.open("/console/keys")
        assert secret not in b.driver.page_source
        findings = b.findings
    with browser() as b:
        b.sign_in(secret)
        b.open("/console/keys")
        next(a for a in b.all("main table a") if a.text == "desk").click()
        b.wait_text("Revoke the key")
        form = next(f for f in b.all("main form") if "Revoke the key" in f.text)
        field = form.find_element("css selector", "[name=currentKey]")
        field.send_keys("gs_wrong")
        form.find_element("css selector", "button").click()
        b.wait_text("key is wrong")
        b.look("wrong-key")
        b.fill("currentKey", secret)
        b.one("main form button").click()
        b.wait("the sign-in page", lambda: "sign-in" in b.path or "Sign in" in b.text)
        b.open("/console")
        assert "sign-in" in b.path or "Sign in" in b.text, "a revoked key's session goes on"
        return findings + [f for f in b.findings if "status of 4" not in f]


def one_app_only(place, browser):
    key = place.call("POST", "/v1/keys", {
        "name": "museum", "scopes": ["organise", "operate"], "bundleId": OTHER})["secret"]
    with browser() as b:
        b.sign_in(key)
        for path in ("/console", "/console/events", "/console/apps", "/console/audit-log"):
            b.open(path)
            assert "Stadium" not in b.driver.page_source and "Derby" not in b.driver.page_source, path
        for path in ("/console/events/derby", f"/console/apps/{APP}", f"/console/apps/{APP}/production/channels"):
            b.open(path)
            assert "Derby" not in b.driver.page_source, f"{path} shows another app's event"
        b.open("/console/events/night-tour")
        b.wait_text("Night tour")
        return [f for f in b.findings if "status of 40" not in f]


def without_scripts(place, browser):
    with browser(scripts=False) as b:
        b.sign_in(place.admin)
        b.open("/console/events/derby")
        b.fill("contentState", "{\"home\": 4, \"away\": 4, \"minute\": 80}")
        b.press("Preview")
        b.wait_text("What would be sent")
        b.press("Send")
        b.wait_text("4 – 4")
        b.press("End it")
        b.press("Send")
        b.press("Yes, send the end")
        b.wait("the end", lambda: place.call("GET", "/v1/events/derby")["state"] == "ended")
        b.open("/console/events/derby")
        b.press("Reopen")
        b.press("Reopen it")
        b.wait("the event", lambda: place.call("GET", "/v1/events/derby")["state"] != "ended")
        b.open(f"/console/apps/{APP}/production/reconciliations")
        b.one("section[aria-labelledby=runs] button").click()
        b.wait_text("Plan")
        return []


def by_keyboard(place, browser):
    """From sign-in to the final whistle with the tab and enter keys and what is typed."""
    with browser() as b:
        def tab_to(condition, most=150):
            for _ in range(most):
                ActionChains(b.driver).send_keys(Keys.TAB).perform()
                element = b.driver.switch_to.active_element
                if condition(element):
                    outline = b.driver.execute_script(
                        "const s = getComputedStyle(arguments[0]); return s.outlineStyle + s.boxShadow", element)
                    assert outline != "nonenone", f"the focus is not to be seen on {element.text!r}"
                    return element
            raise AssertionError(f"no tab leads there on {b.path}")

        def press(text):
            tab_to(lambda e: e.text.strip().startswith(text)).send_keys(Keys.ENTER)

        place.call("PUT", "/v1/events/cup", {"name": "Cup", "audiences": [AUDIENCE]})
        b.open("/console/events/cup")
        b.driver.switch_to.active_element.send_keys(place.admin, Keys.ENTER)
        b.wait_text("Last and next message")
        field = tab_to(lambda e: e.get_attribute("name") == "contentState")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("{\"home\": 2, \"away\": 2}")
        press("Send")
        b.wait_text("2 – 2")
        # The next tab after sending is in the composer again, and so is the end.
        tab_to(lambda e: e.get_attribute("name") == "event", most=3).send_keys(Keys.ARROW_RIGHT)
        assert b.one("[name=event][value=end]").is_selected()
        press("Send")
        b.wait_text("Yes, send the end")
        press("Yes, send the end")
        b.wait("the end", lambda: place.call("GET", "/v1/events/cup")["state"] == "ended")
        return b.findings


def strangers(place, browser):
    """What other sites, old forms and hostile names come to."""
    with browser() as b:
        b.sign_in(place.admin)
        for number in range(len(HOSTILE)):
            b.open(f"/console/events/hostile-{number}")
            assert b.driver.title != "owned", "markup in a name was carried out"
            assert "\u202e" not in b.text and "\u2066" not in b.text
            b.look(f"hostile-{number}")
        cookies = "; ".join(f"{c['name']}={c['value']}" for c in b.driver.get_cookies())
        b.open("/console/events/derby")
        token = b.one("main form [name=token]").get_attribute("value")

        def post(fields, **headers):
            request = urllib.request.Request(
                place.url + "/console/events/derby/send", urllib.parse.urlencode(fields).encode(),
                {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded", **headers})
            try:
                return urllib.request.urlopen(request, timeout=20).status
            except urllib.error.HTTPError as refusal:
                return refusal.code

        ours = {"Origin": place.url, "Sec-Fetch-Site": "same-origin"}
        content = {"event": "update", "contentState": "{\"home\": 66, \"away\": 6}"}
        before = len(place.call("GET", "/v1/events/derby/broadcasts?limit=100")["items"])
        assert post(content | {"token": token}, Origin="https://evil.example", **{"Sec-Fetch-Site": "cross-site"}) == 403
        assert post(content, **ours) == 403, "a form without its token was taken"
        assert post(content | {"token": token[:-4] + "AAAA"}, **ours) == 403, "a changed token was taken"
        assert len(place.call("GET", "/v1/events/derby/broadcasts?limit=100")["items"]) == before
        # The same form twice is one message.
        for _ in range(2):
            assert post(content | {"token": token}, **ours) in (200, 303)
        assert len(place.call("GET", "/v1/events/derby/broadcasts?limit=100")["items"]) == before + 1
        return b.findings


CHAPTERS = [set_up, sign_in, a_season, a_match, the_readers_zone, the_final_whistle, channels_and_quota, every_page, keys,
            one_app_only, without_scripts, by_keyboard, strangers]
