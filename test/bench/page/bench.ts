// Tools for a measure of the page: the admin in a separate process on the demo's data, a browser, and a page whose
// module reports the duration of its steps.
import type pg from "pg";
import type { Browser, CDPSession, Page } from "playwright-core";
import type { Database } from "../../../src/database/database.ts";
import type { AdminProcess } from "../admin/admin-process.ts";
import type { Line } from "../admin/measure.ts";

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

export interface Span {
  readonly name: string;
  readonly at: number;
  readonly ms: number;
}

/** Data that the page stores for the benchmark. */
export interface Watched {
  readonly spans: Span[];
  exports: WebAssembly.Exports;
  readonly longTasks: number[];
  firstNumber: number;
  /** Called after each step of the module. */
  told: ((name: string) => void) | null;
}

const SIZE = { width: 1440, height: 900 };

/** Opens a route in a new context, and measures the page's module. */
export async function openPage(browser: Browser, url: string, route: string): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.addInitScript(watchModule);
  await page.goto(`${url}#${route}`);
  return page;
}

/** Resolves when the page has drawn its first data and has opened the stream. */
export async function isThere(page: Page): Promise<void> {
  await page.locator("#page-title").waitFor();
  await page.waitForFunction(() => document.querySelector(".loading, .waiting") === null);
  await page.locator(".fresh:not(.late, .lost)").first().waitFor({ state: "attached" });
}

/** The durations of the module's steps since the last call, by draw. */
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

/** The page's objects and memory after a garbage collection. */
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

/** The browser's own counters, by their names. */
export async function metricsOf(session: CDPSession): Promise<(name: string) => number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (name) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
}

/** Runs in the page. It times the module's exports, long tasks, and the first number. */
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
    // The message arrives when the next frame is painted; the first visible frame takes longer.
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
