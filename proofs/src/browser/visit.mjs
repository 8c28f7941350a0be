// Visits the pages of a service in a browser, as a person does, and prints what is wrong as JSON.

import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const [chromium, base, key, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const faults = [];
const codes = {};
const expect = (holds, fault) => { if (!holds) faults.push(fault); };
let looks = 0;

const DEVICES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844, isMobile: true, hasTouch: true } };
const PAGES = { start: "/", reference: "/docs", operation: "/docs/PutEntryV23", events: "/docs/events", missing: "/docs/nothing" };

mkdirSync(folder, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

async function open(device, scheme) {
  const page = await browser.newPage();
  await page.setViewport(device);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    expect(origin === base || protocol === "data:", `a page asked for ${request.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`the script failed: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("status of 4")) faults.push(`the console says: ${message.text()}`);
  });
  return page;
}

async function look(page, name) {
  looks += 1;
  // What is folded is looked at too, a phone's menu of operations among it.
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, nodes } of violations) faults.push(`${name}: axe: ${id}: ${nodes[0].html}`);
  const { width, wide } = await page.evaluate(() => ({ width: innerWidth, wide: document.documentElement.scrollWidth }));
  expect(wide <= width, `${name}: it is ${wide} pixels wide where the screen has ${width}`);
  await page.screenshot({ path: `${folder}/${name}.png` });
}

for (const [device, size] of Object.entries(DEVICES)) {
  for (const scheme of ["light", "dark"]) {
    const page = await open(size, scheme);
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(base + path, { waitUntil: "load" });
      await look(page, `${name}-${device}-${scheme}`);
    }
    await page.close();
  }
}

// By keyboard alone: find an operation, fill its form in, and send it.
const page = await open(DEVICES.desktop, "light");
await page.goto(`${base}/docs`, { waitUntil: "load" });
await page.keyboard.down("Control");
await page.keyboard.press("k");
await page.keyboard.up("Control");
await page.keyboard.type("page orders");
expect((await page.$eval("#found", (found) => found.textContent)).startsWith("1 of"), "the search does not find one operation");
await look(page, "search");
await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
expect(page.url() === `${base}/docs/GetOrderCollectionV23`, `the search leads to ${page.url()}`);
const answered = async () => {
  await page.waitForFunction(() => / in \d+ ms/.test(document.querySelector("#answered").textContent));
  return page.$eval("#answered", (answered) => answered.textContent);
};
await page.focus("#key");
await page.keyboard.press("Enter");
expect((await answered()).startsWith("401"), "a call without a key is not answered 401");
await page.focus("#key");
await page.keyboard.type(key);
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.querySelector("#answered").textContent.startsWith("200"));
expect((await page.$eval("#answered-body", (body) => body.textContent)).includes('"data": ['), "the answer is not shown");
await look(page, "answer");
await page.click("input[name=format][value$=xml]");
await page.click("[type=submit]");
await page.waitForFunction(() => document.querySelector("#answered-body").textContent.startsWith("<?xml"));
for (const [language, word] of [["curl", "curl -X GET"], ["python", "requests.request"], ["typescript", "await fetch"]]) {
  await page.click(`#tab-${language}`);
  const code = await page.$eval("#made", (made) => made.textContent);
  expect(code.includes(word) && code.includes("v2.3+xml") && !code.includes(key), `the code in ${language} is ${code}`);
  codes[language] = code;
}
await page.click("#theme");
expect(await page.$eval("html", (html) => html.dataset.theme === "dark"), "the theme does not change");

// What is kept in the tab goes on to the next operation; a path is filled in.
await page.goto(`${base}/docs/GetEntryV23`, { waitUntil: "load" });
await page.type("#path-slug", "NoEntryA");
await page.click("[type=submit]");
expect((await answered()).startsWith("404"), "a call of a record that is not there is not answered 404");

await browser.close();
console.log(JSON.stringify({ looks, faults, codes }));
