// What connections that are lost together have in common: two lines of log, and one that tries at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../../src/base/logger.ts";
import { Outage } from "../../src/base/outage.ts";
import { manualClock } from "../support/manual-clock.ts";
import { manualWait } from "../support/manual-wait.ts";

function watched() {
  const lines: [level: string, fields: object][] = [];
  const says = (level: string) => (fields: object) => void lines.push([level, fields]);
  const logger: Logger = {
    debug: () => {},
    info: says("info"),
    warn: says("warn"),
    error: says("error"),
  };
  const clock = manualClock();
  return { lines, clock, outage: new Outage(logger, clock) };
}

const AWAY = new Error("nobody there");
const turn = () => new Promise(setImmediate);

test("An outage is told when the first connection is lost, and when the last is back.", () => {
  const { lines, clock, outage } = watched();
  outage.lost("heartbeat", AWAY);
  outage.lost("lanes", AWAY);
  outage.lost("lanes", AWAY);
  clock.advance(1_234);
  outage.back("heartbeat");
  outage.back("heartbeat");
  outage.back("never lost");
  assert.deepEqual(lines, [["warn", { connection: "heartbeat", error: "nobody there" }]]);
  outage.back("lanes");
  assert.deepEqual(lines[1], ["info", { connections: ["heartbeat", "lanes"], away_ms: 1_234 }]);
  outage.lost("lanes", AWAY);
  assert.equal(lines.length, 3);
});

test("One that lasts is told again after a minute, and then each time after twice as long.", () => {
  const { lines, clock, outage } = watched();
  outage.lost("lanes", AWAY);
  for (let second = 0; second < 300; second++) {
    clock.advance(1_000);
    outage.lost("lanes", AWAY);
  }
  const told = lines.map(([, fields]) => (fields as { away_ms?: number }).away_ms ?? 0);
  assert.deepEqual(told, [0, 60_000, 120_000, 240_000]);
  assert.ok(lines.every(([level]) => level === "warn"));
});

test("Those who pause try one after another, 2 s apart however long it lasts, not in step.", async () => {
  const { outage } = watched();
  const stop = new AbortController();
  const away = () => Promise.reject(AWAY);
  const pauses = new Set<number>();
  for (let who = 0; who < 40; who++) {
    const one = manualWait();
    void outage.retrying(`${who}`, away, { signal: stop.signal, wait: one.wait });
    await turn();
    pauses.add(Math.round(one.waits[0] ?? 0));
  }
  assert.deepEqual(
    [...pauses],
    [...pauses].toSorted((a, b) => a - b),
    "each behind the last",
  );
  assert.equal(pauses.size, 40, "none at the moment of another");

  // One by itself: its pauses grow to 2 s, and a quarter more or less.
  const alone = watched();
  const pause = manualWait();
  const lengths: number[] = [];
  void alone.outage.retrying("alone", away, { signal: stop.signal, wait: pause.wait });
  for (let round = 0; round < 30; round++) {
    await pause.pass((ms) => lengths.push(ms) > 0);
    alone.clock.advance(lengths.at(-1) ?? 0);
    await turn();
  }
  assert.ok(Math.max(...lengths) <= 2_500 && lengths.slice(10).every((ms) => ms >= 1_500));
  assert.equal(new Set(lengths).size, 30);
  stop.abort();
});

test("The first that gets through ends the pauses of all others, once.", async () => {
  const { outage } = watched();
  const { wait } = manualWait();
  const stop = new AbortController();
  let isThere = false;
  const tries: string[] = [];
  const connect = (who: string) => async () => {
    await outage.reaching(async () => {
      tries.push(who);
      if (!isThere) throw AWAY;
    });
    throw new Error("read-only");
  };
  const trials = { signal: stop.signal, wait };
  const all = ["a", "b", "c"].map((who) => outage.retrying(who, connect(who), trials));
  await turn();
  assert.deepEqual(tries, ["a", "b", "c"]);
  isThere = true;
  await outage.reaching(async () => {});
  await turn();
  // They reach it, and are refused: that must not make them wake each other again and again.
  assert.deepEqual(tries, ["a", "b", "c", "a", "b", "c"]);
  stop.abort();
  assert.deepEqual(await Promise.all(all), [false, false, false]);
});

test("Who ends while it is cut off is not waited for.", async () => {
  const { lines, outage } = watched();
  const { wait } = manualWait();
  const stop = new AbortController();
  outage.lost("lanes", AWAY);
  const ending = outage.retrying("gone", () => Promise.reject(AWAY), { signal: stop.signal, wait });
  await turn();
  stop.abort();
  await ending;
  outage.back("lanes");
  assert.deepEqual(lines.at(-1)?.[0], "info");
});
