// Tests when outages are logged, and how long lost connections pause between their attempts to connect.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../../src/base/logger.ts";
import { Outage } from "../../src/base/outage.ts";
import { manualClock } from "../support/manual-clock.ts";
import { manualWait } from "../support/manual-wait.ts";

function watched() {
  const lines: [level: string, fields: object][] = [];
  const record = (level: string) => (fields: object) => void lines.push([level, fields]);
  const logger: Logger = {
    debug: () => {},
    info: record("info"),
    warn: record("warn"),
    error: record("error"),
  };
  const clock = manualClock();
  return { lines, clock, outage: new Outage(logger, clock) };
}

const AWAY = new Error("connection refused");
const turn = () => new Promise(setImmediate);

test("An outage is logged when the first connection is lost, and when the last is back.", () => {
  const { lines, clock, outage } = watched();
  outage.reportLost("heartbeat", AWAY);
  outage.reportLost("lanes", AWAY);
  outage.reportLost("lanes", AWAY);
  clock.advance(1_234);
  outage.reportBack("heartbeat");
  outage.reportBack("heartbeat");
  outage.reportBack("never lost");
  assert.deepEqual(lines, [["warn", { connection: "heartbeat", error: "connection refused" }]]);
  outage.reportBack("lanes");
  assert.deepEqual(lines[1], ["info", { connections: ["heartbeat", "lanes"], away_ms: 1_234 }]);
  outage.reportLost("lanes", AWAY);
  assert.equal(lines.length, 3);
});

test("If the only lost connection closes, the outage ends when the next connection of the same name works.", async () => {
  const { lines, outage } = watched();
  const old = new AbortController();
  const next = new AbortController();
  // A worker that has lost its lease may have two connections of one name: one of its old and one of its new session.
  const ended = outage.runWithRetries("jobs", () => Promise.reject(AWAY), {
    signal: old.signal,
    wait: manualWait().wait,
  });
  await turn();
  assert.equal(lines.length, 1);
  old.abort();
  await ended;
  await outage.runWithRetries("jobs", async (succeeded) => succeeded(), { signal: next.signal });
  assert.deepEqual(lines[1], ["info", { connections: ["jobs"], away_ms: 0 }]);
  outage.reportBack("jobs");
  assert.equal(lines.length, 2);
});

test("A lasting outage is logged again after a minute, and then each time that its duration has doubled.", () => {
  const { lines, clock, outage } = watched();
  outage.reportLost("lanes", AWAY);
  for (let second = 0; second < 300; second++) {
    clock.advance(1_000);
    outage.reportLost("lanes", AWAY);
  }
  const awayMs = lines.map(([, fields]) => (fields as { away_ms?: number }).away_ms ?? 0);
  assert.deepEqual(awayMs, [0, 60_000, 120_000, 240_000]);
  assert.ok(lines.every(([level]) => level === "warn"));
});

test("If a connection is lost and comes back many times within 12 s, three lines are logged, and a fourth 5 s after its last return.", () => {
  const { lines, clock, outage } = watched();
  for (let n = 0; n < 100; n++) {
    outage.reportLost("lanes", AWAY);
    clock.advance(20);
    outage.reportBack("lanes");
    clock.advance(100);
  }
  const levels = () => lines.map(([level]) => level);
  assert.deepEqual(levels(), ["warn", "info", "warn"]);
  clock.advance(5_000);
  assert.deepEqual(levels(), ["warn", "info", "warn", "info"]);
  assert.deepEqual(lines[3]?.[1], { connections: ["lanes"], away_ms: 11_900 });
  clock.advance(60_000);
  outage.reportLost("lanes", AWAY);
  assert.deepEqual(levels().slice(4), ["warn"]);
});

test("If a connection fails soon after each return, its pauses get longer, even if other connections succeed.", async () => {
  const { outage, clock } = watched();
  const stop = new AbortController();
  const pause = manualWait();
  const lengths: number[] = [];
  const work = async (succeeded: () => void) => {
    succeeded();
    throw AWAY;
  };
  void outage.runWithRetries("lanes", work, { signal: stop.signal, wait: pause.wait });
  for (let round = 0; round < 20; round++) {
    await turn();
    await outage.tryConnect(() => Promise.reject(AWAY)).catch(() => {});
    await outage.tryConnect(async () => {});
    await turn();
    lengths.push(pause.waits[0] ?? 0);
    clock.advance(pause.waits[0] ?? 0);
    await pause.pass(() => true);
  }
  assert.ok(
    lengths.slice(8).every((ms) => ms >= 1_500),
    `the pauses are ${lengths} ms`,
  );
  stop.abort();
});

