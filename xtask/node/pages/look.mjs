// One page in every situation: two widths, four looks, larger text, wider spacing, paper.

import { join } from "node:path";

import * as inside from "./inside.mjs";

const WIDTHS = [360, 1280];
const HEIGHT = 800;
/** What a reader's system asks of a page. */
const LOOKS = [
  { name: "light", media: { colorScheme: "light", forcedColors: "none" } },
  { name: "dark", media: { colorScheme: "dark", forcedColors: "none" } },
  { name: "forced-colours", media: { colorScheme: "dark", forcedColors: "active" } },
  { name: "greyscale", media: { colorScheme: "light", forcedColors: "none" }, vision: "achromatopsia" },
];
/** Widths that a window of 1280 points has at 200 % and at 400 %. */
const ZOOMED = [640, 320];
/** Between the margins of A4. */
const PAPER = 718;
/** The spacing that a page must bear (WCAG 1.4.12). */
const SPACING = `* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
  p { margin-bottom: 2em !important; }`;
/** More stops than this are a trap, or a page for which nobody would use the key. */
const MOST_STOPS = 500;
/** What is looked at besides what axe looks at by itself. */
const RULES = { rules: { "target-size": { enabled: true } }, resultTypes: ["violations"] };

/** The problems of a page, a line each, without repetitions. */
export async function look({ browser, axe, name, address, screenshots, captions }) {
  const problems = new Map();
  const tell = (situation, rule, what) => {
    const known = problems.get(`${rule}: ${what}`) ?? new Set();
    problems.set(`${rule}: ${what}`, known.add(situation));
  };
  const shoot = async (page, situation) => {
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}-${situation}.png`), fullPage: true });
  };
  for (const width of WIDTHS) {
    const context = await browser.newContext({ viewport: { width, height: HEIGHT } });
    const page = await context.newPage();
    page.on("request", (request) => {
      if (!/^(file|data|blob|about):/.test(request.url())) tell(width, "alone", `asks for ${request.url()}`);
    });
    await page.goto(address);
    const devtools = await context.newCDPSession(page);
    let kinds = [];
    for (const { name: look, media, vision } of LOOKS) {
      const situation = `${width}-${look}`;
      await page.emulateMedia(media);
      await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: vision ?? "none" });
      await shoot(page, situation);
      await each(page, tell, situation, { axe: vision ? undefined : axe });
      if (look === "light") kinds = await keyboard(page, tell, situation);
      if (!vision) await focus(page, kinds, tell, situation);
    }
    await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    if (captions) await report(page, inside.captions, tell, String(width));
    await changed(page, tell, `${width}-spaced`, SPACING);
    await changed(page, tell, `${width}-large-text`, "html { font-size: 200% !important; }", shoot);
    if (width === Math.max(...WIDTHS)) await resized(page, tell, shoot);
    await context.close();
  }
  return [...problems].map(([problem, situations]) => `[${[...situations].join(" ")}] ${problem}`);
}

/** Asks a function in the page for problems. */
async function report(page, question, tell, situation) {
  for (const [rule, what] of await page.evaluate(question)) tell(situation, rule, what);
}

/** What must be so whatever the look. */
async function each(page, tell, situation, { axe }) {
  await report(page, inside.overflow, tell, situation);
  await report(page, inside.graphics, tell, situation);
  if (!axe) return;
  await page.evaluate(axe);
  const result = await page.evaluate((rules) => globalThis.axe.run(document, rules), RULES);
  for (const { id, help, nodes } of result.violations) {
    for (const node of nodes) tell(situation, `axe ${id}`, `${help} (${node.target.join(" ")})`);
  }
}

/** Goes through the page with Tab: whatever can be used or scrolled is reached, and can be scrolled by keys. */
async function keyboard(page, tell, situation) {
  await page.evaluate(inside.begin);
  const reached = new Set();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(inside.focused);
    if (at === undefined || reached.has(at.id)) break;
    reached.add(at.id);
    if (at.scrolls) {
      await page.keyboard.press(at.scrolls === "x" ? "ArrowRight" : "ArrowDown");
      const moved = page.waitForFunction(inside.hasScrolled, at.id, { timeout: 2000 });
      await moved.catch(() => tell(situation, "keyboard", `cannot be scrolled by keys: ${at.shown}`));
    }
  }
  for (const { id, shown, why } of await page.evaluate(inside.usable)) {
    if (!reached.has(id)) tell(situation, "keyboard", `${why}, and Tab does not reach it: ${shown}`);
  }
  return page.evaluate(inside.kinds);
}

/** One element of each kind looks different when it has the focus. */
async function focus(page, kinds, tell, situation) {
  for (const { id, shown } of kinds) {
    const area = await page.evaluate(inside.blurred, id);
    if (area === undefined) continue;
    const before = await page.screenshot({ clip: area });
    await page.evaluate(inside.focusOn, id);
    const after = await page.screenshot({ clip: area });
    if (before.equals(after)) tell(situation, "focus", `cannot be seen: ${shown}`);
  }
  await page.evaluate(inside.begin);
}

/** The page with a style that its reader wants. */
async function changed(page, tell, situation, style, shoot) {
  const before = await page.evaluate(inside.textSizes);
  const added = await page.addStyleTag({ content: style });
  await report(page, inside.overflow, tell, situation);
  await report(page, inside.clipped, tell, situation);
  const after = await page.evaluate(inside.textSizes);
  if (shoot) {
    await shoot(page, situation);
    for (const [kind, size] of Object.entries(before)) {
      if (after[kind] < size * 1.9) tell(situation, "large text", `does not follow its reader's size: ${kind}`);
    }
  }
  await added.evaluate((element) => element.remove());
}

/** The page magnified, and on paper. */
async function resized(page, tell, shoot) {
  for (const width of ZOOMED) {
    await page.setViewportSize({ width, height: HEIGHT });
    await report(page, inside.overflow, tell, `zoom-${width}`);
    await report(page, inside.clipped, tell, `zoom-${width}`);
  }
  await shoot(page, `zoom-${ZOOMED.at(-1)}`);
  await page.setViewportSize({ width: PAPER, height: HEIGHT });
  await page.emulateMedia({ media: "print" });
  await report(page, inside.overflow, tell, "print");
  await report(page, inside.hiddenOnPaper, tell, "print");
  await shoot(page, "print");
  await page.emulateMedia({ media: "screen" });
}
