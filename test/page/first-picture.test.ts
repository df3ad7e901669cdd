// The first picture, which comes with the page: seen before the client has been loaded, and the same as what
// the client draws in its place.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page, Route } from "playwright-core";
import { isLive, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

/** Keeps the client from being loaded until it may. */
function heldBack() {
  let release = () => {};
  const mayLoad = new Promise<void>((resolve) => {
    release = resolve;
  });
  const prepare = (page: Page) =>
    page.route("**/admin_ui_bg.wasm", async (route: Route) => {
      await mayLoad;
      await route.continue();
    });
  return { prepare, release };
}

/** Opens the page anew until the picture came with it: a cold server keeps nobody waiting. */
async function showsPicture(page: Page): Promise<void> {
  while ((await page.locator("#app .nums").count()) === 0) {
    await page.locator("#app p.starting").waitFor({ state: "attached" });
    await page.reload();
  }
}

for (const width of [1440, 1024, 390]) {
  test(`At ${width} px the picture is the page that the client draws in its place.`, async () => {
    const { prepare, release } = heldBack();
    const work = async ({ page }: { page: Page }) => {
      await showsPicture(page);
      const pictured = await page.evaluate(outline);
      assert.match(pictured.numbers, /^\d+ \d+ \d+ \d+ \d+ \d+$/);
      await page.evaluate(watchNumbers);
      release();
      await isLive(page);
      const drawn = await page.evaluate(outline);
      assert.equal(pictured.numbers, drawn.numbers);
      assert.deepEqual(pictured.elements, drawn.elements);
      const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
      assert.deepEqual([...new Set(seen)], [drawn.numbers], "nothing else was there between");
    };
    await visit(admin, "/", work, { isPicture: true, prepare, viewport: { width, height: 900 } });
  });
}

test("It has no time of a clock in it: whose that would be only the browser knows.", async () => {
  const { prepare, release } = heldBack();
  const work = async ({ page }: { page: Page }) => {
    await showsPicture(page);
    const seen = () => page.locator("#app").innerText();
    assert.doesNotMatch(await seen(), /\d\d:\d\d/);
    release();
    await isLive(page);
    assert.match(await seen(), /since \d\d:\d\d:\d\d/);
  };
  await visit(admin, "/", work, { isPicture: true, prepare, timezoneId: "Asia/Kolkata" });
});

test("Where nothing takes its place it is gone after ten seconds: it would say Live.", async () => {
  const { prepare } = heldBack();
  const work = async ({ page }: { page: Page }) => {
    await showsPicture(page);
    const numbers = page.locator("#app .nums");
    assert.ok(await numbers.isVisible());
    const waits = await page.evaluate(() => {
      const [end] = (document.getElementById("app") as HTMLElement).getAnimations();
      const { delay } = end?.effect?.getTiming() ?? {};
      end?.finish();
      return delay;
    });
    assert.equal(waits, 10_000);
    assert.equal(await numbers.isVisible(), false);
  };
  await visit(admin, "/", work, { isPicture: true, prepare });
});

test("It is shown in the theme that was chosen here, and not on another page.", async () => {
  const { prepare, release } = heldBack();
  const work = async ({ page }: { page: Page }) => {
    await page.evaluate(() => localStorage.setItem("worker.theme", "dark"));
    await page.reload();
    await showsPicture(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset["theme"]), "dark");
    await page.goto("about:blank");
    await page.goto(`${admin.url}#/queues`);
    await page.locator("#app > *").first().waitFor({ state: "attached" });
    assert.equal(await page.locator("#app .nums").isVisible(), false);
    release();
    await turned(page, "Queues");
  };
  await visit(admin, "/", work, { isPicture: true, prepare });
});

/**
 * Runs in the page: what the six numbers say, and the elements of the page without what lists bring later and
 * what moves with the time.
 */
function outline() {
  const elements: string[] = [];
  const walk = (element: Element) => {
    // What only screen readers are given comes with the client.
    if (element.matches(".cols.a, .toasts, svg > *, .sr")) return;
    elements.push(`${element.tagName} ${element.getAttribute("class") ?? ""}`);
    for (const child of element.children) walk(child);
  };
  walk(document.querySelector("main") as Element);
  walk(document.querySelector(".side") as Element);
  const numbers = [...document.querySelectorAll(".nums .v")].map((one) => one.textContent);
  return { elements, numbers: numbers.join(" ") };
}

/** Runs in the page: keeps what the numbers say in every frame. */
function watchNumbers(): void {
  const seen: string[] = [];
  Object.assign(globalThis, { seen });
  const look = () => {
    const numbers = [...document.querySelectorAll(".nums .v")].map((one) => one.textContent);
    seen.push(numbers.join(" "));
    requestAnimationFrame(look);
  };
  look();
}
