// Uses the interface from a page of another origin, and prints what came of it as JSON.

import { createServer } from "node:http";
import puppeteer from "puppeteer-core";

const [chromium, port, base, key, entry] = process.argv.slice(2);
const server = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!DOCTYPE html><title>A page</title>"));
await new Promise((listening) => server.listen(Number(port), "localhost", listening));
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage();
await page.goto(`http://localhost:${port}/`, { waitUntil: "load" });

const seen = await page.evaluate(async (base, key, entry) => {
  const accept = "application/vnd.service.v2.3+json";
  const headers = { accept, "x-api-key": key };
  const step = async (work) => {
    try {
      return (await work()) ? "done" : "wrong";
    } catch (error) {
      return error instanceof TypeError ? "refused" : String(error);
    }
  };
  const send = (path, options = {}) => fetch(base + path, { ...options, headers: { ...headers, ...options.headers } });
  let tag = null;
  return {
    read: await step(async () => {
      const answer = await send(entry);
      tag = answer.headers.get("etag");
      return answer.status === 200 && tag && answer.headers.get("x-request-id") && (await answer.json()).slug;
    }),
    // What was read compressed is changed under the tag that it had.
    changed: await step(async () => {
      const change = { method: "PUT", body: "{}", headers: { "content-type": "application/json", "if-match": tag ?? "*", "idempotency-key": "page" } };
      return (await send(entry, change)).status === 200;
    }),
    faults: await step(async () => {
      const change = { method: "PUT", body: '{"title":1}', headers: { "content-type": "application/json" } };
      const answer = await send(entry, change);
      return answer.status === 422 && Object.keys((await answer.json()).errors).length > 0;
    }),
    listed: await step(async () => {
      const answer = await send("/order?per_page=100");
      return answer.headers.get("x-ratelimit-remaining") && (await answer.json()).data.length > 0;
    }),
  };
}, base, key, entry);

console.log(JSON.stringify(seen));
await browser.close();
server.close();
