"use strict";
// Keeps a page up to date and shows its times in the reader's zone. Without it pages are as they were loaded, with times in UTC.
(() => {
  // The reader's zone, or UTC if the reader chose that. A browser may refuse to store the choice.
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  let zone = own;
  try {
    if (localStorage.getItem("zone") === "UTC") zone = "UTC";
  } catch {}

  function format(date, parts) {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...parts }).format(date);
  }

  const clock = { hour: "2-digit", minute: "2-digit" };
  const day = { day: "numeric", month: "short" };
  const isToday = (date) => format(date, { dateStyle: "short" }) === format(new Date(), { dateStyle: "short" });

  // Today's dates as times; seconds only where the server says that they matter.
  function words(date, exact) {
    const parts = isToday(date) ? {} : { ...day, year: "numeric" };
    return format(date, { ...parts, ...clock, ...(exact ? { second: "2-digit" } : {}) });
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  // The reader's time in the text, UTC in the title. The ticks of a plot are days.
  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]")) {
      if (!element.title) element.title = element.textContent;
      write(element, words(new Date(element.dateTime), "exact" in element.dataset));
    }
    for (const element of root.querySelectorAll("text[data-time]")) write(element, format(new Date(element.dataset.time), day));
    for (const element of root.querySelectorAll("[data-zone]")) write(element, zone);
    for (const button of root.querySelectorAll("[data-zones]")) {
      button.hidden = own === "UTC";
      write(button, `Show ${zone === "UTC" ? own : "UTC"}`);
    }
    // Fields for times have the reader's time. What is sent is UTC.
    for (const field of root.querySelectorAll("input[data-when]:not([data-local])")) {
      field.dataset.local = "yes";
      const date = new Date(field.defaultValue.replace(" ", "T") + "Z");
      if (Number.isNaN(date.getTime())) continue;
      const shifted = zone === "UTC" ? date : new Date(date - 60000 * date.getTimezoneOffset());
      field.defaultValue = shifted.toISOString().slice(0, 19).replace("T", " ").replace(/:00$/, "");
      field.value = field.defaultValue;
    }
  }

  document.addEventListener("formdata", (event) => {
    for (const field of event.target.querySelectorAll("input[data-local]")) {
      const date = new Date(field.value.trim().replace(" ", "T") + (zone === "UTC" ? "Z" : ""));
      if (/\d:\d/.test(field.value) && !Number.isNaN(date.getTime())) {
        event.formData.set(field.name, date.toISOString().replace(".000Z", "Z"));
      }
    }
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-zones]")) return;
    localStorage.setItem("zone", zone === "UTC" ? "" : "UTC");
    location.reload();
  });

  // A form is sent once: the second press within some seconds does nothing.
  document.addEventListener("submit", (event) => {
    const sent = event.target.dataset;
    if (sent.sent) return event.preventDefault();
    sent.sent = "yes";
    setTimeout(() => delete sent.sent, 10000);
  });

  // Whether somebody is at work in a region: what is typed there stays.
  function isBusy(region) {
    return [...region.querySelectorAll("input:not([type=hidden]), textarea, select")].some((field) =>
      field === document.activeElement || field.checked !== field.defaultChecked
      || (field.tagName === "SELECT" ? field.dataset.touched : field.value !== field.defaultValue));
  }

  const shown = new Map();
  const withoutTokens = (html) => html.replace(/name="token" value="[^"]*"/g, "");

  function replace(region, fresh) {
    const html = fresh.innerHTML;
    if (shown.get(region.dataset.live) === withoutTokens(html)) return;
    if (isBusy(region)) return warn(region, fresh);
    shown.set(region.dataset.live, withoutTokens(html));
    // What was open or had the focus is found again by its ID, or its place among its like.
    const all = (what) => [...region.querySelectorAll(what)];
    const focused = region.contains(document.activeElement) ? document.activeElement.tagName : null;
    const place = focused && all(focused).indexOf(document.activeElement);
    const mark = (details, index) => details.id || index;
    const open = all("details").map((details, index) => details.open && mark(details, index));
    region.innerHTML = html;
    localise(region);
    all("details").forEach((details, index) => { details.open ||= open.includes(mark(details, index)); });
    if (focused) all(focused)[place]?.focus({ preventScroll: true });
  }

  // What somebody types begins with a message that is not the newest any more.
  function warn(region, fresh) {
    const [form, other] = [region, fresh].map((element) => element.querySelector("[data-newest]"));
    if (form && other && form.dataset.newest !== other.dataset.newest) form.querySelector("[data-newer]").hidden = false;
  }

  async function refetch() {
    try {
      const answer = await fetch(location.href, {
        headers: { "Grandstand-Live": "yes" }, credentials: "same-origin", signal: AbortSignal.timeout(10000),
      });
      if (answer.status === 401 || answer.redirected) return location.reload();
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const region of document.querySelectorAll("[data-live]")) {
          const fresh = page.querySelector(`[data-live="${CSS.escape(region.dataset.live)}"]`);
          if (fresh) replace(region, fresh);
        }
        // Midnight may have passed.
        localise(document);
      }
    } catch {
      // The server is away: the next turn tries again.
    }
  }

  // One request at a time. A hidden page waits until it is shown.
  async function keepUp() {
    const seconds = Number(document.body.dataset.refresh);
    if (!seconds || !document.querySelector("main [data-live]")) return;
    document.addEventListener("change", (event) => { event.target.dataset.touched = "yes"; });
    for (;;) {
      await new Promise((next) => setTimeout(next, 1000 * seconds));
      while (document.hidden) {
        await new Promise((next) => document.addEventListener("visibilitychange", next, { once: true }));
      }
      await refetch();
    }
  }

  localise(document);
  keepUp();
  document.addEventListener("console:found", (event) => localise(event.target));
})();

