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

test("A database that answers and refuses in turn is told twice, and is back when that lasts.", () => {
  const { lines, clock, outage } = watched();
  for (let n = 0; n < 100; n++) {
    outage.lost("lanes", AWAY);
    clock.advance(20);
    outage.back("lanes");
    clock.advance(100);
  }
  const levels = () => lines.map(([level]) => level);
  assert.deepEqual(levels(), ["warn", "info", "warn"]);
  clock.advance(5_000);
  assert.deepEqual(levels(), ["warn", "info", "warn", "info"]);
  assert.deepEqual(lines[3]?.[1], { connections: ["lanes"], away_ms: 11_900 });
  clock.advance(60_000);
  outage.lost("lanes", AWAY);
  assert.deepEqual(levels().slice(4), ["warn"]);
});

test("Who is back for a moment only tries again later each time, whoever else gets through.", async () => {
  const { outage, clock } = watched();
  const stop = new AbortController();
  const pause = manualWait();
  const lengths: number[] = [];
  const work = async (succeeded: () => void) => {
    succeeded();
    throw AWAY;
  };
  void outage.retrying("lanes", work, { signal: stop.signal, wait: pause.wait });
  for (let round = 0; round < 20; round++) {
    await turn();
    await outage.reaching(() => Promise.reject(AWAY)).catch(() => {});
    await outage.reaching(async () => {});
    await turn();
    lengths.push(pause.waits[0] ?? 0);
    clock.advance(pause.waits[0] ?? 0);
    await pause.pass(() => true);
  }
  assert.ok(
    lengths.slice(8).every((ms) => ms >= 1_500),
    `${lengths}`,
  );
  stop.abort();
});

test("One that is lost again soon, however often, is asked as at first after each outage.", async () => {
  const { outage, clock } = watched();
  const stop = new AbortController();
  const pause = manualWait();
  const paused = async () => {
    await turn();
    const [ms = 0] = pause.waits;
    clock.advance(ms);
    await pause.pass(() => true);
    return ms;
  };
  for (let round = 0; round < 9; round++) {
    let isBack = false;
    const work = async (succeeded: () => void) => {
      if (!isBack) throw AWAY;
      succeeded();
    };
    const done = outage.retrying("lanes", work, { signal: stop.signal, wait: pause.wait });
    for (let awayMs = 0; awayMs < 50_000; ) {
      const ms = await paused();
      assert.ok(ms > 0 && ms <= 500, `${ms}`);
      awayMs += ms;
    }
    isBack = true;
    while (!(await Promise.race([done, paused().then(() => false)])));
    clock.advance(2_000);
  }
});

test("Those who pause try one after another, 0.4 s apart, after a minute 2 s, not in step.", async () => {
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

  // One by itself: its pauses grow to 0.4 s, in the end to 2 s, and a quarter more or less.
  const alone = watched();
  const pause = manualWait();
  const lengths: number[] = [];
  void alone.outage.retrying("alone", away, { signal: stop.signal, wait: pause.wait });
  for (let round = 0; round < 260; round++) {
    await pause.pass((ms) => lengths.push(ms) > 0);
    alone.clock.advance(lengths.at(-1) ?? 0);
    await turn();
  }
  const between = (least: number, most: number) => (ms: number) => ms >= least && ms <= most;
  assert.ok(lengths.slice(5, 60).every(between(300, 500)), `${lengths}`);
  assert.ok(lengths.slice(220).every(between(1_500, 2_500)), `${lengths}`);
  assert.equal(new Set(lengths).size, 260);
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
