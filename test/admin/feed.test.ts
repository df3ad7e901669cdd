// Tests the feed, which reads the queue for viewers: clients with an open event stream. The database is a fake that
// counts statements.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createFeed, type FeedEvent, type FeedOptions } from "../../src/admin/feed/feed.ts";
import { createRhythm, type RhythmTask } from "../../src/admin/feed/rhythm.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Database, Queryable } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import type { HttpRequest } from "../../src/http/request.ts";

function setUp(options: Partial<FeedOptions> = {}) {
  const state = { statements: 0, failure: null as Error | null };
  const client = {
    async query({ text }: { text: string }) {
      state.statements += 1;
      if (state.failure !== null) throw state.failure;
      return { rows: text.includes("pg_relation_size") ? [{ pages: "1", now_ms: "0" }] : [] };
    },
  } as unknown as Queryable;
  const db: Database = { client, schema: schemaName("worker") };
  const feed = createFeed(db, {
    maxViewers: 10,
    maxViewersPerClient: 10,
    logger: silentLogger,
    intervalMs: 1,
    pingMs: 5,
    ...options,
  });
  const watch = (...events: FeedEvent[]) => {
    const request = { closing: new AbortController().signal, headers: {}, client: "::1" };
    const { body } = feed.watch(request as unknown as HttpRequest, events);
    const connection = new PassThrough();
    let text = "";
    connection.on("data", (chunk) => {
      text += chunk;
    });
    assert.ok(typeof body === "function");
    body(connection);
    return {
      connection,
      seen: async (pattern: RegExp) => {
        while (!pattern.test(text)) await turn();
        return text;
      },
    };
  };
  return { state, feed, watch };
}

test("The feed reads the database only for viewers and requests.", async () => {
  const { state, feed, watch } = setUp();
  for (let n = 0; n < 20; n++) await turn();
  assert.equal(state.statements, 0);
  const [first, second] = [watch("overview"), watch("overview")];
  await first.seen(/overview/);
  await second.seen(/overview/);
  first.connection.destroy();
  while (feed.viewers === 2) await turn();
  const before = state.statements;
  while (state.statements < before + 20) await turn();
  second.connection.destroy();
  while (feed.viewers > 0) await turn();
  const round = 5;
  const atEnd = state.statements;
  for (let n = 0; n < 1_000; n++) await turn();
  assert.ok(
    state.statements <= atEnd + round,
    "without viewers, at most the current round of statements is finished",
  );
  const again = watch("overview");
  await again.seen(/overview/);
  again.connection.destroy();
  await feed.stop();
});

test("Concurrent requests for the overview share readings. If the table is small, no statement runs after the answers.", async () => {
  const { state, feed } = setUp();
  await Promise.all(Array.from({ length: 200 }, () => feed.overview()));
  assert.ok(
    state.statements <= 10,
    `${state.statements} statements ran; two readings need at most 10`,
  );
  const after = state.statements;
  for (let n = 0; n < 1_000; n++) await turn();
  assert.equal(state.statements, after);
  await feed.stop();
});

test("While nothing changes, the overview is not sent again; instead the stream sends pings.", async () => {
  const { feed, watch } = setUp();
  const viewer = watch("overview");
  const text = await viewer.seen(/(: ping\n\n[\s\S]*){3}/);
  assert.equal(text.match(/event: overview/g)?.length, 1);
  viewer.connection.destroy();
  await feed.stop();
});

test("The event pulse of a small queue has at most 300 bytes, and is repeated even if nothing changes.", async () => {
  const { feed, watch } = setUp({ pingMs: 60 });
  const viewer = watch("pulse");
  const text = await viewer.seen(/(event: pulse[\s\S]*){3}/);
  const [event = ""] = text.match(/id: .*\nevent: pulse\n.*\n\n/) ?? [];
  assert.ok(Buffer.byteLength(event) <= 300, event);
  assert.doesNotMatch(text, /event: overview|event: counts/);
  viewer.connection.destroy();
  await feed.stop();
});

