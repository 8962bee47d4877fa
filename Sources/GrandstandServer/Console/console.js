"use strict";
// Keeps a page up to date and shows its times in the reader's zone. Everything works without it.
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

  const isNow = (date, parts) => format(date, parts) === format(new Date(), parts);
  const year = (date) => (isNow(date, { year: "numeric" }) ? {} : { year: "numeric" });

  // Today's dates as times, this year's without the year; seconds only where the server says that they matter.
  function words(date, exact) {
    const parts = isNow(date, { dateStyle: "short" }) ? {} : { ...day, ...year(date) };
    return format(date, { ...parts, ...clock, ...(exact ? { second: "2-digit" } : {}) });
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  const written = /(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? UTC/g;

  // The reader's time in the text, UTC in the title.
  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]:not([data-form=day]), text[data-time]")) {
      const date = new Date(element.dataset.time || element.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      if (element.dateTime && !element.title) element.title = element.dataset.form ? element.dateTime : element.textContent;
      // Ticks of a plot are as short as the server wrote them.
      const isTick = element.dataset.time && !element.textContent.includes(":");
      const isClock = element.dataset.time || element.dataset.form === "clock";
      write(element, isTick ? format(date, day) : isClock ? format(date, clock) : words(date, "exact" in element.dataset));
    }
    // A list has each day once.
    for (const list of root.querySelectorAll(".agenda")) {
      let before = "";
      for (const element of list.querySelectorAll("time[data-form=day]")) {
        const date = new Date(element.dateTime);
        const text = format(date, { weekday: "short", ...day, ...year(date) });
        write(element, text === before ? "" : text);
        before = text;
      }
    }
    for (const element of root.querySelectorAll("[data-zone]")) write(element, zone);
    for (const button of root.querySelectorAll("[data-zones]")) {
      button.hidden = own === "UTC";
      write(button, `Show ${zone === "UTC" ? own : "UTC"}`);
    }
    // Times within sentences of ours. Text of others stands in elements of its own and stays.
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest("time, bdi, code, pre, textarea, script") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.data.includes(" UTC")) continue;
      node.data = node.data.replace(written, (all, day, minute, second) => words(new Date(`${day}T${minute}${second || ""}Z`), second));
    }
    // Fields for times have the reader's time. What is sent is UTC.
    for (const field of root.querySelectorAll("input[data-when]:not([data-local])")) {
      field.dataset.local = "yes";
      const utc = field.defaultValue;
      const date = new Date(utc.replace(" ", "T") + "Z");
      if (!utc || Number.isNaN(date.getTime())) continue;
      // A browser that came back to the page may have put in what was there.
      const isKept = field.value !== utc;
      const shifted = zone === "UTC" ? date : new Date(date - 60000 * date.getTimezoneOffset());
      field.defaultValue = shifted.toISOString().slice(0, 19).replace("T", " ").replace(/:00$/, "");
      if (!isKept) field.value = field.defaultValue;
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

  // A form is sent once: the button waits for the answer. Coming back to the page frees it.
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
    // What was open, scrolled or had the focus is found again by its ID, or its place among its like.
    const all = (what) => [...region.querySelectorAll(what)];
    const focused = region.contains(document.activeElement) ? document.activeElement.tagName : null;
    const place = focused && all(focused).indexOf(document.activeElement);
    const mark = (details, index) => details.id || index;
    const open = all("details").map((details, index) => details.open && mark(details, index));
    const scrolled = all(".scroll").map((element) => element.scrollLeft);
    region.innerHTML = html;
    localise(region);
    all("details").forEach((details, index) => { details.open ||= open.includes(mark(details, index)); });
    all(".scroll").forEach((element, index) => { element.scrollLeft = scrolled[index] || 0; });
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
