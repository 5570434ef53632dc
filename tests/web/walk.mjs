// Walks through the board in Chromium and prints what it found. Input on stdin:
// {"modules", "link", "base", "pages": {name: path}, "looks": [[width, scheme]], "shots",
//  "shown": [picture]}.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const PATIENCE = 120000; // milliseconds for one condition, on a busy machine
const asked = JSON.parse(readFileSync(0, "utf-8"));
const load = createRequire(join(asked.modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(join(asked.modules, "axe-core", "axe.min.js"), "utf-8");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const found = { looks: [], html: {}, acts: {} };
const messages = [];
function listen(page) {
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (problem) => messages.push(String(problem)));
}

// Everything a person sees, at every width and in both schemes.
const viewport = { width: 1440, height: 900 };
const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
context.setDefaultTimeout(PATIENCE);
context.setDefaultNavigationTimeout(PATIENCE);
const page = await context.newPage();
listen(page);
await page.goto(asked.link);
await page.waitForURL((url) => !url.pathname.startsWith("/enter"));
const session = await context.storageState();
for (const [name, path] of Object.entries(asked.pages)) {
  await page.goto(asked.base + path);
  await page.locator("#link-state.live").waitFor();
  found.html[name] = await (await context.request.get(asked.base + path, { timeout: PATIENCE })).text();
  for (const [width, scheme] of asked.looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    const shot = `${name}-${width}-${scheme}`;
    if (asked.shots && asked.shown.includes(shot)) {
      await page.screenshot({ path: join(asked.shots, `board-${shot}.png`) });
    }
    if (asked.album) await page.screenshot({ path: join(asked.album, `${shot}.png`), fullPage: true });
    const folds = await page.locator("details:not([open]):not(.switch)").elementHandles();
    for (const fold of folds) await fold.evaluate((each) => (each.open = true));
    await page.evaluate(axe);
    const report = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    found.looks.push({
      name, width, scheme, messages: messages.splice(0),
      violations: report.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => node.html.slice(0, 200)) })),
      overflow: await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
    });
    for (const fold of folds) await fold.evaluate((each) => (each.open = false));
  }
}
await page.setViewportSize(viewport);
await page.emulateMedia({ colorScheme: "light" });

// Reading without scripts.
const plain = await browser.newContext({ javaScriptEnabled: false, storageState: session });
plain.setDefaultTimeout(PATIENCE);
const still = await plain.newPage();
for (const [name, path] of Object.entries(asked.pages)) {
  await still.goto(asked.base + path);
  found.acts[`plain ${name}`] = (await still.locator("main").innerText()).length > 20;
}
await plain.close();

