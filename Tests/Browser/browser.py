"""A headless Chromium, and what is looked at on every page."""
import base64
import os
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

WIDTHS = {360: 740, 1280: 800, 2560: 1440}

# Page width beyond the window, and elements whose text is wider than what they show.
CUT_OFF = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const cut = [...document.querySelectorAll('main *')].filter(e => {
  const style = getComputedStyle(e);
  return ['hidden', 'clip'].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1
    && style.position !== 'absolute'
    // A line of a list may end in “…”: it opens. A text field scrolls.
    && !e.closest('summary, input');
}).map(e => e.tagName + ': ' + e.textContent.trim().slice(0, 60));
const tables = [...document.querySelectorAll('main table')].filter(
  t => t.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(t => 'table ' + t.caption?.textContent);
return wide > 0 ? ['the page by ' + wide + ' pixels'].concat(cut, tables) : cut.concat(tables);
"""


class Browser:
    """One person's browser: its own cookies, closed when it is left."""

    def __init__(self, place, axe, pictures, scripts=True):
        self.place, self.axe, self.pictures, self.scripts = place, axe, pictures, scripts
        self.findings = []

    def __enter__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--force-device-scale-factor=1", "--hide-scrollbars", "--lang=en"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not self.scripts:
            options.add_experimental_option(
                "prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = webdriver.Chrome(
            options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
        self.driver.set_page_load_timeout(30)
        self.resize(1280)
        return self

    def __exit__(self, *_):
        self.driver.quit()

    # MARK: Looking

    def resize(self, width, height=None):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height or WIDTHS.get(width, 800), "deviceScaleFactor": 1, "mobile": width < 500})

    def scheme(self, name):
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, path):
        self.driver.get(self.place.url + path)

    @property
    def path(self):
        return self.driver.current_url.removeprefix(self.place.url)

    @property
    def text(self):
        return "".join(body.text for body in self.driver.find_elements(By.TAG_NAME, "body"))

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        found = self.all(css)
        assert found, f"there is no {css} on {self.path}"
        return found[0]

    def wait(self, what, condition, seconds=10):
        """What `condition` returns as soon as that is something.

        The page may be replaced while it is looked at."""
        deadline = time.monotonic() + seconds
        while True:
            why = ""
            try:
                value = condition()
            except WebDriverException:
                # An element of the page that was there a moment ago.
                value = None
            except AssertionError as missing:
                value, why = None, f": {missing}"
            if value:
                return value
            assert time.monotonic() < deadline, f"waited {seconds} s for {what} on {self.path}{why}: {self.text[:1500]}"
            time.sleep(0.02)

    def wait_text(self, text, seconds=10):
        return self.wait(f"“{text}”", lambda: text in self.text, seconds)

    # MARK: Doing

    def button(self, text, within="main"):
        """The button or link that people know by this text."""
        for element in self.all(f"{within} button, {within} a, {within} summary, {within} input[type=submit]"):
            if element.is_displayed() and (element.text.strip() or element.get_attribute("value") or "").startswith(text):
                return element
        raise AssertionError(f"there is no button “{text}” on {self.path}: {self.text[:1500]}")

    def press(self, text, within="main"):
        """Presses it; a live part of the page may be replaced between the look and the press."""
        def pressed():
            self.button(text, within).click()
            return True

        self.wait(f"a press of “{text}”", pressed)

    def fill(self, name, value, within="main"):
        def filled():
            fields = [e for e in self.all(f"{within} [name='{name}']") if e.is_displayed()]
            assert fields, f"there is no field {name}"
            fields[0].clear()
            fields[0].send_keys(value)
            return True

        self.wait(f"the field {name}", filled)

    def sign_in(self, secret):
        self.open("/console/sign-in")
        self.fill("key", secret, "body")
        self.one("main form button").click()
        self.wait("the overview", lambda: "/sign-in" not in self.path)

    # MARK: Checking

    def look(self, name):
        """Checks the page as it is: axe-core, nothing cut off, no complaint of the browser; and keeps pictures of it at three
        widths, light and dark."""
        for width in WIDTHS:
            self.resize(width)
            for scheme in ("light", "dark"):
                self.scheme(scheme)
                if self.scripts:
                    for cut in self.driver.execute_script(CUT_OFF):
                        self.findings.append(f"{name} at {width}, {scheme}: cut off: {cut}")
                    if width != 2560: self.check_axe(f"{name} at {width}, {scheme}")
                self.picture(f"{name}-{width}-{scheme}")
        self.resize(1280)
        self.scheme("light")
        if self.scripts:
            for line in self.driver.get_log("browser"):
                # A page that is a refusal has the status of one.
                refused = self.path in line["message"] and "with a status of 4" in line["message"]
                if line["level"] == "SEVERE" and not refused and "favicon" not in line["message"]:
                    self.findings.append(f"{name}: the browser says: {line['message']}")

    def check_axe(self, name):
        self.driver.execute_script(self.axe)
        result = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run(document).then(done, e => done({error: String(e)}))")
        assert "error" not in result, result
        for violation in result["violations"]:
            nodes = "; ".join(" ".join(map(str, n["target"])) + ": " + (n.get("failureSummary") or "").replace("\n", " ")
                              for n in violation["nodes"][:3])
            self.findings.append(f"{name}: axe: {violation['id']} ({violation['impact']}): {nodes[:600]}")

    def picture(self, name, folder=None, top=0, height=4_000):
        """Keeps a picture of the page, of no more than `height` pixels of it from `top` on."""
        metrics = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})
        clip = {"x": 0, "y": top, "width": metrics["cssVisualViewport"]["clientWidth"],
                "height": min(metrics["cssContentSize"]["height"] - top, height), "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        folder = folder or self.pictures
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(base64.b64decode(shot["data"]))