test("After an outage, a connection starts with short pauses again, however often it was lost before.", async () => {
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
    const done = outage.runWithRetries("lanes", work, { signal: stop.signal, wait: pause.wait });
    for (let awayMs = 0; awayMs < 50_000; ) {
      const ms = await paused();
      assert.ok(ms > 0 && ms <= 500, `a pause lasts ${ms} ms`);
      awayMs += ms;
    }
    isBack = true;
    while (!(await Promise.race([done, paused().then(() => false)])));
    clock.advance(2_000);
  }
});

test("Lost connections retry one at a time: at most 0.5 s apart in the first minute, and then at most 2.5 s apart.", async () => {
  const { outage } = watched();
  const stop = new AbortController();
  const away = () => Promise.reject(AWAY);
  const pauses = new Set<number>();
  for (let connection = 0; connection < 40; connection++) {
    const one = manualWait();
    void outage.runWithRetries(`${connection}`, away, { signal: stop.signal, wait: one.wait });
    await turn();
    pauses.add(Math.round(one.waits[0] ?? 0));
  }
  assert.deepEqual(
    [...pauses],
    [...pauses].toSorted((a, b) => a - b),
    "the pause of each connection is longer than the previous pause",
  );
  assert.equal(pauses.size, 40, "no two connections have the same pause");

  // The pauses of a single connection grow to 0.4 s, and after a minute of outage to 2 s, each ± 25 %.
  const alone = watched();
  const pause = manualWait();
  const lengths: number[] = [];
  void alone.outage.runWithRetries("alone", away, { signal: stop.signal, wait: pause.wait });
  for (let round = 0; round < 260; round++) {
    await pause.pass((ms) => lengths.push(ms) > 0);
    alone.clock.advance(lengths.at(-1) ?? 0);
    await turn();
  }
  const between = (least: number, most: number) => (ms: number) => ms >= least && ms <= most;
  assert.ok(lengths.slice(5, 60).every(between(300, 500)), `the pauses are ${lengths} ms`);
  assert.ok(lengths.slice(220).every(between(1_500, 2_500)), `the pauses are ${lengths} ms`);
  assert.equal(new Set(lengths).size, 260);
  stop.abort();
});

test("The first successful connect of any connection ends the pauses of all connections; later successful connects do not end pauses again.", async () => {
  const { outage } = watched();
  const { wait } = manualWait();
  const stop = new AbortController();
  let isThere = false;
  const attempts: string[] = [];
  const connect = (connection: string) => async () => {
    await outage.tryConnect(async () => {
      attempts.push(connection);
      if (!isThere) throw AWAY;
    });
    throw new Error("read-only");
  };
  const trials = { signal: stop.signal, wait };
  const all = ["a", "b", "c"].map((connection) =>
    outage.runWithRetries(connection, connect(connection), trials),
  );
  await turn();
  assert.deepEqual(attempts, ["a", "b", "c"]);
  isThere = true;
  await outage.tryConnect(async () => {});
  await turn();
  // The three have connected, and their work has failed with "read-only". Their successful connects must not end the
  // pauses again.
  assert.deepEqual(attempts, ["a", "b", "c", "a", "b", "c"]);
  stop.abort();
  assert.deepEqual(await Promise.all(all), [false, false, false]);
});

test("A lost connection that is stopped is no longer part of the outage.", async () => {
  const { lines, outage } = watched();
  const { wait } = manualWait();
  const stop = new AbortController();
  outage.reportLost("lanes", AWAY);
  const ending = outage.runWithRetries("gone", () => Promise.reject(AWAY), {
    signal: stop.signal,
    wait,
  });
  await turn();
  stop.abort();
  await ending;
  outage.reportBack("lanes");
  assert.deepEqual(lines.at(-1)?.[0], "info");
});
