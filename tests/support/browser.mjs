// Opens one page in Chromium at several widths and colour schemes, and prints what was found.
// Input on stdin: {"modules", "url", "looks": [{"width", "height", "scheme", "screenshot"}]}.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const asked = JSON.parse(readFileSync(0, "utf-8"));
const load = createRequire(join(asked.modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(join(asked.modules, "axe-core", "axe.min.js"), "utf-8");

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const looks = [];
for (const look of asked.looks) {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.scheme,
    offline: true,
  });
  const page = await context.newPage();
  const requests = [], messages = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (problem) => messages.push(String(problem)));
  await page.goto(asked.url);
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
  await page.evaluate(axe); // not subject to the content security policy of the page
  const found = await page.evaluate(() => axe.run(document));
  if (look.screenshot) await page.screenshot({ path: look.screenshot, fullPage: true });
  looks.push({
    requests,
    messages,
    passed: found.passes.length,
    violations: found.violations.map(({ id, impact, nodes }) => ({
      id, impact, nodes: nodes.map((node) => node.html.slice(0, 200)),
    })),
    overflow: await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
  });
  await context.close();
}
await browser.close();
console.log(JSON.stringify(looks));
