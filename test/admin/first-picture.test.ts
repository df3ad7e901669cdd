// GET / with the page's first picture in it: who gets it, what stands in it, and that nobody waits for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import {
  type Mode,
  migratedDatabase,
  rightCredentials,
  startAdmin,
  type TestAdmin,
  wrongCredentials,
} from "./admin-harness.ts";

/** What a browser says when it opens a page. */
const OPENED = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
/** Two tries: the first may find a cold server, and nobody waits for that. */
async function opened(
  { client }: TestAdmin,
  isExpected: (text: string) => boolean,
  headers: Record<string, string> = {},
): Promise<string> {
  for (;;) {
    const { status, text } = await client.send("GET", "/", { headers: { ...OPENED, ...headers } });
    assert.equal(status, 200);
    if (isExpected(text)) return text;
  }
}

interface Facts {
  readonly session: string;
  readonly events: readonly [event: string, data: string][];
}

function factsOf(page: string): Facts {
  const [, text = ""] = /<div id="app" data-facts="([^"]*)">/.exec(page) ?? [];
  return JSON.parse(text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code))) as Facts;
}

const hasPicture = (page: string) => page.includes('<div id="app" data-facts="');

test("A browser that opens the page has its numbers in it, and what they were drawn of.", async () => {
  const { url } = await migratedDatabase();
  await query(url, `select worker.add_job('mail') from generate_series(1, 41)`);
  const page = await opened(await startAdmin({ url, isBuilt: true }), hasPicture);
  assert.match(page, /<div class="v">41<\/div>|>41</);
  const { session, events } = factsOf(page);
  assert.equal(JSON.parse(session).schema, "worker");
  const names = events.map(([event]) => event);
  assert.deepEqual(names, ["pulse", "counts", "incidents", "horizon", "operation"]);
  assert.equal(JSON.parse(events[1]?.[1] ?? "").ready.value, 41);
});

test("What changes is in the next picture, and nothing of the one before.", async () => {
  const { url } = await migratedDatabase();
  await query(url, `select worker.add_job('mail') from generate_series(1, 41)`);
  const admin = await startAdmin({ url, isBuilt: true });
  await opened(admin, hasPicture);
  await query(url, `select worker.add_job('mail') from generate_series(1, 500)`);
  const page = await opened(admin, (text) => text.includes(">541<"));
  assert.doesNotMatch(page, />41</);
});

test("Names and errors of a hostile queue are texts in it, never markup.", async () => {
  const { url } = await migratedDatabase();
  const hostile = `</div></svg><script>alert(1)</script><img src=x onerror='a' title="b">&quot;`;
  await query(url, "select worker.add_job('mail', queue_name := $1) from generate_series(1, 3)", [
    hostile,
  ]);
  await query(
    url,
    `update worker._private_jobs set attempts = max_attempts, last_error = $1 where id = 1`,
    [hostile],
  );
  await query(
    url,
    `update worker._private_job_queues set locked_by = $1, locked_at = now() - interval '1 day'`,
    [hostile.slice(0, 60)],
  );
  const page = await opened(await startAdmin({ url, isBuilt: true }), hasPicture);
  assert.equal(page.match(/<script/g)?.length, 2, "the page's own");
  assert.doesNotMatch(page, /<img/);
  const told = JSON.stringify(factsOf(page).events);
  assert.match(told, /<\/svg><script>/, "it was there to be escaped");
});

const tellers: readonly Mode[] = ["none", "basic"];
test("Only who may read the queue has it: a page that is open to anybody says nothing.", async () => {
  const { url } = await migratedDatabase();
  for (const mode of ["none", "basic", "bearer", "header"] as const) {
    const admin = await startAdmin({ url, mode, isBuilt: true });
    const credentials = rightCredentials[mode];
    if (tellers.includes(mode)) await opened(admin, hasPicture, credentials);
    else {
      const headers = { ...OPENED, ...credentials };
      const { text } = await admin.client.send("GET", "/", { headers });
      assert.equal(hasPicture(text), false, mode);
    }
    const wrong = { ...OPENED, ...(mode === "none" ? {} : wrongCredentials[mode]) };
    const { status, text } = await admin.client.send("GET", "/", { headers: wrong });
    assert.equal(status, mode === "basic" ? 401 : 200);
    assert.equal(hasPicture(text), mode === "none");
  }
});

test("Who asks for the page and does not open it has the file itself, with its ETag.", async () => {
  const admin = await startAdmin({ isBuilt: true });
  await opened(admin, hasPicture);
  for (const dest of [undefined, "iframe", "script", "empty"]) {
    const headers: Record<string, string> = dest === undefined ? {} : { "sec-fetch-dest": dest };
    const { text, headers: answered } = await admin.client.send("GET", "/", { headers });
    assert.equal(hasPicture(text), false, dest);
    assert.match(answered.etag ?? "", /^".+"$/);
  }
});

test("Nobody waits for a database that is slow or away: the page comes without a picture.", async () => {
  const { url } = await migratedDatabase();
  const admin = await startAdmin({ url, isBuilt: true });
  await opened(admin, hasPicture);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("begin; lock table worker._private_jobs in access exclusive mode");
  await opened(admin, (text) => !hasPicture(text));
  await holder.query("rollback");
  await holder.end();
  await opened(admin, hasPicture);
});

async function query(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text, [...values]);
  await client.end();
}