test("A viewer receives the events that it requested. A later viewer receives the last operation event at once.", async () => {
  const source = { event: "incidents", intervalMs: 1, read: async () => '{"level":"ok"}' } as const;
  const { feed, watch } = setUp({ sources: [source] });
  const [counts, incidents] = [watch("counts"), watch("incidents", "operation")];
  assert.match(await counts.seen(/event: counts/), /"ready":\{"value":0,"precision":"exact"/);
  await incidents.seen(/event: incidents\ndata: \{"level":"ok"\}\n/);
  feed.publish("operation", '{"id":1}', "operation 1");
  const text = await incidents.seen(/event: operation\ndata: \{"id":1\}/);
  assert.doesNotMatch(text, /event: counts/);
  const late = watch("operation");
  await late.seen(/event: operation\ndata: \{"id":1\}/);
  for (const { connection } of [counts, incidents, late]) connection.destroy();
  await feed.stop();
});

test("A viewer receives a failure once, without internal details; when reads succeed again, the viewer receives the overview.", async () => {
  const { state, feed, watch } = setUp();
  const viewer = watch("overview");
  await viewer.seen(/overview/);
  state.failure = Object.assign(new Error("secret detail"), { code: "XX000" });
  await viewer.seen(/event: problem/);
  const late = watch("overview");
  await late.seen(/event: problem/);
  state.failure = null;
  const text = await viewer.seen(/problem[\s\S]*event: overview/);
  await late.seen(/event: overview/);
  assert.equal(text.match(/event: problem/g)?.length, 1);
  assert.match(text, /"code":"internal_error"/);
  assert.ok(!text.includes("secret detail"));
  viewer.connection.destroy();
  late.connection.destroy();
  await feed.stop();
});

test("After a write, incidents that a viewer watches are read at once.", async () => {
  let read = 0;
  const source = {
    event: "incidents" as const,
    intervalMs: 3_600_000,
    read: async () => `{"n":${++read}}`,
  };
  const { feed, watch } = setUp({ sources: [source] });
  const viewer = watch("pulse", "incidents");
  await viewer.seen(/"n":1/);
  feed.changed();
  await viewer.seen(/"n":2/);
  viewer.connection.destroy();
  await feed.stop();
});

test("A viewer that returns receives incidents at once, although their next reading is not yet due.", async () => {
  let read = 0;
  const source = {
    event: "incidents" as const,
    intervalMs: 3_600_000,
    read: async () => `{"n":${++read}}`,
  };
  const { feed, watch } = setUp({ sources: [source] });
  const first = watch("incidents");
  await first.seen(/"n":1/);
  first.connection.destroy();
  while (feed.viewers > 0) await turn();
  const again = watch("incidents");
  await again.seen(/"n":2/);
  again.connection.destroy();
  await feed.stop();
});

test("After a failure, incidents are sent again even if they are unchanged.", async () => {
  const source = { event: "incidents", intervalMs: 1, read: async () => '{"level":"ok"}' } as const;
  const { state, feed, watch } = setUp({ sources: [source] });
  const viewer = watch("incidents");
  await viewer.seen(/event: incidents/);
  state.failure = new Error("no");
  await viewer.seen(/event: problem/);
  state.failure = null;
  const text = await viewer.seen(/event: problem[\s\S]*event: incidents/);
  assert.equal(text.match(/event: incidents/g)?.length, 2);
  viewer.connection.destroy();
  await feed.stop();
});

test("If a reading is requested again while it runs, the reading is repeated once.", async () => {
  let runs = 0;
  const task: RhythmTask = {
    isWanted: () => true,
    intervalMs: () => 3_600_000,
    pauseFactor: 20,
    isCostly: true,
    run: async () => {
      runs += 1;
      await turn();
      if (runs === 1) rhythm.hurry(task);
      return undefined;
    },
  };
  const rhythm = createRhythm([task]);
  rhythm.wake();
  while (runs < 2) await turn();
  for (let n = 0; n < 1_000; n++) await turn();
  assert.equal(runs, 2);
  await rhythm.stop();
});
