// Tests the groups of jobs by error, task, queue, worker and priority, and the values that jobs have in common.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorGroup } from "../../src/domain/error-group.ts";
import type { JobSpec } from "../../src/domain/job-spec.ts";
import { quote } from "../../src/domain/portable/query/quote.ts";
import { readColumnGroups } from "../../src/insight/groups/column-groups.ts";
import { readErrorGroups } from "../../src/insight/groups/error-groups.ts";
import type { Grouping } from "../../src/insight/groups/group.ts";
import { readCommon } from "../../src/insight/groups/read-common.ts";
import { listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { countQuery } from "../../src/insight/stats/count-query.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const { sql } = queue;

const many = async (count: number, identifier: string, spec: JobSpec = {}, payload?: object) => {
  const jobs = Array.from({ length: count }, (_, n) => ({
    identifier,
    spec,
    ...(payload === undefined ? {} : { payload: { ...payload, n } }),
  }));
  return (await addJobs(queue.db, jobs)).map(({ id }) => id);
};
const fail = (ids: readonly string[], error: string) =>
  sql(
    `update worker._private_jobs set attempts = max_attempts, last_error = replace($2, '#', id::text),
       updated_at = now(), run_at = now() + exp(least(max_attempts, 10)) * interval '1 second'
     where id = any($1)`,
    [ids, error],
  );
/** `smallPages` is the maximum size of a small table, in pages. With this value, every table is large and sampled. */
const LARGE = -1;
const small = (isLarge: boolean) => (isLarge ? LARGE : undefined);
const gauge = () => readGauge(queue.db);
const groups = async (by: Grouping, q = "", isLarge = false) => {
  const jobQuery = await compileQuery(queue.db, q);
  return by === "error"
    ? readErrorGroups(queue.db, jobQuery, await gauge(), 50, small(isLarge))
    : readColumnGroups(queue.db, by, jobQuery, await gauge(), 50, small(isLarge));
};
const sizes = ({ groups: all }: Awaited<ReturnType<typeof groups>>) =>
  all.map(({ label, count }) => [label, count.value]);

test("If no sampled page has a match, the upper bound of the estimate allows for unread pages full of matches.", async () => {
  // The table has more pages than any of the samples below.
  await sql("insert into worker._private_tasks (identifier) values ('t')");
  await sql(`insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('n', repeat('x', 1400)) from generate_series(1, 13500)`);
  const size = await gauge();
  const atLeast = (sampledPages: number) => (3 * 4 * size.pages) / sampledPages;
  assert.ok(size.pages > 2_500, `the table has ${size.pages} pages`);
  const [inDatabase, here] = [
    await groups("task", "attempts>3", true),
    await groups("task", "payload.n:5", true),
  ];
  const counted = await countQuery(queue.db, await compileQuery(queue.db, "payload.n:5"), size, {
    smallPages: 0,
    sampledPages: 400,
  });
  for (const [what, { value, high }, sampledPages] of [
    ["groups in the database", inDatabase.of, 1_000],
    ["groups in this process", here.of, 2_500],
    ["a count", counted, 400],
  ] as const) {
    assert.equal(value, 0, what);
    assert.ok(Number(high) >= atLeast(sampledPages), `${what}: the estimate is 0 to ${high}`);
  }
});

test("Errors that differ only in numbers and ids are one group; the sizes of all groups add up to the number of errors.", async () => {
  const charged = await many(30, "charge");
  await fail(charged, "Error: charge # failed: 503\n    at stack #");
  await fail(await many(5, "charge"), "TypeError: x is undefined");
  await fail(await many(7, "mail"), "TypeError: x is undefined\n    at elsewhere");
  await many(3, "mail");
  const { groups: found, of, sampled } = await groups("error");
  assert.deepEqual([of.value, of.precision, sampled], [42, "exact", 42]);
  assert.deepEqual(
    found.map(({ label, count, share, tasks }) => [label, count.value, share, tasks]),
    [
      ["Error: charge # failed: #", 30, 0.7143, ["charge"]],
      ["TypeError: x is undefined", 12, 0.2857, ["mail", "charge"]],
    ],
  );
  assert.equal(found[0]?.isNew, true);
  assert.deepEqual(found[0]?.sampleIds.length, 5);
  assert.ok(charged.includes(found[0]?.sampleIds[0] ?? ""));
  assert.deepEqual(sizes(await groups("error", "task:mail")), [["TypeError: x is undefined", 7]]);
  const [, second] = found;
  assert.deepEqual(sizes(await groups("error", `group:${second?.key}`)), [
    ["TypeError: x is undefined", 12],
  ]);
  assert.deepEqual(sizes(await groups("error", "task:absent")), []);
});

test("If more than 20 errors of a task occur only once, they are grouped by their place in the code.", async () => {
  const words = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
  for (const [n, id] of (await many(30, "import")).entries()) {
    await fail(
      [id],
      `ParseError: no ${words(n)} here\n    at parse (/app/parse.js:${n}:5)\n    at x`,
    );
  }
  await fail(
    await many(4, "import"),
    "ParseError: end\n    at parse (/app/parse.js:9:5)\n    at x",
  );
  await fail(
    await many(3, "import"),
    "ParseError: other\n    at write (/app/write.js:9:5)\n    at x",
  );
  for (const [n, id] of (await many(20, "mail")).entries()) await fail([id], `Error: ${words(n)}`);
  const { groups: found } = await groups("error");
  assert.equal(found.length, 22, "20 errors that occur only once stay separate groups");
  const [one] = found;
  const label = "ParseError of import in parse (parse.js), in different words";
  assert.deepEqual([one?.label, one?.count.value, one?.tasks], [label, 34, ["import"]]);
  assert.match(one?.example ?? "", /^ParseError: (no \w\w here|end)$/);
  assert.deepEqual([...new Set(found.slice(1).map(({ example }) => example))], [undefined]);
  assert.deepEqual(sizes(await groups("task", `group:${one?.key}`)), [["import", 34]]);
  // The admin's page names a group by its label.
  for (const { label, count } of found) {
    const named = await groups("error", `is:failed group:${quote(label)}`);
    assert.deepEqual(sizes(named), [[label, count.value]]);
  }
  // Groups are cached for each schema object. A copy of the object has no cached groups, like another program.
  const program = () => ({ ...queue.db, schema: { ...queue.db.schema } });
  const other = program();
  for (const name of [quote(label), one?.key]) {
    const db = program();
    const jobs = await compileQuery(db, `is:failed group:${name}`);
    const byTask = await readColumnGroups(db, "task", jobs, await gauge(), 50);
    assert.deepEqual(sizes(byTask), [["import", 34]], name);
  }
  assert.deepEqual((await compileQuery(other, "group:0123456789ab")).unknown, [
    "group:0123456789ab",
  ]);
});

test("A group whose errors are not in the sampled pages is not reported as unknown.", async () => {
  const [id] = await many(1, "import");
  await fail([String(id)], "Error: rare");
  const { key } = (await groups("error")).groups[0] ?? {};
  // The table now has one error in 1,500 pages. To find a group that is not cached, about 200 pages are read.
  await sql(`insert into worker._private_jobs (task_id, payload)
    select task_id, pg_catalog.to_json(pg_catalog.repeat('x', 1900))
    from worker._private_jobs, pg_catalog.generate_series(1, 6000)`);
  const program = () => ({ ...queue.db, schema: { ...queue.db.schema } });
  for (let n = 0; n < 10; n++) {
    const jobs = await compileQuery(program(), `is:failed group:${key}`);
    assert.deepEqual(jobs.unknown, []);
    const byTask = await readColumnGroups(queue.db, "task", jobs, await gauge(), 50);
    assert.deepEqual(sizes(byTask), [["import", 1]]);
  }
});

test("If a task's failed jobs are grouped by their place in the code, its retrying jobs from that place are in the same group.", async () => {
  const words = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
  const stack = "\n    at read (/app/read.js:1:5)\n    at x";
  for (const [n, id] of (await many(25, "upload")).entries()) {
    await fail([id], `ReadError: no ${words(n)} here${stack}`);
  }
  await sql("update worker._private_jobs set attempts = 1, last_error = $2 where id = any($1)", [
    await many(5, "upload"),
    `ReadError: no end${stack}`,
  ]);
  // All calls use one `db`, because each read of `queue.db` creates a schema object without cached groups.
  const { db } = queue;
  const largest = async (q: string) =>
    (await readErrorGroups(db, await compileQuery(db, q), await gauge(), 50)).groups[0];
  const failed = await largest("is:failed task:upload");
  const retrying = await largest("is:retrying task:upload");
  assert.deepEqual([failed?.count.value, retrying?.count.value], [25, 5]);
  assert.equal(retrying?.key, failed?.key);
});

test("The trend of failures with unknown times is empty.", async () => {
  const ids = await many(2, "recovered");
  await sql(
    `update worker._private_jobs set attempts = max_attempts, updated_at = now(),
       last_error = 'Recovered: worker w stopped without finishing attempt 25' where id = any($1)`,
    [ids],
  );
  const [one] = (await groups("error", "task:recovered")).groups;
  assert.deepEqual([one?.count.value, one?.lastSeen, one?.trend], [2, null, []]);
});

test("If an id in an error looks like a word, the error is still in the group of those errors of its task that differ only in an id of the same length, even in a program that has cached no groups.", async () => {
  const charge = await many(12, "charge");
  const names = ["Ada", "Bank of Ada", "O'Neil & Sons"];
  for (const [n, id] of charge.entries())
    await fail([id], `Error: no cus-a8d7k2${n + 10} at «${names[n % 3]}»`);
  const [word, other, longer, elsewhere] = [
    ...(await many(3, "charge")),
    ...(await many(1, "mail")),
  ];
  await fail([word ?? ""], "Error: no cus-meanppqd at «Ada Bank»\n    at charge");
  await fail([other ?? ""], "Error: has cus-meanppqd at «Ada»");
  await fail([longer ?? ""], "Error: no cus-meanppqdephm at «Ada»");
  await fail([elsewhere ?? ""], "Error: no cus-customer at «Ada»");
  const { db } = queue;
  const all = await compileQuery(db, "");
  const { groups: found } = await readErrorGroups(db, all, await gauge(), 50);
  assert.deepEqual(found.map(({ label, count }) => [label, count.value]).toSorted(), [
    ["Error: has cus-meanppqd at «#»", 1],
    ["Error: no cus-# at «#»", 13],
    ["Error: no cus-customer at «#»", 1],
    ["Error: no cus-meanppqdephm at «#»", 1],
  ]);
  const key = found.find(({ count }) => count.value === 13)?.key;
  assert.equal((await explainJob(db, word ?? ""))?.errorGroup, key);
  for (const name of [key, '"Error: no cus-# at «#»"']) {
    for (const program of [db, queue.db]) {
      const jobs = await compileQuery(program, `is:failed group:${name}`);
      const byTask = await readColumnGroups(program, "task", jobs, await gauge(), 50);
      assert.deepEqual(sizes(byTask), [["charge", 13]], name);
    }
  }
});

test("An error that has a short word where other errors have a number is in a group of its own.", async () => {
  const jobs = await many(3, "fetch");
  await fail(jobs.slice(0, 2), "Error: code 404 returned");
  await fail(jobs.slice(2), "Error: code nil returned");
  const { groups: found } = await groups("error");
  assert.deepEqual(
    found.map(({ label, count }) => [label, count.value]),
    [
      ["Error: code # returned", 2],
      ["Error: code nil returned", 1],
    ],
  );
});

test("A query for a group without jobs finds no jobs, however many errors there are.", async () => {
  await fail(await many(2_500, "charge"), "Error: charge # failed");
  const [waiting = ""] = await many(1, "charge");
  const report = async (q: string, limit?: number) => {
    let page = await listLightJobs(queue.db, { q, limit });
    while (page.nextCursor !== null && page.jobs.length === 0)
      page = await listLightJobs(queue.db, { q, limit, cursor: page.nextCursor });
    return [page.jobs.length, page.report.unknownNames];
  };
  const missing = "group:0123456789ab";
  for (const q of [missing, `is:failed ${missing}`, `is:failed (${missing} or group:ba9876543210)`])
    assert.deepEqual(await report(q), [0, q.includes(" or ") ? [] : [missing]], q);
  // The group's only job is retrying, so `is:failed` excludes the job. The group is known nevertheless.
  await sql(
    `update worker._private_jobs set attempts = 1, last_error = 'Error: unique', run_at = now() + interval '1 hour'
     where id = $1`,
    [waiting],
  );
  const { fingerprint } = errorGroup("Error: unique");
  assert.deepEqual(await report(`is:failed group:${fingerprint}`), [0, []]);
  assert.deepEqual(await report(`is:retrying group:${fingerprint}`), [1, []]);
});

test("In a large table, the number of errors is estimated, and the interval of the estimate contains the true number.", async () => {
  await fail(await many(300, "charge"), "Error: charge # failed");
  const { groups: found, of } = await groups("error", "", true);
  const [one] = found;
  assert.equal(one?.count.precision, "estimated");
  assert.ok((one?.count.low ?? 0) <= 300 && (one?.count.high ?? 0) >= 300, JSON.stringify(one));
  assert.deepEqual([one?.share, of.value], [1, one?.count.value]);
});

test("Jobs are grouped by task, queue, worker and priority: all jobs, or those that match a query.", async () => {
  await many(3, "a", { queueName: "q1", priority: 2 });
  await many(2, "a", { queueName: "q2" });
  const [first = ""] = await many(4, "b");
  await lockJob(queue, first, "it's w");
  const expected: Record<Exclude<Grouping, "error">, unknown[][]> = {
    task: [
      ["a", 5],
      ["b", 4],
    ],
    queue: [
      ["q1", 3],
      ["q2", 2],
    ],
    worker: [["it's w", 1]],
    priority: [
      ["0", 6],
      ["2", 3],
    ],
  };
  for (const [by, all] of Object.entries(expected) as [Grouping, unknown[][]][]) {
    assert.deepEqual(sizes(await groups(by)), all, by);
    const large = await groups(by, "", true);
    assert.deepEqual(sizes(large), all, by);
    assert.ok(large.groups.every(({ count }) => count.precision === "estimated"));
  }
  assert.deepEqual(sizes(await groups("task", "queue:q1,q2")), [["a", 5]]);
  assert.deepEqual(sizes(await groups("queue", "priority:2")), [["q1", 3]]);
});

test("If PostgreSQL counts the jobs of a task, and all of them are on one page of the table, the task's only sample is its newest job.", async () => {
  const several = await many(3, "a");
  const [one] = await many(1, "b");
  for (const isLarge of [false, true]) {
    const { groups: found } = await groups("task", "", isLarge);
    assert.deepEqual(
      found.map(({ sampleIds }) => sampleIds),
      [[several.at(-1)], [one]],
    );
  }
});

test("If Node checks the rows that SQL has found for a query, the groups count only the rows that match.", async () => {
  await many(3, "a", {}, { customer: { vip: true } });
  await many(4, "a", {}, { customer: { vip: false }, note: "vip true" });
  await many(2, "b", {}, { customer: { vip: true } });
  const q = "payload.customer.vip:true";
  for (const isLarge of [false, true]) {
    const { groups: found } = await groups("task", q, isLarge);
    assert.deepEqual(
      found.map(({ label }) => label),
      ["a", "b"],
    );
  }
  assert.deepEqual(sizes(await groups("task", q)), [
    ["a", 3],
    ["b", 2],
  ]);
});

test("A common value is a value that at least half of a group's jobs have, and that clearly fewer of the other jobs of the same tasks have.", async () => {
  const noise = { amount: 1, nested: { deep: [1, 2, { x: "y" }] } };
  await fail(await many(120, "charge", {}, { ...noise, currency: "EUR" }), "Error: no");
  await many(60, "charge", {}, { ...noise, currency: "EUR" });
  await many(130, "charge", {}, { ...noise, currency: "USD" });
  await many(200, "other", {}, { currency: "GBP" });
  const common = async (q: string, isLarge = false) =>
    readCommon(queue.db, await compileQuery(queue.db, q), await gauge(), small(isLarge));
  const { findings, compared } = await common("is:failed");
  assert.deepEqual(compared, { here: 120, there: 190 });
  assert.deepEqual(findings, [
    { path: "payload.currency", value: '"EUR"', here: 1, there: 0.316, lift: 3.167 },
  ]);
  assert.deepEqual((await common("is:failed", true)).findings, findings);
  assert.deepEqual((await common("task:absent")).findings, []);
});

test("Common values are found for a query by group or payload, even if most jobs do not match the query.", async () => {
  await many(60, "charge", {}, { currency: "USD", size: 1 });
  const wanted = await many(60, "charge", {}, { currency: "EUR", size: 7 });
  await fail(wanted, "Error: wallet # is empty");
  await fail(await many(1_200, "charge", {}, { currency: "USD", size: 1 }), "Error: no such card");
  const { fingerprint } = errorGroup("Error: wallet 12 is empty");
  for (const q of [`group:${fingerprint}`, `group:"Error: wallet # is empty"`, "payload.size>5"]) {
    const jobQuery = await compileQuery(queue.db, q);
    const { findings, compared } = await readCommon(queue.db, jobQuery, await gauge());
    assert.equal(compared.here, 60, q);
    const currency = findings.find(({ path }) => path === "payload.currency");
    assert.deepEqual([currency?.value, currency?.here, currency?.there], ['"EUR"', 1, 0], q);
  }
});

test("The jobs of an error group in a small table are counted exactly, although their errors are never all in memory at once.", async () => {
  await sql("delete from worker._private_jobs");
  await fail(await many(2_500, "charge", {}, {}), "Error: wallet 12 is empty");
  await fail(await many(20, "charge", {}, {}), "Error: no such card");
  const { fingerprint } = errorGroup("Error: wallet 12 is empty");
  const { of, groups: found } = await groups("task", `is:failed group:${fingerprint}`);
  assert.deepEqual([of.value, of.precision], [2_500, "exact"]);
  assert.deepEqual([found[0]?.count.value, found[0]?.count.precision], [2_500, "exact"]);
});

test("Common values are found in payloads with deep nesting and invalid characters, for integers that JavaScript numbers cannot represent, and for missing fields.", async () => {
  const put = (count: number, identifier: string, payload: string) =>
    sql(
      `insert into worker._private_jobs (task_id, payload, priority)
       select id, $3::json, case when $2 = 'bad' then 7 else 0 end
       from worker._private_tasks, generate_series(1, $1) where identifier = 't'`,
      [count, identifier, payload],
    );
  await sql("insert into worker._private_tasks (identifier) values ('t')");
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  await put(40, "bad", `{"id":9007199254740993,"a b\\u0000":"\\ud800","deep":${deep}}`);
  await put(40, "good", `{"id":9007199254740992,"a b\\u0000":"x","email":"y"}`);
  await put(1, "good", `"${"x".repeat(100_000)}"`);
  const { findings } = await readCommon(
    queue.db,
    await compileQuery(queue.db, "priority:7"),
    await gauge(),
  );
  const found = new Map(findings.map(({ path, value }) => [path, value]));
  assert.equal(found.get("payload.id"), "9007199254740993");
  assert.equal(found.get("payload.email"), "missing");
  assert.equal(found.get("priority"), "7");
  assert.equal(found.get('payload."a b\\u0000"'), '"\\ud800"');
});

test("If the limit on rows ends a sample early, the interval of the estimate usually contains the true number, even if all errors are at the end of the table.", async () => {
  await sql("delete from worker._private_jobs");
  await sql(`insert into worker._private_tasks (identifier) values ('sorted')`);
  await sql(`insert into worker._private_jobs (task_id, payload, attempts, max_attempts, last_error)
    select id, json_build_object('pad', repeat('x', 90)), case when n <= 9000 then 0 else 25 end, 25,
      case when n > 9000 then 'GatewayError: HTTP 503 from https://pay.example/charge/' || n end
    from generate_series(1, 21000) as n, worker._private_tasks where identifier = 'sorted'`);
  await sql("vacuum analyze worker._private_jobs");
  const { fingerprint } = errorGroup("GatewayError: HTTP 503 from https://pay.example/charge/1");
  let held = 0;
  for (let run = 0; run < 24; run++) {
    const { low = 0, high = 0 } = (await groups("error", `is:failed group:${fingerprint}`, true))
      .of;
    if (low <= 12_000 && (high ?? 0) >= 12_000) held++;
  }
  assert.ok(held >= 18, `the interval contains the true number in ${held} of 24 runs`);
});
