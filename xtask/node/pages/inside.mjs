// What is asked inside a page. Each function is sent to the browser by itself, so it can use nothing from around
// it but what `begin` has put on `window`.

/** Nothing has the focus, everything is scrolled back, and elements can be called by a number. */
export function begin() {
  document.activeElement?.blur();
  window.scrollTo(0, 0);
  const numbers = (window.metierNumbers ??= new Map());
  window.metierElement = (id) => [...numbers].find(([, number]) => number === id)?.[0];
  window.metierNumber = (element) => {
    if (!numbers.has(element)) numbers.set(element, numbers.size);
    return numbers.get(element);
  };
  window.metierShown = (element) => element.cloneNode(false).outerHTML.slice(0, 120);
  for (const id of window.metierReached?.keys() ?? []) window.metierElement(id).scrollTo({ left: 0, top: 0, behavior: "instant" });
  window.metierScrolls = (element) => {
    const style = getComputedStyle(element);
    const can = (overflow) => overflow === "auto" || overflow === "scroll";
    if (can(style.overflowX) && element.scrollWidth > element.clientWidth + 1) return "x";
    if (can(style.overflowY) && element.scrollHeight > element.clientHeight + 1) return "y";
    return undefined;
  };
}

/** What has the focus; nothing, if that is the page itself. */
export function focused() {
  const element = document.activeElement;
  if (!element || element === document.body || element === document.documentElement) return undefined;
  const id = window.metierNumber(element);
  (window.metierReached ??= new Map()).set(id, [element.scrollLeft, element.scrollTop]);
  return { id, shown: window.metierShown(element), scrolls: window.metierScrolls(element) };
}

export function hasScrolled(id) {
  const element = window.metierElement(id);
  const [left, top] = window.metierReached.get(id);
  return element.scrollLeft !== left || element.scrollTop !== top;
}

/** What somebody without a mouse must be able to reach. */
export function usable() {
  const found = [];
  const add = (element, why) => found.push({ id: window.metierNumber(element), shown: window.metierShown(element), why });
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const reached = [...(window.metierReached?.keys() ?? [])].map((id) => window.metierElement(id));
  for (const element of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")) {
    if (isVisible(element) && !element.disabled && element.tabIndex >= 0) add(element, "can be used");
  }
  for (const element of document.querySelectorAll("body *")) {
    const has = () => reached.some((other) => element !== other && element.contains(other));
    if (isVisible(element) && window.metierScrolls(element) && !has()) add(element, "scrolls");
  }
  return found;
}

/** One element that has been reached of each kind: the same name and the same classes. */
export function kinds() {
  const kinds = new Map();
  for (const id of window.metierReached?.keys() ?? []) {
    const element = window.metierElement(id);
    const kind = `${element.localName}.${element.className}`;
    if (!kinds.has(kind)) kinds.set(kind, { id, shown: window.metierShown(element) });
  }
  return [...kinds.values()];
}

/** The part of the window with an element that has no focus, and what is around it. */
export function blurred(id) {
  const element = window.metierElement(id);
  element.blur();
  element.scrollIntoView({ block: "center", behavior: "instant" });
  element.scrollLeft = 0;
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) return undefined;
  const [left, top] = [Math.max(0, box.left - 6), Math.max(0, box.top - 6)];
  const [right, bottom] = [Math.min(innerWidth, box.right + 6), Math.min(innerHeight, box.bottom + 6)];
  return { x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, bottom - top) };
}

export function focusOn(id) {
  window.metierElement(id).focus({ focusVisible: true, preventScroll: true });
}

/** A page that has to be moved sideways. */
export function overflow() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const holds = (element) =>
    element && element !== document.body && (getComputedStyle(element).overflowX !== "visible" || holds(element.parentElement));
  const [widest] = [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1)
    .filter((element) => !holds(element.parentElement))
    .sort((one, other) => other.getBoundingClientRect().right - one.getBoundingClientRect().right);
  const culprit = widest?.cloneNode(false).outerHTML.slice(0, 120) ?? "?";
  return [["overflow", `the page is ${root.scrollWidth} wide and its window ${root.clientWidth}: ${culprit}`]];
}

