// Tests the query language on PostgreSQL: a query matches the same jobs as its naive evaluation (naive-query.ts),
// whatever the jobs contain. Also tests the other members of a compiled query, such as its cost, and the errors of
// invalid queries.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { query } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { conditions } from "../../src/domain/condition.ts";
import { queryFields } from "../../src/domain/portable/query/fields.ts";
import { parseQuery } from "../../src/domain/query/parse-query.ts";
import { printQuery } from "../../src/domain/query/print-query.ts";
import { QueryError } from "../../src/domain/query/query-error.ts";
import { getWorker } from "../../src/insight/lists/list-workers.ts";
import { findPage } from "../../src/insight/pages/walk-jobs.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { isWords } from "../../src/insight/query/fields/is-part.ts";
import type { JobQuery } from "../../src/insight/query/job-query.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { microseconds } from "../../src/queue/sql/moments.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { addHostileJobs, FETCHED, queueNames, taskNames } from "../queue/hostile-jobs.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";
import { rounds } from "../support/rounds.ts";
import { testPool } from "../support/test-pool.ts";
import { matchesNaively, type NaiveRow, type NaiveWorld } from "./naive-query.ts";
import { makeRandom, randomQuery } from "./random-query.ts";

const queue = testQueue();

interface FoundRow {
  readonly id: string;
  readonly payload: string;
  readonly last_error: string | null;
  readonly marks: string | null;
}

async function idsOf(compiled: JobQuery): Promise<string[]> {
  const rows = await query<FoundRow & { [name: string]: unknown }>(
    queue.db,
    (schema) => `select jobs.id, jobs.payload, jobs.last_error, ${compiled.marks(2)} as marks
      from ${schema}._private_jobs as jobs where jobs.id > $1::bigint and ${compiled.sql(2)} order by jobs.id`,
    ["0", ...compiled.values],
  );
  return rows.filter((row) => compiled.check?.(row) ?? true).map(({ id }) => id);
}

const find = async (text: string) => idsOf(await compileQuery(queue.db, text));

async function world(nowUs: string): Promise<NaiveWorld> {
  const us = (column: string) => `${microseconds(`jobs.${column}`)}::bigint::text as ${column}`;
  const rows = await queue.sql<NaiveRow>(`
    select jobs.id::text, tasks.identifier as task, queues.queue_name as queue,
      coalesce(queues.locked_at is not null, false) as queue_locked, queues.locked_by as queue_by,
      jobs.payload::text, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.last_error, jobs.key,
      jobs.locked_by, jobs.flags::text, ${FETCHED} as fetched,
      ${["run_at", "created_at", "updated_at", "locked_at"].map(us).join(", ")}
    from worker._private_jobs as jobs
    join worker._private_tasks as tasks on tasks.id = jobs.task_id
    left join worker._private_job_queues as queues on queues.id = jobs.job_queue_id
    order by jobs.id`);
  return { nowUs: BigInt(nowUs), rows, tasks: taskNames, queues: queueNames };
}

beforeEach(() => addHostileJobs(queue, 300));

test("Random queries match the same jobs as their naive evaluation, among jobs with hostile contents.", async () => {
  const random = makeRandom(20_260_131);
  const { nowUs } = await compileQuery(queue.db, "");
  const all = await world(nowUs);
  let tried = 0;
  let found = 0;
  while (tried < rounds(600)) {
    const text = randomQuery(random);
    let tree: ReturnType<typeof parseQuery>;
    let compiled: JobQuery;
    try {
      tree = parseQuery(text);
      compiled = await compileQuery(queue.db, text, { nowUs });
    } catch (error) {
      assert.ok(error instanceof QueryError, `${text}: ${error}`);
      assert.equal(error.code, "query_too_wide", `${text}: ${error.message}`);
      continue;
    }
    tried++;
    if (tree === null) continue;
    const expected = all.rows.filter((row) => matchesNaively(tree, row, all)).map(({ id }) => id);
    assert.deepEqual(await idsOf(compiled), expected, `${text}\n${compiled.sql(1)}`);
    assert.ok(!compiled.isEmpty || expected.length === 0, text);
    assertShape(compiled, expected, all, text);
    found += expected.length > 0 && expected.length < all.rows.length ? 1 : 0;
    assert.equal(printQuery(parseQuery(printQuery(tree)) ?? tree), printQuery(tree));
  }
  assert.ok(found > rounds(200), `only ${found} queries matched some of the jobs`);
});

