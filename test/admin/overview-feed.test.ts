// The loop behind the event stream, with a database that counts how often it is asked.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createOverviewFeed } from "../../src/admin/live/overview-feed.ts";
import type { Database, Queryable } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import type { HttpRequest } from "../../src/http/request.ts";

function setUp() {
  const state = { asked: 0, failure: null as Error | null };
  const client = {
    async query() {
      state.asked += 1;
      if (state.failure !== null) throw state.failure;
      return { rows: [] };
    },
  } as unknown as Queryable;
  const db: Database = { client, schema: schemaName("worker") };
  const feed = createOverviewFeed(db, { maxViewers: 10, intervalMs: 1, pingMs: 5 });
  const watch = () => {
    const { body } = feed.watch({
      closing: new AbortController().signal,
      client: "",
    } as HttpRequest);
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

test("The loop runs while somebody watches and at no other time.", async () => {
  const { state, feed, watch } = setUp();
  for (let n = 0; n < 20; n++) await turn();
  assert.equal(state.asked, 0);
  const [first, second] = [watch(), watch()];
  await first.seen(/overview/);
  await second.seen(/overview/);
  first.connection.destroy();
  while (feed.viewers === 2) await turn();
  const before = state.asked;
  while (state.asked < before + 20) await turn();
  second.connection.destroy();
  while (feed.viewers > 0) await turn();
  const round = 5;
  const atEnd = state.asked;
  for (let n = 0; n < 1_000; n++) await turn();
  assert.ok(state.asked <= atEnd + round, "at most the round under way is finished");
  const again = watch();
  await again.seen(/overview/);
  again.connection.destroy();
});

test("What has not changed is not sent again, but the stream shows that it lives.", async () => {
  const { watch } = setUp();
  const viewer = watch();
  const text = await viewer.seen(/(: ping\n\n[\s\S]*){3}/);
  assert.equal(text.match(/event: overview/g)?.length, 1);
  viewer.connection.destroy();
});

test("A problem is told once, without what is inside, and the overview after it.", async () => {
  const { state, watch } = setUp();
  const viewer = watch();
  await viewer.seen(/overview/);
  state.failure = Object.assign(new Error("secret detail"), { code: "XX000" });
  await viewer.seen(/event: problem/);
  const late = watch();
  await late.seen(/event: problem/);
  state.failure = null;
  const text = await viewer.seen(/problem[\s\S]*event: overview/);
  await late.seen(/event: overview/);
  assert.equal(text.match(/event: problem/g)?.length, 1);
  assert.match(text, /"code":"internal_error"/);
  assert.ok(!text.includes("secret detail"));
  viewer.connection.destroy();
  late.connection.destroy();
});
