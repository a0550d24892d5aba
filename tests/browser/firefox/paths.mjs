// Six paths through the site, a report and the app in Firefox, over WebDriver BiDi.
// node paths.mjs '{"firefox": …, "site": …, …}' prints what went wrong on each path, as JSON.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

/** What is cut or covered in a page: the function that Chromium runs too. */
const boxes = (0, eval)(readFileSync(new URL("../boxes.js", import.meta.url), "utf8"));

/** What a function finds in the page, as soon as it does. */
async function until(page, find, ...given) {
  // Puppeteer's own waiting makes functions of texts, which our policies forbid.
  for (const end = Date.now() + 60_000; ;) {
    const found = await page.evaluateHandle(find, ...given);
    if (await found.evaluate((one) => Boolean(one))) return found.asElement() ?? found;
    if (Date.now() > end) throw new Error("waited for a minute");
    // Looking ten times a second leaves Firefox time to do what is waited for.
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Waits until what a selector finds first has a text in it. */
const says = (page, selector, text) =>
  until(
    page, (selector, text) => document.querySelector(selector)?.innerText.includes(text), selector, text,
  ).catch(async () => {
    const found = await page.evaluate((s) => document.querySelector(s)?.innerText, selector);
    assert.fail(`${selector} doesn't say ${JSON.stringify(text)}, but ${JSON.stringify(found)}`);
  });

/** The control that a label names, as soon as it is shown. */
const labelled = (page, name) =>
  until(page, (name) => {
    const found = [...document.querySelectorAll("label")].find((one) => one.innerText.trim() === name);
    return found?.checkVisibility() && found.control;
  }, name);

/** The last button or link of a name, as soon as it is shown. */
const pressable = (page, name) =>
  until(page, (name) => [...document.querySelectorAll("button, a")].findLast(
    (one) => (one.ariaLabel ?? one.innerText).trim() === name && one.checkVisibility(),
  ), name);

async function choose(page, label, text) {
  const box = await labelled(page, label);
  await box.select(await box.evaluate(
    (select, text) => [...select.options].find((one) => one.text.trim() === text).value, text,
  ));
}

const press = async (page, name) => (await pressable(page, name)).click();

const texts = (page, selector) =>
  page.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).map((one) => one.innerText));

/** The ids of the samples that a report lists, sorted. */
const listed = async (page) =>
  (await texts(page, "#table tbody tr > td:first-child button[data-sample]")).toSorted();

/** Opens the report and leaves in its list what the first system does better. */
async function filtered(page, at) {
  await page.goto(at.report);
  await says(page, "#found", "of 30 samples");
  await (await page.$("#more > summary")).click();
  await choose(page, "Which is better", "a.jsonl better than b.jsonl");
  await says(page, "#found", "a.jsonl better than b.jsonl");
}

const paths = {
  async home(page, at) {
    await page.goto(at.site);
    const box = await page.waitForSelector(".mh-ask input");
    await box.type("is my RAG answer grounded?");
    const hit = await page.waitForSelector(".mh-ask li:nth-child(-n+3) > a[href*=groundedness]");
    await Promise.all([page.waitForNavigation(), hit.click()]);
    await says(page, "h1", "Response groundedness");
  },

  async card(page, at) {
    await page.goto(new URL("metric_cards/bleu/index.html", at.site).href);
    await says(page, "h1", "BLEU");
    const formula = await page.waitForSelector("math[display=block]");
    const loaded = await page.evaluate(async () => {
      await document.fonts.ready;
      return [...document.fonts].map((one) => `${one.family} ${one.status}`);
    });
    assert.deepEqual(loaded.map((one) => one.replaceAll('"', "")), ["STIX Two Math loaded"]);
    // A sum with its limits is higher than two lines of text.
    const box = await formula.boundingBox();
    assert.ok(box.height > 40, `the formula is ${box.height} pixels high`);
  },

  async report(page, at) {
    await filtered(page, at);
    // The second system has five more words wrong in two of the samples.
    assert.deepEqual(await listed(page), ["id7", "id8"]);
    await press(page, "sample id7");
    await page.waitForSelector("#sample-7 .sides .side");
    const sides = (await page.$$("#sample-7 .side")).slice(0, 2);
    const [left, right] = [await sides[0].boundingBox(), await sides[1].boundingBox()];
    assert.equal(left.y, right.y);
    assert.ok(left.x + left.width <= right.x);
  },

  async address(page, at) {
    await filtered(page, at);
    await press(page, "sample id8");
    await page.waitForSelector("#sample-8");
    const before = page.url();
    assert.match(before, /#.*open=8/);
    await page.reload();
    await says(page, "#found", "a.jsonl better than b.jsonl");
    await page.waitForSelector("#sample-8");
    assert.equal(page.url(), before);
    assert.deepEqual(await listed(page), ["id7", "id8"]);
  },

  async kinds(page, at) {
    for (const [name, address] of Object.entries(at.kinds)) {
      await page.goto(address);
      await (await page.waitForSelector("#table tbody button[data-sample]")).click();
      await page.$$eval("details", (all) => all.forEach((made) => { made.open = true; }));
      assert.deepEqual(await page.evaluate(boxes, false), [], name);
    }
  },

  async app(page, at) {
    await page.goto(new URL("/?metric=wer", at.app).href);
    const input = await page.$("input[type=file]");
    await Promise.all([page.waitForNavigation(), input.uploadFile(at.file)]);
    await says(page, "h1", "One system, 2 samples");
    await press(page, "Score a");
    const report = await (await page.waitForSelector("iframe")).contentFrame();
    await report.waitForSelector("#table");
    // One of 4 reference words is replaced.
    await says(report, "h1", "0.250 on wer");
    await says(report, "#table", "a b c");
  },
};

/** What goes wrong on a path: the first step that fails, and every error and request elsewhere. */
async function walked(browser, at, [name, path]) {
  const wrong = [];
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  // Where a page gives way to one of another origin, Firefox throws at what Puppeteer left in it.
  page.on("pageerror", ({ message }) => message.includes("__bidi_args") || wrong.push(`error: ${message}`));
  page.on("console", (said) => said.type() === "error" && wrong.push(`console: ${said.text()}`));
  page.on("request", (asked) => {
    const { protocol, hostname } = new URL(asked.url());
    if (/^https?:/.test(protocol) && hostname !== "127.0.0.1") wrong.push(`request: ${asked.url()}`);
  });
  await path(page, at).catch((error) => wrong.push(error.stack));
  if (at.shots) await page.screenshot({ path: `${at.shots}/firefox-${name}.png` });
  await context.close();
  return [name, wrong];
}

const at = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({
  browser: "firefox", protocol: "webDriverBiDi", executablePath: at.firefox, headless: true,
  // Firefox ESR 140 doesn't know all that Puppeteer asks of it to set a viewport.
  defaultViewport: null, args: ["--width=1280", "--height=900"],
});
try {
  const found = [];
  for (const path of Object.entries(paths)) found.push(await walked(browser, at, path));
  console.log(JSON.stringify(Object.fromEntries(found)));
} finally {
  await browser.close();
}