/** Asserts what the shape of a query promises for all matching jobs, such as a range of ids. Queues are not checked. */
function assertShape({ shape }: JobQuery, ids: readonly string[], all: NaiveWorld, text: string) {
  const rows = all.rows.filter(({ id }) => ids.includes(id));
  const has = (term: string) => {
    const tree = parseQuery(term);
    return (row: NaiveRow) => tree !== null && matchesNaively(tree, row, all);
  };
  const { conditions, isDue } = shape;
  if (conditions !== null && conditions.length > 0) {
    assert.ok(rows.every(has(`is:${conditions.join(",")}`)), `${text}: ${conditions}`);
  }
  if (shape.ids !== null)
    assert.ok(
      ids.every((id) => shape.ids?.includes(id)),
      text,
    );
  const inRange = (id: string) =>
    (shape.minId === null || BigInt(id) >= BigInt(shape.minId)) &&
    (shape.maxId === null || BigInt(id) <= BigInt(shape.maxId));
  assert.ok(ids.every(inRange), text);
  if (shape.key !== null)
    assert.ok(
      rows.every(({ key }) => key === shape.key),
      text,
    );
  if (isDue !== null) assert.ok(rows.every(has(isDue ? "is:due" : "due>now")), text);
  if (shape.taskIds !== null) {
    assert.ok(
      rows.every(({ task }) => shape.taskIds?.includes(taskNames.indexOf(task) + 1)),
      text,
    );
  }
}

