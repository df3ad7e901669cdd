// The documentation's site as it is built: every link leads to a page of it, and its search works in a
// browser from a file, without any server.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { buildSite } from "../../site/site.ts";
import { root } from "./pages.ts";

const out = mkdtempSync(join(tmpdir(), "worker-site-"));
let browser: Browser | undefined;
before(() => buildSite(root, out));
after(async () => {
  await browser?.close();
  rmSync(out, { recursive: true, force: true });
});

const names = () => readdirSync(out, { recursive: true, encoding: "utf8" });
const read = (name: string) => readFileSync(join(out, name), "utf8");

test("Every link and every file that a page of the site names is in the site.", () => {
  const pages = names().filter((name) => name.endsWith(".html"));
  assert.ok(pages.length > 40);
  const anchors = new Map(
    pages.map((name) => [
      name,
      new Set([...read(name).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const files = new Set(names());
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/<(?:a|link|script|img)[^>]* (?:href|src)="([^"]*)"/g)].flatMap(
      ([, href = ""]) => {
        if (/^https?:/.test(href)) return [];
        const [path = "", anchor = ""] = decodeURI(href).split("#");
        const target = path === "" ? page : normalize(join(dirname(page), path));
        const isThere = files.has(target) && (anchor === "" || anchors.get(target)?.has(anchor));
        return isThere ? [] : [`${page}: ${href}`];
      },
    ),
  );
  assert.deepEqual(broken, []);
});

test("Built twice it is the same, byte for byte.", async () => {
  const again = mkdtempSync(join(tmpdir(), "worker-site-again-"));
  try {
    await buildSite(root, again);
    for (const name of names().filter((one) => one.includes("."))) {
      assert.ok(readFileSync(join(again, name), "utf8") === read(name), name);
    }
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
});

test("From a file, offline, its search finds a word, an option and an event, and leads there.", async () => {
  browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  await page.goto(pathToFileURL(join(out, "reference/library.html")).href);
  const found = page.locator("#found a");
  for (const [typed, heading] of [
    ["rehears", "Operations by query"],
    ["--with-indexes", "worker migrate"],
    ["job:settled", "WorkerEvents"],
  ] as const) {
    await page.keyboard.press("Escape");
    await page.locator("#search").fill(typed);
    await found.filter({ hasText: heading }).first().waitFor();
  }
  await page.locator("#search").fill("poison nobody has written of this");
  await page.getByText("Nothing is found.").waitFor();
  await page.locator("#search").fill("kills its workers");
  await found.filter({ hasText: "A job kills its workers" }).click();
  await page.waitForURL(/\/operate\.html#a-job-kills-its-workers$/);
  assert.deepEqual(errors, []);
});
