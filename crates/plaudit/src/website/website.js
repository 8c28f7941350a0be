"use strict";
// Search, the theme, calls and code. Pages can be read without it.

const root = new URL(document.body.dataset.root || ".", location.href);
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
/** What is kept may be refused, as in private windows of some browsers. */
const kept = (storage, name, value) => {
  try {
    if (value === undefined) return window[storage].getItem(name) ?? "";
    window[storage].setItem(name, value);
  } catch {}
  return "";
};

function theme() {
  const button = find("#theme");
  const isDark = () =>
    (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  const chosen = kept("localStorage", "theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    kept("localStorage", "theme", document.documentElement.dataset.theme);
    show();
  });
  show();
}

function search() {
  const input = find("#search");
  if (!input) return;
  const menu = find("#menu");
  const operations = all("#operations li");
  menu.hidden = false;
  find("#finding").hidden = false;
  const open = (isOpen) => menu.setAttribute("aria-expanded", String(isOpen));
  menu.addEventListener("click", () => open(menu.getAttribute("aria-expanded") !== "true"));
  const shown = () => operations.filter((operation) => !operation.hidden);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const operation of operations) operation.hidden = !words.every((word) => operation.dataset.words.includes(word));
    for (const group of all("#operations .group")) group.hidden = !group.querySelector("li:not([hidden])");
    find("#found").textContent = words.length ? `${shown().length} of ${operations.length}` : "";
  });
  input.addEventListener("keydown", (event) => {
    const first = shown()[0]?.querySelector("a");
    if (event.key === "Enter" && first && input.value.trim()) first.click();
    if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    if (event.key === "Escape") { input.value = ""; input.dispatchEvent(new Event("input")); }
  });
  find("#operations").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = shown().map((operation) => operation.querySelector("a"));
    const place = links.indexOf(document.activeElement);
    if (!step || place < 0) return;
    event.preventDefault();
    (links[place + step] ?? input).focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    open(true);
    input.focus();
  });
  find("#operations [aria-current]")?.scrollIntoView({ block: "center" });
  scrollTo(0, 0);
}

/** The request that is filled in. */
function request(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {
    Accept: form.dataset.stream === undefined ? form.elements.format.value : "text/event-stream",
    "x-api-key": find("#key").value,
  };
  for (const field of form.querySelectorAll("[data-in]")) {
    const { in: place, name } = field.dataset;
    if (place === "path") path = path.replace(`{${name}}`, field.value ? encodeURIComponent(field.value) : `{${name}}`);
    else if (field.value === "") continue;
    else if (place === "query") query.append(name, field.value);
    else headers[name] = field.value;
  }
  const body = find("#sent")?.value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const url = new URL(path.slice(1), root);
  url.search = query;
  return { method: form.dataset.method, url: url.href, headers, body, isStream: form.dataset.stream !== undefined };
}

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const lines = (headers, indent) => Object.entries(headers).map(([name, value]) => `${indent}${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join("");

/** A request as code; the key is left to whoever runs it. */
const LANGUAGES = {
  curl: ({ method, url, headers, body, isStream }) => {
    const parts = [`curl ${isStream ? "-N " : ""}-X ${method} ${shell(url)}`];
    for (const [name, value] of Object.entries(headers)) {
      parts.push(name === "x-api-key" ? `-H "x-api-key: $PLAUDIT_KEY"` : `-H ${shell(`${name}: ${value}`)}`);
    }
    if (body !== undefined) parts.push(`--data-raw ${shell(body)}`);
    return parts.join(" \\\n  ");
  },
  python: ({ method, url, headers, body, isStream }) => {
    const { "x-api-key": _, ...others } = headers;
    const data = body === undefined ? "" : `    data=${JSON.stringify(body)}.encode(),\n`;
    return `import os

import requests

response = requests.request(
    ${JSON.stringify(method)},
    ${JSON.stringify(url)},
    headers={
        "x-api-key": os.environ["PLAUDIT_KEY"],
${lines(others, "        ")}    },
${data}${isStream ? "    stream=True,\n" : ""})
${isStream ? "for line in response.iter_lines():\n    print(line.decode())" : "print(response.status_code, response.text)"}`;
  },
  typescript: ({ method, url, headers, body, isStream }) => {
    const { "x-api-key": _, ...others } = headers;
    const data = body === undefined ? "" : `  body: ${JSON.stringify(body)},\n`;
    return `const response = await fetch(${JSON.stringify(url)}, {
  method: ${JSON.stringify(method)},
  headers: {
    "x-api-key": process.env.PLAUDIT_KEY!,
${lines(others, "    ")}  },
${data}});
${isStream ? "for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) console.log(piece);" : "console.log(response.status, await response.text());"}`;
  },
};

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.replaceAll("><", ">\n<");
  }
};

/** The most of an answer that is shown. */
const SHOWN = 500_000;

/** The text of an answer; of a stream, what comes at first. */
async function read(response, isStream) {
  if (!isStream || !response.ok) return response.text();
  const reader = response.body.getReader();
  const { value } = await reader.read();
  reader.cancel();
  return new TextDecoder().decode(value);
}

function calls() {
  const form = find("#call");
  if (!form) return;
  form.hidden = false;
  find("#code").hidden = false;
  const key = find("#key");
  key.value = kept("sessionStorage", "key");
  const tabs = all("[role=tab]");
  let language = "curl";
  const show = () => { find("#made").textContent = LANGUAGES[language](request(form)); };
  const choose = (tab) => {
    language = tab.dataset.language;
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    find("#panel").setAttribute("aria-labelledby", tab.id);
    show();
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      choose(next);
    });
  }
  form.addEventListener("input", () => {
    kept("sessionStorage", "key", key.value);
    show();
  });
  const copy = find("#copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(find("#made").textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(find("#made"));
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { method, url, headers, body } = request(form);
    const send = form.querySelector("[type=submit]");
    send.disabled = true;
    find("#answer").hidden = false;
    find("#answered").textContent = "Waiting for the answer…";
    find("#answered-body").textContent = "";
    const begun = performance.now();
    try {
      const response = await fetch(url, { method, headers, body, redirect: "manual" });
      const text = pretty(await read(response, form.dataset.stream !== undefined));
      const lasted = Math.round(performance.now() - begun);
      const rest = response.headers.get("X-RateLimit-Remaining");
      find("#answered").textContent = `${response.status} ${response.statusText} in ${lasted} ms${rest ? `; ${rest} requests left` : ""}`;
      find("#answered-body").textContent = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n… ${text.length - SHOWN} more characters` : text || "(no body)";
    } catch (error) {
      find("#answered").textContent = `No answer: ${error.message}`;
    }
    send.disabled = false;
    find("#answer").focus();
  });
  show();
}

for (const first of all("[data-first]")) first.textContent = first.textContent.replace("http://127.0.0.1:8080", root.href.replace(/\/$/, ""));
theme();
search();
calls();
