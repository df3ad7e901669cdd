// Tools for the measures of the page. A script in the page records the page's steps: the calls of six functions of the
// WebAssembly module, such as dispatch() and render().
import type pg from "pg";
import type { Browser, CDPSession, Page } from "playwright-core";
import type { Database } from "../../../src/database/database.ts";
import type { AdminProcess } from "../admin/admin-process.ts";
import type { Line } from "../admin/measure.ts";

/** An admin in a separate process, and the admin's database with the demo's data. */
export interface PageBench {
  /** The admin's URL. */
  readonly url: string;
  readonly port: number;
  readonly admin: AdminProcess;
  readonly connectionString: string;
  readonly database: Database;
  readonly db: pg.Client;
  /** Starts a browser with an empty cache. */
  launch(...options: readonly string[]): Promise<Browser>;
}

export interface PageMeasure {
  readonly name: string;
  readonly run: (bench: PageBench) => Promise<readonly Line[]>;
}

/** A step: its start in ms after the start of the navigation, and its duration in ms. */
export interface Span {
  readonly name: string;
  readonly at: number;
  readonly ms: number;
}

/** What `watchModule` records in the page, in the global variable `watched`. */
export interface Watched {
  readonly spans: Span[];
  exports: WebAssembly.Exports;
  readonly longTasks: number[];
  /** When the overview's first number was painted, in ms after the start of the navigation; 0: not yet. */
  firstNumber: number;
  /** Called after each step. */
  told: ((name: string) => void) | null;
}

const SIZE = { width: 1440, height: 900 };

/** Opens a route in a new browser context, in which `watchModule` records the page's steps. */
export async function openPage(browser: Browser, url: string, route: string): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.addInitScript(watchModule);
  await page.goto(`${url}#${route}`);
  return page;
}

/** Resolves when the page has drawn its first data and shows that the data are up to date. */
export async function isThere(page: Page): Promise<void> {
  await page.locator("#page-title").waitFor();
  await page.waitForFunction(() => document.querySelector(".loading, .waiting") === null);
  await page.locator(".fresh:not(.late, .lost)").first().waitFor({ state: "attached" });
}

/** Returns the total duration of the steps of each draw since the last call, in ms. */
export async function drawsOf(page: Page): Promise<number[]> {
  const spans = await page.evaluate(() =>
    (globalThis as unknown as { watched: Watched }).watched.spans.splice(0),
  );
  const draws: number[] = [];
  let sum = 0;
  for (const { name, ms } of spans) {
    sum += ms;
    // Garbage collection is the last step of each draw.
    if (name !== "__collect") continue;
    draws.push(sum);
    sum = 0;
  }
  return draws;
}

export interface Counters {
  readonly nodes: number;
  readonly listeners: number;
  readonly heap_mb: number;
  readonly wasm_mb: number;
}

/** Collects garbage, and returns the page's counters. `heap_mb` and `wasm_mb` (the module's memory) are in MiB. */
export async function countersOf(page: Page, session: CDPSession): Promise<Counters> {
  await session.send("HeapProfiler.collectGarbage");
  const metrics = await metricsOf(session);
  const bytes = await page.evaluate(() => {
    const { exports } = (globalThis as unknown as { watched: Watched }).watched;
    return (exports["memory"] as WebAssembly.Memory).buffer.byteLength;
  });
  return {
    nodes: metrics("Nodes"),
    listeners: metrics("JSEventListeners"),
    heap_mb: metrics("JSHeapUsedSize") / 2 ** 20,
    wasm_mb: bytes / 2 ** 20,
  };
}

/** Reads the page's metrics. The returned function returns NaN for an unknown name. */
export async function metricsOf(session: CDPSession): Promise<(name: string) => number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (name) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
}

/** Runs in the page before the page's own scripts. */
function watchModule(): void {
  const instantiate = WebAssembly.instantiate as (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ) => Promise<WebAssembly.Instance>;
  const watched: Watched = {
    ...{ spans: [], exports: {}, longTasks: [], firstNumber: 0, told: null },
  };
  const timed =
    (name: string, call: (...given: unknown[]) => unknown) =>
    (...given: unknown[]) => {
      const at = performance.now();
      const result = call(...given);
      watched.spans.push({ name, at, ms: performance.now() - at });
      watched.told?.(name);
      return result;
    };
  const watching = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    const { exports } = await instantiate(module, imports);
    watched.exports = exports;
    const names = ["dispatch", "onTimer", "onAnswer", "onEvent", "render", "__collect"];
    const calls = names.map((name) => [name, timed(name, exports[name] as () => unknown)]);
    return { exports: { ...exports, ...Object.fromEntries(calls) } };
  };
  Object.assign(WebAssembly, { instantiate: watching });
  Object.assign(globalThis, { watched });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) watched.longTasks.push(entry.duration);
  }).observe({ type: "longtask", buffered: true });
  const observer = new MutationObserver(() => {
    if (!/\d/.test(document.querySelector(".nums .v")?.textContent ?? "")) return;
    observer.disconnect();
    // A message that is sent in a frame's callback arrives after that frame was drawn. The browser shows no frame
    // before the first contentful paint.
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const drawn = performance.now();
        new PerformanceObserver((list) => {
          const [seen] = list.getEntriesByName("first-contentful-paint");
          if (seen) watched.firstNumber = Math.max(drawn, seen.startTime);
        }).observe({ type: "paint", buffered: true });
      };
      port2.postMessage(null);
    });
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true });
}