// The composer: the server is asked what the message would come to, by the call that Preview makes, whenever typing pauses.
(() => {
  let waiting = 0;
  let asking = null;

  async function check(form) {
    asking?.abort();
    asking = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("check", "yes");
    try {
      const answer = await fetch(form.getAttribute("action"), {
        method: "POST", body: fields, credentials: "same-origin", signal: asking.signal,
      });
      if (!answer.ok) return;
      show(form, new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // A newer question took its place, or the server is away: sending says so.
    }
  }

  function show(form, fresh) {
    for (const place of form.querySelectorAll("[data-found]")) {
      const found = fresh.querySelector(`[data-found=${place.dataset.found}]`);
      if (found && place.innerHTML !== found.innerHTML) place.innerHTML = found.innerHTML;
    }
    mark(form);
    form.dispatchEvent(new CustomEvent("console:found", { bubbles: true }));
  }

  // The fields that the faults name. A fault's pointer begins with the field.
  function mark(form) {
    const wrong = new Set([...form.querySelectorAll("#faults code")].map((code) => code.textContent.replace(/^\//, "").split("/")[0]));
    for (const field of form.querySelectorAll("textarea, input:not([type=hidden]), select")) {
      if (wrong.has(field.name)) field.setAttribute("aria-invalid", "true"); else field.removeAttribute("aria-invalid");
    }
  }

  // Preview is the same, at once: the page stays, and goes on keeping itself up to date.
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-composer]");
    if (!form || !event.submitter || event.submitter.hasAttribute("formaction")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    clearTimeout(waiting);
    check(form);
  }, true);

  for (const name of ["input", "change"]) {
    document.addEventListener(name, (event) => {
      const form = event.target.closest("form[data-composer]");
      if (!form) return;
      clearTimeout(waiting);
      // Nobody is told to correct a content that nobody has begun.
      const isBegun = form.elements.contentState.value.trim();
      waiting = setTimeout(() => { if (!form.dataset.sent && isBegun) check(form); }, 300);
    });
  }

  document.querySelectorAll("form[data-composer]").forEach(mark);
})();
