// The connection that listens: notifications arrive, losses are mended, and stop() is safe at any
// moment.
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { Listener } from "../../src/database/listener.ts";
import { emptyDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";

const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'listener'`;
const KILL = LISTENERS.replace("pid", "pg_terminate_backend(pid)");

interface Listening extends AsyncDisposable {
  readonly listener: Listener;
  sql(text: string): Promise<unknown[]>;
}

/** `onSocket` is called with the number of each connection, as it is made. */
async function listening(
  told: { note?: (payload: string) => void; back?: () => void } = {},
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
    channels: { "a channel": (payload) => told.note?.(payload) },
    onReconnect: () => told.back?.(),
    logger: silentLogger,
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
  // A server process that is ended before it has told it takes it along.
  await first.promise;
  await one.sql(KILL);
  await back.promise;
  await one.sql("select pg_notify('a channel', 'second')");
  await second.promise;
  assert.deepEqual(notes, ["first", "second"]);
});

test("A listener that is stopped while it reconnects lets go of the connection.", async () => {
  const stopped = Promise.withResolvers<void>();
  await using one = await listening({}, (count) => {
    if (count === 2) one.listener.stop().then(stopped.resolve, stopped.reject);
  });
  await one.listener.start();
  await one.sql(KILL);
  await stopped.promise;
  while ((await one.sql(LISTENERS)).length > 0);
});

test("A listener that is stopped while it starts lets go of the connection.", async () => {
  const stopped = Promise.withResolvers<void>();
  await using one = await listening({}, () => {
    one.listener.stop().then(stopped.resolve, stopped.reject);
  });
  await assert.rejects(one.listener.start(), { code: "aborted" });
  await stopped.promise;
  while ((await one.sql(LISTENERS)).length > 0);
});
