// The wake-ups of an idle worker, with a manual clock.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Wakeups } from "../../src/worker/fetch/wakeups.ts";
import { manualClock } from "../support/manual-clock.ts";

const POLL_MS = 2_000;

function idle(
  nextRunAt: () => Promise<number | null> = async () => null,
  pollIntervalMs = POLL_MS,
) {
  const clock = manualClock();
  const requests: number[] = [];
  let woken = 0;
  const wakeups = new Wakeups({
    clock,
    pollIntervalMs,
    wake: () => void woken++,
  });
  wakeups.start();
  const sleep = (atSeconds: number) =>
    wakeups.sleep(atSeconds, (sinceSeconds) => {
      requests.push(sinceSeconds);
      return nextRunAt();
    });
  return { clock, wakeups, sleep, requests, woken: () => woken };
}

describe("A worker", () => {
  test("is woken once in each poll interval.", () => {
    const { clock, woken } = idle();
    clock.advance(POLL_MS - 1);
    assert.equal(woken(), 0);
    clock.advance(1);
    assert.equal(woken(), 1);
    clock.advance(3 * POLL_MS);
    assert.equal(woken(), 4);
  });

  test("sends no quick fetch when a pause of jobs has ended.", () => {
    const counts: number[] = [];
    const wake = (count: number) => void counts.push(count);
    const wakeups = new Wakeups({ clock: manualClock(), pollIntervalMs: POLL_MS, wake });
    wakeups.jobsAnnounced('{"r":0.1,"count":7}');
    wakeups.jobsAnnounced('{"r":0.2,"count":1,"resumed":true}');
    assert.deepEqual(counts, [7, 0]);
  });

  test("that finds no ready job sleeps until the next job becomes due.", async () => {
    const { clock, sleep, requests, woken } = idle(async () => 700);
    sleep(100);
    clock.advance(15);
    await turn();
    assert.deepEqual(requests, [99.95]);
    assert.equal(clock.nextMs, 700);
    clock.advance(700);
    assert.equal(woken(), 1);
  });

  test("reads the next due time only if no other fetch follows within 15 ms.", () => {
    const { clock, sleep, requests } = idle();
    for (let at = 0; at < 20; at++) {
      sleep(at);
      clock.advance(10);
    }
    assert.deepEqual(requests, []);
    clock.advance(5);
    assert.equal(requests.length, 1);
  });

  test("sleeps no longer than a poll interval, and never less than a millisecond.", async () => {
    for (const [nextMs, sleepMs] of [
      [86_400_000, POLL_MS],
      [-5, 1],
      [null, POLL_MS],
    ] as const) {
      const { clock, sleep } = idle(async () => nextMs);
      sleep(0);
      clock.advance(15);
      await turn();
      assert.equal(clock.nextMs, sleepMs);
    }
  });

  test("ignores the answer to an earlier query for the next due time.", async () => {
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    let requests = 0;
    const { clock, sleep } = idle(() => answers[requests++]?.promise ?? Promise.resolve(null));
    sleep(0);
    clock.advance(15);
    sleep(1);
    answers[0]?.resolve(1);
    await turn();
    assert.equal(clock.nextMs, 15);
  });

  test("is woken after the poll interval if the database is unreachable.", async () => {
    const { clock, sleep, woken } = idle(() => Promise.reject(new Error("away")));
    sleep(0);
    clock.advance(15);
    await turn();
    clock.advance(POLL_MS);
    assert.equal(woken(), 1);
  });

  test("that has stopped is not woken by polls or due jobs, and sends no query.", async () => {
    const { clock, wakeups, sleep, woken } = idle();
    wakeups.stop();
    sleep(0);
    assert.equal(clock.nextMs, null);
    clock.advance(10 * POLL_MS);
    assert.equal(woken(), 0);
  });
});
