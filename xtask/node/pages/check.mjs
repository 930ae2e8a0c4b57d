// Looks at web pages as people do who see them small, dark, printed, without colour, or use no mouse.
//
//   node check.mjs --packages FOLDER --chromium FILE [--screenshots FOLDER] [--captions] PAGE.html…
//
// A line for each problem goes to standard output, then one that counts. The exit code is 1 if there was a
// problem, and 2 if a page could not be looked at. Pages are read from disk; one that asks for anything else has
// a problem. `--captions` asks for a caption on every table, for pages whose tables we write ourselves.

import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { mkdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";

import { look } from "./look.mjs";

/** How many pages are looked at at a time. */
const AT_ONCE = 2;
const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
];

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: {
    packages: { type: "string" },
    chromium: { type: "string" },
    screenshots: { type: "string" },
    captions: { type: "boolean", default: false },
  },
});
if (!options.packages || !options.chromium || pages.length === 0) {
  console.error("usage: check.mjs --packages FOLDER --chromium FILE [--screenshots FOLDER] [--captions] PAGE.html…");
  process.exit(2);
}

const require = createRequire(join(resolve(options.packages), "from-here.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
if (options.screenshots) mkdirSync(options.screenshots, { recursive: true });

const browser = await chromium.launch({ executablePath: options.chromium, args: FLAGS });
const found = [];
try {
  const waiting = [...pages];
  const worker = async () => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
      const name = basename(page).replace(/\.html$/, "");
      const job = { browser, axe, name, address: pathToFileURL(resolve(page)).href };
      found.push({ page, problems: await look({ ...job, ...options }) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
} finally {
  await browser.close();
}

found.sort((one, other) => pages.indexOf(one.page) - pages.indexOf(other.page));
let count = 0;
for (const { page, problems } of found) {
  for (const problem of problems) {
    console.log(`${basename(page)} ${problem}`);
    count += 1;
  }
}
console.log(`${found.length} of ${pages.length} pages looked at, problems: ${count}`);
if (count > 0 && process.exitCode === undefined) process.exitCode = 1;