/** Values for each field. Nearly all of them match some jobs. `none` matches jobs without a value of the field. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  id: ["4", "4,7", "3..90"],
  is: isWords,
  task: ["mail", "mail*", "mail,idle"],
  queue: ["q1", "none", "q*", "none,q2"],
  key: ["k", "key*", "none", "none,k"],
  worker: ["ghost", "alive*", "none", "none,ghost"],
  priority: ["0", "-1..2"],
  attempts: ["3", "0..1"],
  left: ["25", "0..1,24"],
  due: ["today", "-1h..+1h"],
  created: ["today", "1h..10h"],
  updated: ["today", "1h..10h"],
  failed: ["today", "1h..10h"],
  running: ["today", "1h..10h"],
  flag: ["f", "none", "f,none"],
  error: ["timedout", "none", '"user 4",none', '"TypeError: user 42 not found"', "ÜBEL"],
  group: ['"Error: connect ETIMEDOUT #:#"', "aaaaaaaaaaaa"],
  payload: [".a:7", ".a:none", ".a:1..8", ".b.c:2", ":nested", ".a:none,7"],
};

test("In every field, the operator != finds exactly the jobs that the operator : does not find.", async () => {
  const { nowUs } = await compileQuery(queue.db, "");
  const find = async (text: string) => idsOf(await compileQuery(queue.db, text, { nowUs }));
  const all = await find("");
  for (const { name } of queryFields) {
    for (const value of VALUES[name] ?? []) {
      const term = name === "payload" ? `payload${value}` : `${name}:${value}`;
      const found = await find(`id>0 ${term}`);
      const expected = all.filter((id) => !found.includes(id));
      const opposite = term.replace(":", "!=");
      assert.deepEqual(await find(`id>0 ${opposite}`), expected, opposite);
      assert.deepEqual(await find(`id>0 -${term}`), expected, `-${term}`);
    }
    assert.ok(name in VALUES, `VALUES has no values for the field ${name}`);
  }
});

test("Each job has exactly one of the seven conditions.", async () => {
  const counts = await Promise.all(conditions.map(async (one) => (await find(`is:${one}`)).length));
  assert.equal(
    counts.reduce((a, b) => a + b),
    300,
  );
  assert.ok(
    counts.every((count) => count > 0),
    String(counts),
  );
});

test("Numbers in payloads compare exactly, and no payload makes a query fail.", async () => {
  const [nul] = await queue.sql<{ id: string }>(
    "select id from worker._private_jobs where strpos(payload::text, 'nul\\u0000') > 0 limit 1",
  );
  const sevens = await find("payload.a:7 id<=34");
  assert.deepEqual(sevens, ["2", "3", "4", "5", "24"]);
  assert.deepEqual(
    await find("payload.a:9007199254740993"),
    await find("payload.a>9007199254740992 payload.a<1e300"),
  );
  assert.ok((await find('payload.a:"nul"*')).includes(String(nul?.id)));
  assert.equal((await find("payload.a>1e399 id<=34")).length, 1);
});

test("A query for a range of ids reads hardly any job outside of the range, in ascending and descending order.", async () => {
  for (const sort of ["id", "-id"] as const) {
    const up = await findPage(queue.db, { q: "id:290..400", sort });
    const down = await findPage(queue.db, { q: "id<11", sort });
    assert.deepEqual([up.ids.length, down.ids.length], [11, 10]);
    const { scanned } = sort === "id" ? up.report : down.report;
    assert.ok(scanned < 20, `sorted by ${sort}, the query reads ${scanned} rows`);
  }
});

test("An unknown name is reported and matches nothing.", async () => {
  const compiled = await compileQuery(queue.db, "task:mial is:ready");
  assert.deepEqual([compiled.unknown, compiled.isEmpty], [["task:mial"], true]);
  const either = await compileQuery(queue.db, "task:mial or is:ready");
  assert.deepEqual([either.unknown, either.isEmpty], [["task:mial"], false]);
});

test("A prefix of keys is compared as a range only if the database orders texts by their bytes.", async () => {
  const plain = await compileQuery(queue.db, "key:key*");
  assert.match(plain.sql(1), /jobs\.key >= \$1::text/);
  assert.equal(plain.cost, "cheap");
  // This database orders texts by ICU, although its datcollate is "C".
  await queue.sql(`create database ordered_by_icu template template0
    locale_provider icu icu_locale 'en-US' locale 'C'`);
  const url = new URL(queue.url);
  url.pathname = "/ordered_by_icu";
  await using utils = await makeWorkerUtils({ connectionString: url.href });
  await utils.migrate();
  const pool = testPool(url.href);
  const ordered = await compileQuery({ client: pool.pool, schema: schemaName() }, "key:key*");
  await pool.close();
  assert.doesNotMatch(ordered.sql(1), />=/);
  assert.equal(ordered.cost, "bounded");
});

test("An age, such as 1h, means the same moment on every page of a list.", async () => {
  const first = await compileQuery(queue.db, "created<1h");
  await new Promise((resolve) => setImmediate(resolve));
  const next = await compileQuery(queue.db, "created<1h", { nowUs: first.nowUs });
  assert.deepEqual(next.values, first.values);
});

test("A bare word means the id, key, task or queue of that name; if nothing has that name, the word is a text to search for.", async () => {
  assert.deepEqual((await compileQuery(queue.db, "mail")).shape.taskIds, [1]);
  assert.deepEqual(await find("4"), await find("id:4 or key:4"));
  assert.deepEqual(await find("etimedout"), await find("error:etimedout"));
});

test("The meaning of a bare word can be stored: the stored query keeps this meaning when the job that the word names is deleted.", async () => {
  const explicit = async (text: string) => (await compileQuery(queue.db, text)).explicit;
  assert.equal(await explicit("key:1 -etimedout"), 'key:1 -"etimedout"');
  assert.equal(await explicit("is:failed  k%"), 'is:failed key:"k%"');
  assert.equal(await explicit("4 or mail"), '(id:4 or key:"4") or task:"mail"');
  assert.equal(await explicit("is:failed  AND is:due"), "is:failed  AND is:due");
  const before = await explicit("k%");
  await queue.sql("delete from worker._private_jobs where key = 'k%'");
  assert.deepEqual(await find(before), []);
  assert.equal(await explicit("k%"), '"k%"');
});

test("A compiled query has the cost of each term, and names the optional index that would make the query cheap.", async () => {
  const cost = async (text: string, indexes: string[] = []) => {
    const { cost, terms, indexHint } = await compileQuery(queue.db, text, {
      indexes: new Set(indexes),
    });
    return [cost, terms.map((term) => `${term.term} ${term.cost}`), indexHint];
  };
  assert.deepEqual(await cost("is:failed task:mail"), [
    "bounded",
    ["is:failed bounded", "task:mail bounded"],
    "failed",
  ]);
  assert.deepEqual(await cost("is:failed failed<1h", ["failed"]), [
    "cheap",
    ["is:failed cheap", "failed<1h cheap"],
    null,
  ]);
  assert.deepEqual(await cost("id:5 payload.a:7"), [
    "cheap",
    ["id:5 cheap", "payload.a:7 check"],
    null,
  ]);
  assert.deepEqual(await cost("is:ready or etimedout"), [
    "bounded",
    ["is:ready cheap", "etimedout bounded"],
    null,
  ]);
});

test("The error of an invalid query has the position of the problem and a suggestion.", async () => {
  await assert.rejects(compileQuery(queue.db, "is:failed tsak:mail"), (error) => {
    assert.ok(error instanceof QueryError);
    const { code, at, end, suggestion } = error;
    assert.deepEqual([code, at, end, suggestion], ["bad_input", 10, 14, "task"]);
    return true;
  });
  await assert.rejects(compileQuery(queue.db, "x"), { code: "query_too_wide" });
});

test("A job is stuck if lists show its worker as not responding, also after a sweep has recovered the other jobs of the worker.", async () => {
  const { id } = await addJob(queue.db, { identifier: "t", spec: {} });
  await lockJob(queue, id, "back again");
  await heartbeat(queue, "back again");
  const isStuck = async () => (await find("is:stuck")).includes(id);
  const stateShown = async () => (await getWorker(queue.db, "back again"))?.state;
  assert.deepEqual([await stateShown(), await isStuck()], ["alive", false]);
  await heartbeat(queue, "back again", { recovered_at: "2026-11-28T10:00:00Z" });
  assert.deepEqual([await stateShown(), await isStuck()], ["stale", true]);
});