/** Text that is cut off. */
export function clipped() {
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    const cuts = (overflow) => overflow === "hidden" || overflow === "clip";
    // What is a point wide is text for those who listen.
    if (element.clientWidth <= 1 || element.clientHeight <= 1 || !element.textContent.trim()) continue;
    const isCut =
      (cuts(style.overflowX) && element.scrollWidth > element.clientWidth + 1) ||
      (cuts(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
    if (isCut) found.push(["clipped", element.cloneNode(false).outerHTML.slice(0, 120)]);
  }
  return found;
}

/** What could be scrolled on a screen is lost on paper. */
export function hiddenOnPaper() {
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    const shows = style.overflowX === "visible";
    if (!shows && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1) {
      found.push(["paper", `is cut off: ${element.cloneNode(false).outerHTML.slice(0, 120)}`]);
    }
  }
  return found;
}

/** Points of the text of the page, by what it is in. */
export function textSizes() {
  const sizes = {};
  for (const kind of ["p", "li", "td", "figcaption", "code"]) {
    const text = document.querySelector(kind);
    if (text) sizes[kind] = parseFloat(getComputedStyle(text).fontSize);
  }
  return sizes;
}

/** Tables have a caption, and headings that say what they are for. */
export function captions() {
  const found = [];
  for (const table of document.querySelectorAll("table")) {
    const shown = table.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
    if (!table.caption?.textContent.trim()) found.push(["table", `has no caption: ${shown}`]);
    const headings = [...table.querySelectorAll("th")];
    const isScoped = (heading) => ["col", "row"].includes(heading.scope);
    if (headings.length === 0 || !headings.every(isScoped)) found.push(["table", `has no headings: ${shown}`]);
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.some((row) => !row.querySelector("th"))) found.push(["table", `has a row without a name: ${shown}`]);
  }
  return found;
}

/** Shapes stand out from the ground, and from others of their figure by more than their colour. */
export function graphics() {
  const found = [];
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { light: [red, green, blue].map(linear), alpha };
  };
  const linear = (part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ({ light: [red, green, blue] }) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = read(getComputedStyle(at).backgroundColor);
      if (colour.alpha > 0) return colour;
    }
    return read(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "#121212" : "#fff");
  };
  const paint = (value, below) => (value === "none" || read(value).alpha === 0 ? below : read(value));
  for (const figure of document.querySelectorAll("figure, body > svg")) {
    const seen = new Map();
    for (const shape of figure.querySelectorAll("rect, path, circle, ellipse, line, polygon, polyline")) {
      const box = shape.getBoundingClientRect();
      if (box.width === 0 || box.height === 0) continue;
      const style = getComputedStyle(shape);
      const below = ground(shape.closest("svg"));
      const [fill, stroke] = [paint(style.fill, below), paint(style.stroke, below)];
      const shown = `${shape.localName}, class ${shape.getAttribute("class")}`;
      if (Math.max(contrast(fill, below), contrast(stroke, below)) < 3) {
        found.push(["graphics", `hardly stands out: ${shown}`]);
      }
      for (const other of seen.values()) {
        const isSame = contrast(fill, other.fill) < 3 && style.strokeDasharray === other.dashes;
        const isPainted = style.fill !== other.paint || style.stroke !== other.line;
        if (isPainted && isSame) found.push(["graphics", `differs by colour alone: ${shown}`]);
      }
      const key = `${style.fill} ${style.stroke} ${style.strokeDasharray}`;
      seen.set(key, { fill, paint: style.fill, line: style.stroke, dashes: style.strokeDasharray });
    }
  }
  return found;
}
