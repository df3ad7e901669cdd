// Tests the connection that receives notifications: its replacement after a loss, and stop() at any moment.

import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import type pg from "pg";
import { type Logger, silentLogger } from "../../src/base/logger.ts";
import { Outage } from "../../src/base/outage.ts";
import { Listener, type ListenerTiming } from "../../src/database/connection/listener.ts";
import { emptyDatabase } from "../support/database.ts";
import { manualWait } from "../support/manual-wait.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { testPool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";

const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'listener'`;
const KILL = LISTENERS.replace("pid", "pg_terminate_backend(pid)");

interface Listening extends AsyncDisposable {
  readonly listener: Listener;
  sql(text: string): Promise<unknown[]>;
}

/** Returns a listener that has not started. `onSocket` is called with the number of each new connection, from 1. */
async function listening(
  callbacks: { note?: (payload: string) => void; back?: () => void } = {},
  onSocket: (count: number) => void = () => {},
): Promise<Listening> {
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  let sockets = 0;
  const stream = () => {
    onSocket(++sockets);
    return new Socket();
  };
  const listener = new Listener({
    connection: { connectionString: url, application_name: "listener", stream },
    channels: { "a channel": (payload) => callbacks.note?.(payload) },
    onReconnect: () => callbacks.back?.(),
    outage: new Outage(silentLogger),
  });
  return {
    listener,
    sql: async (text) => (await pool.query(text)).rows,
    async [Symbol.asyncDispose]() {
      await listener.stop();
      await close();
    },
  };
}

test("Notifications arrive, also after the connection was lost.", async () => {
  const notes: string[] = [];
  const back = Promise.withResolvers<void>();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const note = (payload: string) => {
    notes.push(payload);
    (notes.length === 1 ? first : second).resolve();
  };
  await using one = await listening({ note, back: back.resolve });
  await one.listener.start();
  await one.sql("select pg_notify('a channel', 'first')");
  // A server process that is terminated loses the notifications that it has not sent.
  await first.promise;
  await one.sql(KILL);
  await back.promise;
  await one.sql("select pg_notify('a channel', 'second')");
  await second.promise;
  assert.deepEqual(notes, ["first", "second"]);
});

test("A listener that is started twice opens one connection, and stop() closes it.", async () => {
  await using one = await listening();
  await Promise.all([one.listener.start(), one.listener.start()]);
  assert.equal((await one.sql(LISTENERS)).length, 1);
  await one.listener.stop();
  await waitUntil("the connection is closed", async () => (await one.sql(LISTENERS)).length === 0);
});

test("A listener that is stopped while it reconnects closes the connection.", async () => {
  const stopped = Promise.withResolvers<void>();
  await using one = await listening({}, (count) => {
    if (count === 2) one.listener.stop().then(stopped.resolve, stopped.reject);
  });
  await one.listener.start();
  await one.sql(KILL);
  await stopped.promise;
  while ((await one.sql(LISTENERS)).length > 0);
});

test("A listener that is stopped while it starts closes the connection.", async () => {
  const stopped = Promise.withResolvers<void>();
  await using one = await listening({}, () => {
    one.listener.stop().then(stopped.resolve, stopped.reject);
  });
  await assert.rejects(one.listener.start(), { code: "aborted" });
  await stopped.promise;
  while ((await one.sql(LISTENERS)).length > 0);
});

interface Behind extends AsyncDisposable {
  readonly listener: Listener;
  readonly outage: Outage;
  readonly proxy: Awaited<ReturnType<typeof tcpProxy>>;
  readonly notes: string[];
  readonly warnings: string[];
  /** Resolves when the listener has reconnected `count` times in total. */
  backs(count: number): Promise<void>;
  notify(payload: string): Promise<void>;
}

async function behindProxy(
  timing: Partial<ListenerTiming>,
  connection: pg.ClientConfig = {},
): Promise<Behind> {
  const { url } = await emptyDatabase();
  const { pool, close } = testPool(url);
  const proxy = await tcpProxy(url);
  const [notes, warnings] = [[] as string[], [] as string[]];
  let [count, changed] = [0, Promise.withResolvers<void>()];
  const happened = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => warnings.push(`${message}: ${(fields as { error: string }).error}`),
  };
  const outage = new Outage(logger);
  const listener = new Listener({
    connection: { connectionString: proxy.url, ...connection },
    channels: {
      news: (payload) => {
        notes.push(payload);
        happened();
      },
    },
    onReconnect: () => {
      count += 1;
      happened();
    },
    outage,
    timing,
  });
  const end = async () => {
    await listener.stop();
    await proxy.close();
    await close();
  };
  await listener.start().catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    ...{ listener, outage, proxy, notes, warnings },
    async backs(wanted) {
      while (count < wanted) await changed.promise;
    },
    async notify(payload) {
      await pool.query("select pg_notify('news', $1)", [payload]);
      while (!notes.includes(payload)) await changed.promise;
    },
    [Symbol.asyncDispose]: end,
  };
}

// These functions recognize the listener's waits by their lengths: the wait for the next check, for the answer to a
// check, and for the next attempt to connect.
const isPause = (ms: number) => ms >= 10_000;
const isAnswer = (ms: number) => ms === 4_000;
const isBackoff = (ms: number) => ms < 4_000;

test("A connection that stopped responding is found by the next check, logged once, and replaced.", async () => {
  const clock = manualWait();
  await using one = await behindProxy({ wait: clock.wait });
  one.proxy.mute("established");
  await clock.pass(isPause);
  await clock.pass(isAnswer);
  await clock.pass(isBackoff);
  await one.backs(1);
  await one.notify("connected again");
  assert.deepEqual(one.warnings, [
    "the database is unreachable; running jobs continue and their results are kept: PostgreSQL: no answer within 4000 ms",
  ]);
});

test("The pause before a check and the check take less than 20 s together, and the pauses differ.", async () => {
  const clock = manualWait();
  await using one = await behindProxy({ wait: clock.wait });
  const pauses = new Set<number>();
  for (let round = 0; round < 20; round++) {
    await clock.pass((ms) => {
      if (isPause(ms)) pauses.add(ms);
      return isPause(ms);
    });
    // The next pause begins when the check has been answered.
    while (!clock.waits.some(isPause)) await new Promise(setImmediate);
  }
  assert.ok(pauses.size > 10);
  assert.ok(Math.min(...pauses) >= 10_000 && Math.max(...pauses) + 4_000 < 20_000);
  assert.deepEqual(one.warnings, []);
});

test("prove() replaces a connection that does not respond, without waiting for the next check, and keeps one that responds.", async () => {
  const clock = manualWait();
  await using one = await behindProxy({ wait: clock.wait });
  await one.listener.prove();
  assert.deepEqual(one.warnings, []);
  one.proxy.mute("established");
  const proofs = Promise.all([one.listener.prove(), one.listener.prove()]);
  await clock.pass(isAnswer);
  await proofs;
  assert.equal(one.warnings.length, 1);
  await clock.pass(isBackoff);
  await one.backs(1);
  await one.notify("connected again");
});

test("When another lost connection is back, the listener reconnects at once.", async () => {
  const clock = manualWait();
  await using one = await behindProxy({ wait: clock.wait });
  one.proxy.reset();
  while (!clock.waits.some(isBackoff)) await new Promise(setImmediate);
  one.outage.reportLost("another", new Error("away"));
  one.outage.reportBack("another");
  await one.backs(1);
  assert.equal(one.warnings.length, 1);
});

test("While the server does not respond, the listener repeats its attempts to connect, and logs the outage once.", async () => {
  const clock = manualWait();
  await using one = await behindProxy({ wait: clock.wait }, { connectionTimeoutMillis: 2_000 });
  one.proxy.mute();
  const proof = one.listener.prove();
  await clock.pass(isAnswer);
  await proof;
  clock.skip(isBackoff);
  // The third connection is the second attempt to reconnect, so the first attempt has failed.
  while (one.proxy.accepted < 3) await new Promise(setImmediate);
  one.proxy.resume();
  await one.backs(1);
  assert.equal(one.warnings.length, 1);
  await one.notify("connected again");
});

for (const state of ["connected", "connecting"]) {
  test(`A listener that is ${state} to an unresponsive server stops without waiting for the server.`, async () => {
    const clock = manualWait();
    await using one = await behindProxy({ wait: clock.wait });
    one.proxy.mute();
    if (state === "connecting") {
      const proof = one.listener.prove();
      await clock.pass(isAnswer);
      await proof;
      await clock.pass(isBackoff);
      while (one.proxy.accepted < 2) await new Promise(setImmediate);
    }
    // The limit of 8 s is shorter than the 10 s after which an attempt to connect fails.
    const stopped = await Promise.race([
      one.listener.stop().then(() => true),
      new Promise((resolve) => setTimeout(resolve, 8_000, false)),
    ]);
    assert.equal(stopped, true);
  });
}
