// Scrolls a page of the board in Chromium and prints the time of each frame in milliseconds.
// Input on stdin: {"modules", "link", "page"}.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const asked = JSON.parse(readFileSync(0, "utf-8"));
const { chromium } = createRequire(join(asked.modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--no-first-run"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.setDefaultTimeout(120000);
page.setDefaultNavigationTimeout(120000);
await page.goto(asked.link);
await page.goto(asked.page);
await page.locator("#link-state.live").waitFor();
const frames = await page.evaluate(() => new Promise((done) => {
  const times = [];
  const step = Math.max(20, document.documentElement.scrollHeight / 120);
  let before = performance.now();
  function frame(now) {
    times.push(now - before);
    before = now;
    window.scrollBy({ top: step, behavior: "instant" });
    if (times.length < 120) requestAnimationFrame(frame); else done(times.slice(1));
  }
  requestAnimationFrame(frame);
}));
await browser.close();
console.log(JSON.stringify(frames));
