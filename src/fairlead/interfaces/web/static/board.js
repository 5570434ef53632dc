// Draws the charts beside their tables, keeps what a person has opened, and follows the server.
(() => {
  "use strict";
  const state = document.getElementById("link-state");

  function bars(place, names, values, label, colour, format) {
    const ink = getComputedStyle(document.body).color;
    const line = getComputedStyle(document.documentElement).getPropertyValue("--line");
    new uPlot({
      width: Math.max(260, place.clientWidth - 20), height: 190, title: label, cursor: { show: false }, legend: { show: false },
      scales: { x: { time: false, range: [-0.5, names.length - 0.5] }, y: { range: (_, __, top) => [0, top * 1.1 || 1] } },
      axes: [
        { stroke: ink, grid: { show: false }, ticks: { show: false }, splits: () => names.map((_, at) => at), values: () => names.map((name) => name.slice(0, 14)) },
        { stroke: ink, grid: { stroke: line }, size: 64, values: (_, ticks) => ticks.map(format) },
      ],
      series: [{}, { label, stroke: colour, fill: colour + "66", paths: uPlot.paths.bars({ size: [0.55, 64] }), points: { show: false } }],
    }, [names.map((_, at) => at), values], place);
  }

  function draw() {
    if (!window.uPlot) return;
    for (const place of document.querySelectorAll("[data-chart=spending]")) {
      const table = place.parentElement.querySelector("[data-rows=spending]");
      if (!table || place.childElementCount) continue; // drawn already
      const rows = [...table.tBodies[0].rows];
      const column = (at) => rows.map((row) => Number(row.cells[at].textContent.replaceAll(",", "")));
      const steps = rows.map((row) => row.cells[0].textContent);
      const names = new Set(steps).size === steps.length ? steps : rows.map((row) => row.cells[0].textContent + " " + row.cells[1].textContent.trim());
      const cost = column(4), seconds = column(5), tokens = column(3);
      place.hidden = false;
      if (cost.some((each) => each > 0)) bars(place, names, cost, "US dollars", "#2f81f7", (tick) => "$" + tick.toFixed(2));
      else bars(place, names, tokens, "tokens", "#2f81f7", (tick) => tick >= 1000 ? tick / 1000 + " k" : String(tick));
      if (seconds.some((each) => each > 0)) bars(place, names, seconds, "seconds", "#3fa45b", (tick) => tick + " s");
    }
  }

  // An update replaces the page: what a person opened or closed stays as it is.
  const opened = new Map();
  document.addEventListener("toggle", (event) => {
    if (event.target.matches("details[id]")) opened.set(event.target.id, event.target.open);
  }, true);
  function restore() {
    for (const [name, open] of opened) {
      const found = document.getElementById(name);
      if (found && found.open !== open) found.open = open;
    }
  }

  function copies() {
    if (!navigator.clipboard) return;
    for (const code of document.querySelectorAll(".next code")) {
      if (code.nextElementSibling?.matches(".copy")) continue;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
      button.setAttribute("aria-label", "Copy the command " + code.textContent);
      button.addEventListener("click", async () => { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; });
      code.after(button);
    }
  }

  // A graph that is wider than its box begins where the work is.
  function reveal() {
    for (const box of document.querySelectorAll(".graph-box")) {
      const here = box.querySelector(".running, .ready, .blocked, .failed");
      if (!here || box.dataset.revealed) continue;
      box.dataset.revealed = "yes";
      box.scrollLeft += here.getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientWidth / 2;
    }
  }

  // A chart is a picture of its moment: another width or colour scheme needs another one.
  function redraw() {
    for (const place of document.querySelectorAll("[data-chart]")) place.replaceChildren();
    draw();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) { width = window.innerWidth; redraw(); }
  });

  function settle() { restore(); draw(); copies(); reveal(); }
  document.addEventListener("DOMContentLoaded", settle);
  document.addEventListener("htmx:after:swap", settle);

  // A browser opens six connections to one server, and an open page needs one to follow it. So of
  // all visible tabs of a project one follows the server, the holder of a lock, and tells the others.
  const events = document.body.getAttribute("hx-sse:connect");
  const isShared = Boolean(events && navigator.locks && window.BroadcastChannel);
  const tabs = isShared ? new BroadcastChannel("board " + events) : null;
  let connection = null, waiting = null, release = null, isLive = false;

  function show(live) {
    isLive = live;
    state.textContent = live ? "live" : "Connection lost. Trying again.";
    state.classList.toggle("live", live);
    if (release) tabs.postMessage(live ? "live" : "lost");
  }
  function connect() { document.body.dispatchEvent(new Event("lead")); }
  function join() {
    if (!events || document.hidden || waiting) return;
    if (!isShared) { setTimeout(connect, 0); return; }
    waiting = new AbortController();
    const hold = () => new Promise((done) => { release = done; connect(); });
    navigator.locks.request("board " + events, { signal: waiting.signal }, hold).catch(() => {}); // aborted by leave
    tabs.postMessage("hello");
  }
  function leave() {
    connection?.reader?.cancel();
    waiting?.abort();
    release?.();
    waiting = release = null;
  }
  if (tabs) tabs.addEventListener("message", (event) => {
    if (event.data === "hello") { if (release && isLive) tabs.postMessage("live"); return; }
    if (release || document.hidden) return;
    if (event.data !== "changed") show(event.data === "live");
    if (event.data !== "lost") htmx.trigger(document.body, "changed"); // "live": as after connecting
  });
  document.body.addEventListener("changed", () => { if (release) tabs.postMessage("changed"); });
  document.addEventListener("htmx:sse:before:connection", (event) => { if (isShared && !release) event.detail.connection.cancelled = true; });
  document.addEventListener("htmx:sse:after:connection", (event) => { connection = event.detail.connection; show(true); });
  document.addEventListener("htmx:sse:error", () => show(false));
  document.addEventListener("DOMContentLoaded", join);
  document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else join(); });
  window.addEventListener("pagehide", leave); // a page kept for the back button holds no connection
  window.addEventListener("pageshow", (event) => { if (event.persisted) join(); });
})();