// Every action, by keyboard where that is the question.
const said = async () => (await page.locator(".said").innerText()).trim();
async function act(name, work) {
  try { found.acts[name] = await work(); } catch (problem) { found.acts[name] = `failed: ${String(problem).slice(0, 300)}`; }
}
await act("keyboard", async () => {
  await page.goto(asked.base);
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  return first + " " + (await page.evaluate(() => location.hash));
});
await act("repair", async () => { await page.goto(asked.base); await page.getByRole("button", { name: "Apply the repair" }).click(); return said(); });
await act("live update", async () => {
  await page.goto(asked.base + "/memory");
  await page.locator("#link-state.live").waitFor();
  await page.getByLabel("An idea for later").fill("half a thought");
  const other = await context.newPage();
  await other.goto(asked.base + "/memory");
  await other.getByLabel("A decision").fill("Ropes are blue");
  await other.locator("#decisions").locator("..").getByRole("button", { name: "Record" }).click();
  await other.locator(".said").waitFor(); // Chromium can hang if a page is closed while it loads
  await other.close();
  await page.locator("#decisions").locator("..").getByText("Ropes are blue").waitFor();
  return page.getByLabel("An idea for later").inputValue();
});
await act("capture", async () => { await page.goto(asked.base); await page.getByLabel("An idea for later").fill("A bell"); await page.getByRole("button", { name: "Capture" }).click(); return said(); });
await act("resolve", async () => { await page.goto(asked.base + "/memory"); await page.getByRole("button", { name: "Resolve" }).first().click(); return said(); });
await act("recheck", async () => { await page.goto(asked.base + "/plans/02-01"); await page.getByRole("button", { name: "Check the evidence again" }).click(); return said(); });
await act("search", async () => { await page.goto(asked.base + "/plans"); await page.getByLabel("Search").fill("night"); await page.getByRole("button", { name: "Filter" }).click(); return "found " + (await page.locator(".card.plan").count()) + "."; });
await act("graph leads to a plan", async () => { await page.goto(asked.base + "/roadmap"); await page.locator(".graph a").last().click(); return page.locator("h1").innerText(); });
await act("rule", async () => {
  await page.goto(asked.base + "/jobs/j_20260412_deadlocked");
  await page.getByLabel("Your ruling").first().fill("Mask it");
  await page.getByRole("button", { name: "Rule" }).first().click();
  return said();
});
async function retried() {
  await page.goto(asked.base + "/jobs/j_20260412_deadlocked");
  await page.getByRole("button", { name: "Retry" }).click();
  return said();
}
const opened = async (text) => page.goto(asked.base + "/jobs/" + /j_\w+/.exec(text)[0]);
await act("retry", retried);
await act("veto", async () => {
  await opened(found.acts.retry);
  await page.getByLabel("Reason for a veto").fill("Not now");
  await page.getByRole("button", { name: "Veto" }).click();
  return said();
});
await act("cancel", async () => {
  await opened(await retried());
  await page.getByRole("button", { name: "Cancel the job" }).click();
  return (await said()) + " " + /operator_\w+/.exec(await page.locator("main").innerText());
});
await act("answer", async () => {
  await page.goto(asked.base);
  await page.getByLabel("approved", { exact: true }).check();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  return said();
});
await act("projects", async () => {
  await page.goto(new URL("/", asked.base).href);
  const names = await page.locator("main a[href^='/p/']").evaluateAll((links) => links.map((link) => link.getAttribute("href").split("/")[2]));
  return [...new Set(names)].sort().join(" ");
});
await act("reject", async () => {
  await page.goto(asked.other);
  await page.getByLabel("reject", { exact: true }).check();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  return said();
});
await act("continue", async () => {
  await page.goto(asked.other);
  await page.locator("article", { hasText: "discuss-01-20260412-091500" }).getByRole("button", { name: "Continue" }).click();
  return said();
});
await act("start", async () => {
  await page.goto(asked.base + "/jobs");
  await page.getByLabel("Kind").selectOption("quick");
  await page.getByLabel("Goal, or the number of the phase").fill("Paint the pier");
  await page.getByLabel("Rehearse: no model is asked").check();
  await page.getByRole("button", { name: "Start in the background" }).click();
  await page.locator(".said").waitFor();
  return (await said()) + " " + new URL(page.url()).pathname;
});
// Ten tabs of one browser: every one is live, and the tenth is as quick as the first.
await act("ten tabs", async () => {
  const tabs = [];
  const streams = new Set();
  context.on("request", (request) => { if (request.url().endsWith("/events")) streams.add(request); });
  context.on("requestfinished", (request) => streams.delete(request));
  context.on("requestfailed", (request) => streams.delete(request));
  await page.goto("about:blank");
  for (let at = 0; at < 10; at += 1) {
    const tab = await context.newPage();
    await tab.goto(asked.base + (at % 2 ? "/memory" : ""));
    tabs.push(tab);
  }
  for (const tab of tabs) await tab.locator("#link-state.live").waitFor();
  const last = tabs[9], begun = Date.now();
  for (const path of ["/roadmap", "/plans", "/jobs", "/memory"]) await last.goto(asked.base + path);
  await last.getByLabel("An idea for later").fill("A tenth bell");
  await last.getByRole("button", { name: "Capture" }).click();
  const answer = (await last.locator(".said").innerText()).trim();
  found.tenth = (Date.now() - begun) / 5000;
  await tabs[1].getByText("A tenth bell").first().waitFor();
  for (const tab of tabs) await tab.locator("#link-state.live").waitFor(); // the tenth has a new page
  const live = await Promise.all(tabs.map((tab) => tab.locator("#link-state.live").count()));
  return `${live.reduce((sum, each) => sum + each)} live, ${answer}, seen in the first, ${streams.size} connection`;
});
await context.close();
await browser.close();
console.log(JSON.stringify(found));
