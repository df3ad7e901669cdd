// Tests base/clock.ts, the only source that uses Node's timers, `Date.now()`, `performance` and `process.hrtime`. A
// delay may be longer than the maximum of Node's timers, and a measured time includes the time for which the machine
// was suspended.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import {
  MAX_TIMER_MS,
  momentNow,
  msSince,
  setInterval,
  setTimeout,
  timeoutSignal,
  wait,
} from "../../src/base/clock.ts";
import { get } from "../../src/http/get.ts";
import { waitForJob } from "../../src/worker/testing.ts";

const MONTH_MS = 30 * 86_400_000;
const root = join(import.meta.dirname, "../../src");
const GLOBALS =
  /(?<![.\w"])(setTimeout|setInterval|setImmediate|clearTimeout|clearInterval|clearImmediate|queueMicrotask)\(/g;
const CLOCKS = /\b(Date\.now\(|performance\.|process\.hrtime|AbortSignal\.timeout|node:timers)/;

test("No source but base/clock.ts uses global timers, Date.now(), performance or process.hrtime.", () => {
  const found = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "base/clock.ts")
    .flatMap((name) => {
      const text = readFileSync(join(root, name), "utf8");
      const [, imported = ""] =
        /import \{([^}]*)\} from "[./]+(?:base\/)?clock\.ts"/.exec(text) ?? [];
      const taken = imported.split(",").map((one) => one.trim());
      const used = Array.from(text.matchAll(GLOBALS), ([, one = ""]) => one);
      const missing = used.filter((one) => !taken.includes(one));
      return [...missing, ...(CLOCKS.exec(text) ?? [])].map((one) => `${name}: ${one}`);
    });
  assert.deepEqual(found, []);
});

test("A measured time includes a suspension of the machine, and is no shorter after the clock was set back.", () => {
  const [monotonicUs, epochMs] = momentNow();
  const HOUR_MS = 3_600_000n;
  const suspended = msSince([monotonicUs, epochMs - HOUR_MS]);
  const setBack = msSince([monotonicUs - HOUR_MS * 1_000n, epochMs + HOUR_MS]);
  for (const ms of [suspended, setBack]) assert.ok(ms >= Number(HOUR_MS));
});

test("A delay beyond a timer's maximum does not end at once.", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const fired: string[] = [];
  const timers = [
    setTimeout(() => fired.push("timeout"), MONTH_MS),
    setInterval(() => fired.push("interval"), Number.POSITIVE_INFINITY),
  ];
  const stop = new AbortController();
  const waits = [MONTH_MS, MAX_TIMER_MS + 1, Number.POSITIVE_INFINITY].map((ms) =>
    wait(ms, stop.signal),
  );
  const late = timeoutSignal(MONTH_MS);
  assert.equal(await wait(30, new AbortController().signal), true);
  assert.deepEqual([fired, late.aborted, warnings], [[], false, []]);
  stop.abort();
  assert.deepEqual(await Promise.all(waits), [false, false, false]);
  for (const timer of timers) timer.close();
  process.off("warning", onWarning);
});

test("A negative delay ends at once, without a warning from Node.", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, -361.5);
  await promise;
  assert.equal(await wait(-1, new AbortController().signal), true);
  assert.equal(timeoutSignal(-5) instanceof AbortSignal, true);
  await wait(1, new AbortController().signal);
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("waitForJob() accepts any timeout that is not negative, even one beyond a timer's maximum.", async () => {
  for (const timeoutMs of [MONTH_MS, Number.POSITIVE_INFINITY]) {
    let reads = 0;
    const getJob = async () => (++reads < 4 ? ({ state: "ready" } as never) : null);
    assert.equal(await waitForJob({ getJob }, "1", { timeoutMs }), "finished");
  }
  const getJob = async () => ({ state: "ready" }) as never;
  await assert.rejects(waitForJob({ getJob }, "1", { timeoutMs: 20 }), { code: "timeout" });
  for (const timeoutMs of [Number.NaN, -1, "5s" as never]) {
    await assert.rejects(waitForJob({ getJob }, "1", { timeoutMs }), { code: "bad_input" });
  }
});

test("A request to a server may have a timeout of a month.", async () => {
  await using server = http.createServer((_, response) => {
    setTimeout(() => response.end("{}"), 20);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const answer = await get(url, { timeoutMs: MONTH_MS, trustsAnyCertificate: false });
  assert.equal(answer.status, 200);
});
