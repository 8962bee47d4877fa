"use strict";
// Keeps a page up to date and shows its times in the reader's zone. Everything works without it.
(() => {
  const zone = new Intl.DateTimeFormat(undefined, {
    year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
  });

  // The reader's time in the text, UTC in the title.
  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]:not([data-utc])")) {
      const date = new Date(element.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      element.dataset.utc = element.textContent;
      element.title = element.textContent;
      element.textContent = zone.format(date);
    }
    localiseTicks(root);
  }

  // Ticks of a plot: as short as the server wrote them.
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat(undefined, { month: "2-digit", day: "2-digit" });

  function localiseTicks(root) {
    for (const element of root.querySelectorAll("text[data-time]")) {
      const date = new Date(element.dataset.time);
      if (!Number.isNaN(date.getTime())) {
        element.textContent = (element.textContent.includes(":") ? clock : day).format(date);
      }
    }
  }

  // A form is sent once: the button waits for the answer. Coming back to the page frees it.
  function once() {
    document.addEventListener("submit", (event) => {
      if (event.target.method !== "post") return;
      if (event.target.dataset.sent) return event.preventDefault();
      event.target.dataset.sent = "yes";
      event.target.setAttribute("aria-busy", "true");
    });
    window.addEventListener("pageshow", () => {
      for (const form of document.querySelectorAll("form[data-sent]")) {
        delete form.dataset.sent;
        form.removeAttribute("aria-busy");
      }
    });
  }

  // Whether somebody is at work in a region: what is typed there stays.
  function isBusy(region) {
    for (const field of region.querySelectorAll("input, textarea, select")) {
      if (field === document.activeElement && field.type !== "hidden") return true;
      if (field.type === "hidden") continue;
      if (field.type === "checkbox" || field.type === "radio") {
        if (field.checked !== field.defaultChecked) return true;
      } else if (field.tagName === "SELECT") {
        if ([...field.options].some((option) => option.selected !== option.defaultSelected) && field.dataset.touched) return true;
      } else if (field.value !== field.defaultValue) return true;
    }
    return false;
  }

  // Where an element is within a region, so that its like is found after the region was replaced.
  function pathTo(element, region) {
    const path = [];
    for (let node = element; node !== region; node = node.parentElement) {
      path.unshift([...node.parentElement.children].indexOf(node));
    }
    return path;
  }

  function follow(region, path) {
    return path.reduce((node, index) => (node ? node.children[index] : null), region);
  }

  const shown = new Map();

  function replace(region, fresh) {
    const html = fresh.innerHTML;
    if (shown.get(region.dataset.live) === html) return;
    if (isBusy(region)) return;
    shown.set(region.dataset.live, html);
    const focused = region.contains(document.activeElement) ? pathTo(document.activeElement, region) : null;
    const open = [...region.querySelectorAll("details[open]")].map((details) => details.id || pathTo(details, region));
    const scrolled = [...region.querySelectorAll(".scroll")].map((element) => element.scrollLeft);
    region.innerHTML = html;
    localise(region);
    for (const mark of open) {
      const details = typeof mark === "string" ? document.getElementById(mark) : follow(region, mark);
      if (details) details.open = true;
    }
    [...region.querySelectorAll(".scroll")].forEach((element, index) => { element.scrollLeft = scrolled[index] || 0; });
    if (focused) follow(region, focused)?.focus?.({ preventScroll: true });
    region.dispatchEvent(new CustomEvent("console:replaced", { bubbles: true }));
  }

  let fetching = false;
  let wanted = null;

  async function refetch(change) {
    if (fetching) { wanted = change; return; }
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { "Grandstand-Live": change }, credentials: "same-origin" });
      if (answer.status === 401 || answer.redirected) return location.reload();
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const region of document.querySelectorAll("[data-live]")) {
          const fresh = page.querySelector(`[data-live="${CSS.escape(region.dataset.live)}"]`);
          if (fresh) replace(region, fresh);
        }
      }
    } catch {
      // The server is away: the next change or the next turn tries again.
    } finally {
      fetching = false;
      if (wanted !== null) { const next = wanted; wanted = null; refetch(next); }
    }
  }

  function keepUp() {
    const seconds = Number(document.body.dataset.refresh);
    if (!seconds || !document.querySelector("main [data-live]")) return;
    const source = document.body.dataset.liveSource;
    if (source) {
      const stream = new EventSource(source);
      for (const name of ["change", "tick"]) {
        stream.addEventListener(name, (event) => refetch(name + " " + event.data));
      }
    } else {
      setInterval(() => { if (!document.hidden) refetch("turn"); }, 1000 * seconds);
    }
    document.addEventListener("change", (event) => { event.target.dataset.touched = "yes"; });
  }

  localise(document);
  once();
  keepUp();
})();

// The composer: JSON is looked at while it is typed, and how much of what Apple takes it fills. The server looks again.
(() => {
  const areas = [...document.querySelectorAll("textarea[data-json]")];
  if (!areas.length) return;
  const composer = document.querySelector("form[data-composer]");
  const bytes = (text) => new TextEncoder().encode(text).length;
  const compact = (json) => json.replace(/("(?:\\.|[^"\\])*")|\s+/g, "$1");
  const number = (value) => value.toLocaleString("en");

  function fault(area) {
    if (!area.value.trim()) return "";
    try {
      const value = JSON.parse(area.value);
      return value !== null && typeof value === "object" && !Array.isArray(value) ? "" : "A JSON object was expected.";
    } catch (error) {
      return `This is no JSON yet: ${error.message}`;
    }
  }

  // The body to APNs as the server writes it, but for what an event's defaults add.
  function size() {
    const value = (name) => composer.elements.namedItem(name)?.value?.trim() ?? "";
    let length = bytes(`{"aps":{"timestamp":1795305600,"event":"${value("event")}"}}`);
    if (value("contentState")) length += bytes(`,"content-state":${compact(value("contentState"))}`);
    const alert = { title: value("alertTitle") || undefined, body: value("alertBody") || undefined };
    if (value("alert")) length += bytes(`,"alert":${compact(value("alert"))}`);
    else if (alert.title || alert.body) length += bytes(`,"alert":${JSON.stringify(alert)}`);
    if (value("staleDate")) length += bytes(`,"stale-date":1795305600`);
    if (value("dismissalDate")) length += bytes(`,"dismissal-date":1795305600`);
    if (value("relevanceScore")) length += bytes(`,"relevance-score":${value("relevanceScore")}`);
    return length;
  }

  function say(area, text, isWrong) {
    const place = document.getElementById(area.getAttribute("aria-describedby"));
    area.setAttribute("aria-invalid", String(isWrong));
    if (!place || place.textContent === text) return;
    place.textContent = text;
    place.classList.toggle("critical", isWrong);
  }

  function look() {
    for (const area of areas) {
      const wrong = fault(area);
      if (wrong) { say(area, wrong, true); continue; }
      if (!composer || area.name !== "contentState") { say(area, area.value.trim() ? "JSON as it should be." : "", false); continue; }
      const [length, maximum] = [size(), Number(composer.dataset.maximum)];
      const over = length - maximum;
      say(area, over > 0
        ? `${number(length)} of ${number(maximum)} bytes: ${number(over)} too many.`
        : `JSON as it should be. ${number(length)} of ${number(maximum)} bytes.`, over > 0);
    }
  }

  let waiting = 0;
  document.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 200);
  });
  look();
})();
