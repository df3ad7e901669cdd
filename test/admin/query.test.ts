// The query language over HTTP: completion, costs, errors with their positions, and similar names if nothing matches.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { makeRandom, randomQuery, randomText } from "../insight/random-query.ts";
import { type Client, migratedDatabase, startAdmin } from "./admin-harness.ts";

let client: Client;

before(async () => {
  const { url } = await migratedDatabase();
  const admin = await startAdmin({ url });
  client = admin.client;
  await admin.pool.query(`
    select worker.add_job('mail/send', '{"to": {"name": "Ann", "odd key": 7}, "n": 5}', flags => '{bulk}'),
      worker.add_job('mail/send', '{"to": {"name": "Bob"}, "n": "5"}', queue_name => 'mails'),
      worker.add_job('mail/send', flags => array[E'"\\\\']),
      worker.add_job('report (big)', '{"to": "x\\u0000y", "tags": ["a b", "none"]}'),
      worker.worker_heartbeat('host-1')`);
});

async function suggestions(q: string, at?: number) {
  const place = at === undefined ? "" : `&at=${at}`;
  const { status, body } = await client.get(`/api/suggest?q=${encodeURIComponent(q)}${place}`);
  assert.equal(status, 200);
  return body;
}

/** Returns, for each suggestion, the query into which the suggestion has been inserted. */
async function completed(q: string, at?: number): Promise<string[]> {
  const { replace, suggestions: found } = await suggestions(q, at);
  return found.map(
    ({ text }: { text: string }) => q.slice(0, replace.at) + text + q.slice(replace.end),
  );
}

describe("The completion of queries", () => {
  test("suggests fields, words and names that begin with the typed text.", async () => {
    assert.deepEqual((await completed("")).slice(0, 3), ["id:", "is:", "task:"]);
    assert.deepEqual(await completed("is:ready fai"), ["is:ready failed<", "is:ready is:failed"]);
    assert.deepEqual(await completed("is:f,re"), ["is:f,ready", "is:f,retrying"]);
    assert.deepEqual(await completed("-(mail"), ["-(task:mail/send", "-(queue:mails"]);
  });

  test("suggests names of tasks, queues and workers, quoted if necessary.", async () => {
    assert.deepEqual(await completed("task:re"), ['task:"report (big)"']);
    assert.deepEqual(await completed('task:mail/send,"report (b'), [
      'task:mail/send,"report (big)"',
    ]);
    assert.deepEqual(await completed("queue:x,ma"), ["queue:x,mails"]);
    assert.deepEqual(await completed("worker:"), ["worker:host-1"]);
    assert.deepEqual(await completed("flag:b"), ["flag:bulk"]);
    // The second flag, `"\`, begins with a quotation mark and is not a JSON text.
    assert.equal((await completed("flag:")).length, 2);
  });

  test("suggests keys and values of payloads.", async () => {
    assert.deepEqual(await completed("payload."), ["payload.to", "payload.n", "payload.tags"]);
    assert.deepEqual(await completed("payload.to."), ["payload.to.name", 'payload.to."odd key"']);
    assert.deepEqual(await completed('payload.to."odd key":'), ['payload.to."odd key":7']);
    assert.deepEqual(await completed("payload.n:"), ['payload.n:"5"', "payload.n:5"]);
    assert.deepEqual(await completed("payload.tags:n"), ['payload.tags:"none"']);
  });

  test("replaces the whole word at the cursor.", async () => {
    assert.deepEqual(await completed("is:rexyz task:mail", 5), [
      "is:ready task:mail",
      "is:retrying task:mail",
    ]);
    assert.deepEqual(await completed("nothing-like-it"), []);
    assert.deepEqual(await completed('"in quotes'), []);
  });

  test("has an answer for any text.", async () => {
    for (const q of [
      'payload."',
      "payload[",
      "payload[0].",
      "task:\u0001",
      "::",
      "(-",
      "%_\\",
      "id:",
    ]) {
      await suggestions(q);
    }
  });
});

test("The cost of a query is shown term by term.", async () => {
  const { body } = await client.get(
    `/api/explain?q=${encodeURIComponent(" is:failed AND (task:absent)")}`,
  );
  assert.deepEqual(body, {
    q: "is:failed task:absent",
    cost: "bounded",
    index_hint: "failed",
    unknown: ["task:absent"],
    terms: [
      { term: "is:failed", at: 1, end: 10, cost: "bounded", index: "failed" },
      { term: "(task:absent)", at: 15, end: 28, cost: "bounded", index: "task" },
    ],
  });
});

test("The routes jobs and explain refuse an invalid query, with the position of the error and a suggestion.", async () => {
  for (const path of ["/api/explain", "/api/jobs"]) {
    const { status, body } = await client.get(`${path}?q=is:failed%20tsak:x`);
    assert.equal(status, 400, path);
    assert.equal(body.code, "bad_input");
    assert.deepEqual(body.problems, [
      {
        field: "q",
        message: 'unknown field "tsak", did you mean "task"?',
        at: 10,
        end: 14,
        suggestion: "task",
      },
    ]);
    const wide = await client.get(`${path}?q=-etimedout`);
    assert.deepEqual([wide.status, wide.body.code], [400, "query_too_wide"]);
  }
});

test("The routes jobs, counts, explain and suggest answer or refuse any query without an internal error.", async () => {
  const random = makeRandom(3);
  const counts = { 200: 0, 400: 0 };
  for (let i = 0; i < 150; i++) {
    const text = i % 2 === 0 ? randomText(random) : randomQuery(random);
    const q = encodeURIComponent(text.toWellFormed());
    for (const route of ["jobs", "counts", "explain", "suggest"]) {
      const { status, text: answer } = await client.get(`/api/${route}?q=${q}`);
      assert.ok(status === 200 || status === 400, `${route} ${JSON.stringify(text)}: ${answer}`);
      counts[status]++;
    }
  }
  assert.ok(counts[200] > 100 && counts[400] > 50, JSON.stringify(counts));
});

test("If nothing matches, similar names are suggested, each with the term that it would replace.", async () => {
  const suggestions = async (q: string, more = "&fields=row") => {
    const { status, body } = await client.get(`/api/jobs?q=${encodeURIComponent(q)}${more}`);
    assert.equal(status, 200);
    return body.suggestions?.map(
      ({ term, use }: { term: string; use: string }) => `${term} > ${use}`,
    );
  };
  assert.deepEqual(await suggestions("is:failed queue:mals attempts<9"), [
    "queue:mals > queue:mails",
  ]);
  assert.deepEqual(await suggestions("mials"), ["mials > queue:mails"]);
  assert.deepEqual(await suggestions("task:mail/sned queue:mals"), [
    "task:mail/sned > task:mail/send",
    "queue:mals > queue:mails",
  ]);
  assert.deepEqual(await suggestions('task:"report (bug)"'), [
    'task:"report (bug)" > task:"report (big)"',
  ]);
  for (const q of ["queue:quite-another", "is:failed", "queue:mals*", "-queue:mals is:failed"]) {
    assert.deepEqual(await suggestions(q), [], q);
  }
  assert.equal(
    await suggestions("queue:mails"),
    undefined,
    "the answer has no suggestions if a job matches",
  );
  assert.equal(
    await suggestions("queue:mals", ""),
    undefined,
    "the answer has no suggestions with fields=full",
  );
});
