// Tests the rules of incidents, the headline (verdict) and the list of checks.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cancelJobs } from "../../src/commands/jobs/cancel-jobs.ts";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { setPause } from "../../src/commands/pauses/set-pause.ts";
import type { JobSpec } from "../../src/domain/job-spec.ts";
import { markedFailed } from "../../src/domain/words.ts";
import type { IncidentKind } from "../../src/insight/incidents/incident.ts";
import { createPoisonWalk } from "../../src/insight/incidents/poison-walk.ts";
import { createInsight } from "../../src/insight/insight.ts";
import { readGauge } from "../../src/insight/stats/gauge.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";

const queue = testQueue(() =>
  migratedDatabase("worker", ["operations", "controls", "schedules", "limits"]),
);
const { sql } = queue;

const add = async (identifier: string, spec: JobSpec = {}): Promise<string> =>
  (await addJob(queue.db, { identifier, spec })).id;
const many = (count: number, identifier: string, spec: JobSpec = {}) =>
  addJobs(
    queue.db,
    Array.from({ length: count }, () => ({ identifier, spec })),
  );
const insight = () => createInsight(queue.db);
const read = () => insight().incidents();
const ofKind = async (kind: IncidentKind) =>
  (await read()).incidents.filter((one) => one.kind === kind);

async function worker(id: string, tasks: readonly string[], age = "0s", more: object = {}) {
  await heartbeat(queue, id, { task_identifiers: tasks, threshold_ms: 7_000, ...more });
  await sql(
    "update worker._private_workers set last_heartbeat_at = now() - $2::interval where id = $1",
    [id, age],
  );
}

const holdQueue = (name: string, by: string, age: string) =>
  sql(
    `update worker._private_job_queues set locked_by = $2, locked_at = now() - $3::interval
     where queue_name = $1`,
    [name, by, age],
  );

/** Changes jobs as if a Graphile worker had used up their attempts, and the last attempt had failed `age` ago. */
const fail = (ids: readonly string[], error: string, age: string) =>
  sql(
    `update worker._private_jobs set attempts = max_attempts, last_error = $2,
       created_at = now() - 2 * $3::interval, updated_at = now() - 2 * $3::interval,
       run_at = now() - $3::interval + exp(least(max_attempts, 10)) * interval '1 second'
     where id = any($1)`,
    [ids, error, age],
  );

const ids = (jobs: readonly { readonly id: string }[]) => jobs.map(({ id }) => id);

test("Without problems there is no incident; a check for which there is no evidence does not pass.", async () => {
  const { verdict, level, incidents, more, checks } = await read();
  assert.deepEqual([verdict, level, incidents, more], ["No worker sends heartbeats", "ok", [], 0]);
  const open = checks.filter(({ passed }) => !passed).map(({ text }) => text);
  assert.deepEqual(open, ["No worker sends heartbeats", "Every task has a worker"]);
  await worker("w", ["t"]);
  assert.ok((await read()).checks.every(({ passed }) => passed));
  await add("t");
  await add("t", { runAt: "2999-01-01T00:00:00Z" });
  await lockJob(queue, await add("t"), "w");
  assert.equal((await read()).verdict, "All is well");
});

test("A queue is new until a worker starts or a job is added. Once a job was added, the queue is never new again, even without jobs and tasks.", async () => {
  const isNew = async () => (await read()).isNew;
  assert.equal(await isNew(), true);
  await worker("w", ["t"]);
  assert.equal(await isNew(), false, "a queue with a worker is not new");
  await sql("delete from worker._private_workers");
  await sql("insert into worker._private_tasks (identifier) values ('t')");
  assert.equal(await isNew(), false, "a queue with tasks is not new");
  const id = await add("t");
  await sql("delete from worker._private_jobs where id = $1", [id]);
  await sql("delete from worker._private_tasks");
  assert.equal(await isNew(), false, "a queue whose only job was deleted is not new");
  await sql("truncate worker._private_jobs");
  const { incidents, isNew: isNewAgain } = await read();
  assert.deepEqual(
    [incidents, isNewAgain],
    [[], false],
    "a queue is not new after a cleanup, and has no incident",
  );
});

test("Jobs that were failed by hand, and failed jobs without an error, are not an incident, but are counted as failed.", async () => {
  await worker("w", ["t"]);
  const [one = "", other = ""] = ids(await many(2, "t"));
  await permanentlyFailJobs(queue.db, [one], markedFailed("by ana"));
  await fail([other], "Error: gone", "1 hour");
  await sql("update worker._private_jobs set last_error = null where id = $1", [other]);
  const { verdict, level, incidents, checks } = await read();
  assert.deepEqual([verdict, level, incidents], ["No issues found", "ok", []]);
  const open = checks.filter(({ passed }) => !passed).map(({ text }) => text);
  assert.deepEqual(open, ["2 jobs have failed"]);
});

test("If there are more error groups than were read, the headline has a lower bound of the number of other incidents.", async () => {
  const jobs = ids(await many(101, "t"));
  for (const [n, id] of jobs.entries()) {
    const place = String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26));
    await fail([id], `Error: no\n    at f (/app/${place}.js:1:1)\n    at x`, "1 hour");
    await sql(
      "update worker._private_jobs set last_error = replace(last_error, 'no', $2) where id = $1",
      [id, `no ${place} here`],
    );
  }
  const { verdict, errorGroups } = await read();
  assert.equal(errorGroups, 100);
  assert.match(verdict, /^t fails: 1 job, and at least 99 more issues$/);
});

describe("A queue", () => {
  async function held(by: string, age: string) {
    await many(3, "sync", { queueName: "crm:acme" });
    await holdQueue("crm:acme", by, age);
  }

  test("locked by a stale worker is reported in one incident, with the level bad and the number of jobs that wait.", async () => {
    await worker("w-silent", ["sync"], "130 minutes 5 s", { running_jobs: 1 });
    await worker("w", ["sync"]);
    await held("w-silent", "129 minutes 5 s");
    const { verdict, level, incidents, checks } = await read();
    assert.deepEqual([verdict, level], ["Queue crm:acme is stuck", "bad"]);
    const open = checks.filter(({ passed }) => !passed).map(({ text }) => text);
    assert.deepEqual(open, ["No queue is stuck", "Every worker responds"]);
    const [one] = incidents;
    assert.equal(one?.title, "Queue crm:acme is stuck");
    assert.equal(
      one?.sentence,
      "3 jobs wait. w-silent has locked the queue and is not responding: no heartbeat for 2 h.",
    );
    assert.deepEqual([one?.affected.value, one?.affected.precision], [3, "exact"]);
    assert.equal(one?.q, 'queue:"crm:acme" is:blocked');
    assert.deepEqual(one?.fix, {
      action: "force-unlock",
      label: "Unlock…",
      workerIds: ["w-silent"],
    });
    assert.deepEqual(one?.trend.slice(-2), [0, 3]);
    assert.equal(one?.id, (await read()).incidents[0]?.id);
  });

  test("is not reported if it has been locked for less than a minute, or if no jobs wait.", async () => {
    await worker("w-silent", ["sync"], "10 minutes", { running_jobs: 0 });
    await held("w-silent", "50 seconds");
    assert.deepEqual(await ofKind("stuck_queue"), []);
    await held("w-silent", "10 minutes");
    await sql("delete from worker._private_jobs");
    assert.deepEqual(await ofKind("stuck_queue"), []);
  });

  test("locked by a stale worker counts as stuck since the worker's last heartbeat, if it was locked before that heartbeat.", async () => {
    await many(2, "sync", { queueName: "crm" });
    await worker("w-late", ["sync"], "10 minutes");
    await holdQueue("crm", "w-late", "2 hours");
    const [one] = await ofKind("stuck_queue");
    assert.equal(Math.round((Date.now() - Date.parse(one?.since ?? "")) / 60_000), 10);
  });

  test("is reported in one incident with the other stuck queues of the same worker if the worker has locked at least three stuck queues, because one action unlocks them all.", async () => {
    await worker("w-silent", ["sync"], "1 hour 5 s", { running_jobs: 4 });
    for (const name of ["a", "b", "it's c"]) {
      await many(2, "sync", { queueName: name });
      await holdQueue(name, "w-silent", "1 hour");
    }
    const [one, ...others] = (await read()).incidents;
    assert.deepEqual(others, []);
    assert.equal(one?.title, "3 queues are stuck behind w-silent");
    assert.match(
      one?.sentence ?? "",
      /^6 jobs wait\. w-silent has locked the queues and is not responding/,
    );
    assert.deepEqual([one?.q, one?.affected.value], [`queue:"a","b","it's c" is:blocked`, 6]);
    assert.equal(one?.trend.at(-1), 6);
  });

  test("locked by a live worker is not reported.", async () => {
    await worker("w", ["sync"]);
    await held("w", "3 hours");
    assert.deepEqual(await ofKind("stuck_queue"), []);
  });

  test("locked by an unknown worker for 5 minutes is reported as a queue that may be stuck.", async () => {
    await held("stock", "4 minutes");
    assert.equal((await read()).level, "ok");
    await holdQueue("crm:acme", "stock", "6 minutes 5 s");
    const { verdict, level, checks, incidents } = await read();
    assert.deepEqual(
      [verdict, level, incidents.length],
      ["Queue crm:acme may be stuck", "warn", 1],
    );
    assert.equal(
      incidents[0]?.sentence,
      "3 jobs wait. stock has locked the queue for 6 m 5 s and sends no heartbeats: check that it is still running.",
    );
    const [one] = incidents;
    assert.deepEqual([one?.kind, one?.fix, one?.affected.value], ["locked_queue", null, 3]);
    assert.equal(checks.find(({ text }) => text === "No queue is stuck")?.passed, false);
  });

  test("locked by an unknown worker for 4 hours is reported with an action that unlocks it. The incident is a warning, and does not call the worker stale.", async () => {
    await worker("w", ["sync"]);
    await held("stock", "3 hours");
    assert.equal((await read()).incidents[0]?.fix, null);
    await held("stock", "5 hours 5 s");
    const { level, incidents } = await read();
    assert.equal(incidents[0]?.fix?.action, "force-unlock");
    assert.equal(level, "warn");
    assert.match(
      incidents[0]?.sentence ?? "",
      /^6 jobs wait\. stock has locked the queue for 5 h and sends no heartbeats: check/,
    );
    assert.doesNotMatch(JSON.stringify(incidents), /not responding/);
  });
});

describe("An error group", () => {
  test("is bad only if it has at least 20 jobs and at least 1 % of all failed jobs. Its incident offers to retry the jobs of the group.", async () => {
    await fail(ids(await many(21, "charge")), "Error: HTTP 503 from 52f3a8\n  at x", "2 hours 5 s");
    await fail(ids(await many(19, "mail")), "Error: no address", "2 hours 5 s");
    const [one, other] = (await read()).incidents;
    assert.deepEqual([other?.title, other?.level], ["mail fails: Error: no address", "warn"]);
    assert.equal(one?.title, "charge fails: Error: HTTP # from #");
    assert.match(one?.sentence ?? "", /^21 jobs failed; last failure 2 h ago\.$/);
    assert.equal(one?.level, "bad");
    assert.deepEqual(one?.fix, { action: "retry", label: "Retry…", q: one?.q });
    assert.match(one?.q ?? "", /^is:failed group:[0-9a-f]{12}$/);
    assert.equal(
      one?.trend.reduce((sum, part) => sum + part, 0),
      21,
    );
    assert.equal(one?.trend.length, 24);
  });

  test("shows a value that its jobs have in common and that is rare in other jobs.", async () => {
    const put = (count: number, currency: string) =>
      sql(
        `insert into worker._private_jobs (task_id, payload)
         select id, json_build_object('currency', $2::text, 'n', n)
         from worker._private_tasks, generate_series(1, $1::int) as n returning id`,
        [count, currency],
      );
    await many(1, "charge");
    const failed = await put(40, "EUR");
    await put(20, "EUR");
    await put(80, "USD");
    await fail(
      failed.map((row) => row["id"] as string),
      "Error: no",
      "1 hour",
    );
    const [one] = await ofKind("error_group");
    assert.match(one?.sentence ?? "", / All have currency = "EUR" \(20 % of 101 other jobs\)\.$/);
  });

  test("is reported with the word All before a common value only if all jobs of the group were compared and have the value.", async () => {
    const put = async (count: number, currency: string) =>
      ids(
        await sql(
          `insert into worker._private_jobs (task_id, payload)
           select id, json_build_object('currency', $2::text)
           from worker._private_tasks, generate_series(1, $1::int) returning id`,
          [count, currency],
        ),
      );
    await many(1, "charge");
    await put(300, "USD");
    await put(1, "EUR");
    await fail([...(await put(3, "CHF")), ...(await put(700, "EUR"))], "Error: no", "1 hour");
    const most = / Over 99 % have currency = "EUR" \(under 1 % of 302 other jobs\)\.$/;
    assert.match((await ofKind("error_group"))[0]?.sentence ?? "", most);
    await fail(await put(1_000, "EUR"), "Error: no", "1 hour");
    const part =
      / Of 1,000 compared, all have currency = "EUR" \(under 1 % of [\d,]+ other jobs\)\.$/;
    assert.match((await ofKind("error_group"))[0]?.sentence ?? "", part);
  });

  test("is reported until its jobs are retried, even if it is old; new groups come first; a group whose jobs were all failed by hand is not reported.", async () => {
    await fail(ids(await many(100, "charge")), "Error: old", "30 days");
    const [id] = ids(await many(1, "mail"));
    await fail([id ?? ""], "Error: new", "14 minutes");
    const incidents = await ofKind("error_group");
    assert.deepEqual(
      incidents.map(({ title, level }) => [title, level]),
      [
        ["mail fails: Error: new", "warn"],
        // The last failure of this large group was a month ago, so its level is not `bad`.
        ["charge fails: Error: old", "warn"],
      ],
    );
    assert.match(incidents[0]?.sentence ?? "", /New in the last 15 minutes\.$/);
    await fail([await add("given")], markedFailed("by hand"), "1 minute");
    await sql("select worker.permanently_fail_jobs(array[$1::bigint])", [await add("given")]);
    const given = await add("given");
    const origin = { by: "ana", source: "command line" } as const;
    await permanentlyFailJobs(queue.db, [given], "the customer 4711 left", {
      origin,
      action: "fail",
      changes: { reason: "the customer 4711 left" },
    });
    assert.equal(
      (await ofKind("error_group")).length,
      2,
      "jobs that were failed by hand are no incident",
    );
    await fail([id ?? ""], "Error: new", "16 hours");
    const read = await insight().incidents();
    assert.equal(read.errorGroups, 2, "an old error group is still counted");
    assert.equal(read.verdict, "charge fails: 100 jobs, and 1 more issue");
    await sql("update worker._private_jobs set attempts = 0 where id = $1", [id]);
    assert.equal(
      (await ofKind("error_group")).length,
      1,
      "a group whose jobs are retried is no longer an incident",
    );
  });

  test("is left out only if all of its jobs were failed by hand.", async () => {
    const record = (reason: string) => ({
      origin: { by: "ana", source: "command line" } as const,
      action: "fail",
      changes: { reason },
    });
    const failByHand = async (given: readonly string[]) =>
      permanentlyFailJobs(queue.db, given, "Error: timeout", record("Error: timeout"));
    await failByHand(ids(await many(3, "mail")));
    assert.deepEqual(await ofKind("error_group"), []);
    await fail(ids(await many(30, "charge")), "Error: timeout\n    at x", "2 hours 5 s");
    const [one] = await ofKind("error_group");
    assert.equal(one?.title, "charge and others fail: Error: timeout");
    assert.match(one?.sentence ?? "", /^33 jobs failed; last known failure 2 h ago\./);
  });

  test("of missed deadlines or crashes offers no retry, and explains why.", async () => {
    await fail([await add("late")], "the deadline 2026-11-26T12:00:00.000Z has passed", "1 minute");
    const crash = "Recovered 25 times in a row: worker w stopped without finishing attempt 25";
    await fail([await add("pdf")], crash, "1 minute");
    const found = await ofKind("error_group");
    assert.deepEqual(
      found.map(({ sentence, fix }) => [/A retry .*$/.exec(sentence)?.[0], fix]).toSorted(),
      [
        ["A retry may crash workers again.", null],
        ["A retry would fail, too.", null],
      ],
    );
  });

  test("does not escape HTML in its title, and can have an empty error.", async () => {
    const hostile = `<img src=x> %s \\ \u202e it's "bad" \u{1f600}`;
    await fail(ids(await many(20, hostile)), `${hostile}\u0001\nsecond`, "1 hour 5 s");
    await fail(ids(await many(20, "t")), "", "1 hour 5 s");
    const titles = (await read()).incidents.map(({ title }) => title);
    assert.ok(titles.some((title) => title.startsWith(`${hostile} fails: <img src=x> %s`)));
    assert.ok(titles.includes("t fails: "), JSON.stringify(titles));
  });
});

describe("A poison job", () => {
  test("is one that was recovered several times in a row.", async () => {
    const id = await add("pdf");
    await add("pdf");
    await sql(
      `update worker._private_jobs set attempts = 17, run_at = now() + interval '26 minutes 30 s',
        last_error = 'Recovered 8 times in a row: worker w stopped without finishing attempt 17'
       where id = $1`,
      [id],
    );
    const [one, ...others] = await ofKind("poison");
    assert.deepEqual(others, []);
    assert.equal(one?.title, `pdf #${id} crashes its worker`);
    assert.match(
      one?.sentence ?? "",
      /^Attempt 18 of 25 is due in 26 m.*, and the last 8 crashed their worker\.$/,
    );
    const fix = { action: "stop-retrying", label: "Stop retrying…", jobIds: [id] };
    assert.deepEqual([one?.level, one?.q, one?.fix], ["bad", `id:${id}`, fix]);
  });

  test("is reported with the number of live workers that support its task, if it waits and the number is at least 2.", async () => {
    const id = await add("pdf");
    const lost = "Recovered 3 times in a row: worker w stopped without finishing attempt 3";
    await sql("update worker._private_jobs set attempts = 3, last_error = $2 where id = $1", [
      id,
      lost,
    ]);
    await worker("w-mail", ["mail"]);
    await worker("w-pdf", ["pdf"]);
    assert.match((await ofKind("poison"))[0]?.sentence ?? "", /^Attempt 4 of 25 is due, and /);
    await worker("w-pdf-2", ["mail", "pdf"]);
    const both = /^Attempt 4 of 25 is due on any of 2 workers, and /;
    assert.match((await ofKind("poison"))[0]?.sentence ?? "", both);
  });

  test("is reported with an action that stops its retries, even while it runs, unless its last attempt runs.", async () => {
    const id = await add("pdf");
    await sql("update worker._private_jobs set attempts = 18 where id = $1", [id]);
    await lockJob(queue, id, "stock");
    const [one] = await ofKind("poison");
    assert.equal(one?.fix?.action, "stop-retrying");
    assert.equal(one?.sentence, "Attempt 19 of 25 runs now, and the last 18 crashed their worker.");
    await sql("update worker._private_jobs set max_attempts = attempts where id = $1", [id]);
    assert.equal((await ofKind("poison"))[0]?.fix, null);
  });

  test("is the job that was running at every crash; jobs that ran beside it are not reported.", async () => {
    const lost = async (count: number, age: string) => {
      const id = await add("import");
      await sql(
        `update worker._private_jobs set attempts = $2::int, created_at = now() - interval '1 hour',
          updated_at = now() - $3::interval,
          last_error = format('Recovered %s times in a row: worker w%s stopped without finishing attempt %s', $2::int, $2::int, $2::int)
         where id = $1`,
        [id, count, age],
      );
      return id;
    };
    const beside = [await lost(16, "3 minutes"), await lost(9, "5 minutes")];
    const culprit = await lost(18, "1 minute");
    const [one, ...others] = await ofKind("poison");
    assert.deepEqual([one?.links.job, others], [culprit, []]);
    const [first, second] = beside;
    assert.match(
      one?.sentence ?? "",
      new RegExp(
        `^Attempt 19 .* 2 other jobs lost fewer attempts in crashes: 16 by #${first}, 9 by #${second}\\.$`,
      ),
    );
    // After the culprit has failed, a job that ran beside it is reported only after a crash without the culprit.
    await sql("update worker._private_jobs set max_attempts = attempts where id = $1", [culprit]);
    assert.deepEqual(await ofKind("poison"), []);
    await sql("update worker._private_jobs set updated_at = now() where id = $1", [first]);
    assert.deepEqual(
      (await ofKind("poison")).map(({ links }) => links.job),
      [first],
    );
  });

  test("is reported in addition to another poison job if its last crash was later, or happened at the same time in another worker.", async () => {
    const lost = async (id: string, count: number, by: string, age: string) =>
      sql(
        `update worker._private_jobs set attempts = $2::int, created_at = now() - interval '1 hour',
          updated_at = date_trunc('minute', now()) - $4::interval,
          last_error = format('Recovered %s times in a row: worker %s stopped without finishing attempt %s', $2::int, $3::text, $2::int)
         where id = $1`,
        [id, count, by, age],
      );
    const [bang, grow] = [await add("bang"), await add("grow")];
    const poison = async () =>
      ids((await ofKind("poison")).map(({ links }) => ({ id: links.job ?? "" })));
    for (const [count, by, age] of [
      [6, "a worker", "5 minutes"],
      [5, "a worker", "5 minutes"],
      [5, "w2", "2 minutes"],
    ] as const) {
      await lost(bang, 6, "w1", "5 minutes");
      await lost(grow, count, by, age);
      assert.deepEqual(
        (await poison()).toSorted(),
        [bang, grow].toSorted(),
        `grow was recovered ${count} times, from ${by}, ${age} ago`,
      );
    }
    // A row shows only the last crash of its job, so the walk remembers its conclusions from earlier crashes.
    const walk = createPoisonWalk();
    const apart = async () => {
      const found = await walk(queue.db, await readGauge(queue.db));
      return found.poison.find(({ id }) => id === grow)?.apartFrom;
    };
    assert.deepEqual(await apart(), new Set([bang]));
    await lost(bang, 7, "w3", "1 minute");
    assert.deepEqual(await apart(), new Set([bang]));
    assert.deepEqual(await poison(), [bang]);
  });

  test("cannot be determined if several jobs were running at every crash; one incident then has all these jobs.", async () => {
    const ids = [await add("import"), await add("import"), await add("exiting")];
    await sql(
      `update worker._private_jobs set attempts = 10, updated_at = now() - interval '5 s',
        max_attempts = case when id = $2::bigint then 10 else 25 end,
        last_error = 'Recovered 10 times in a row: worker w stopped without finishing attempt 10'
       where id = any($1)`,
      [ids, ids[2]],
    );
    await lockJob(queue, ids[2] ?? "", "w");
    const [one, ...others] = await ofKind("poison");
    assert.deepEqual(
      [others, one?.title, one?.affected.value, one?.q, one?.links.job],
      [[], "3 jobs ran whenever their worker crashed", 3, `id:${ids.join(",")}`, null],
    );
    assert.match(
      one?.sentence ?? "",
      new RegExp(
        `lost their last 10 attempts.* import #${ids[0]}, import #${ids[1]}, exiting #${ids[2]}\\.$`,
      ),
    );
    assert.deepEqual(one?.fix, {
      action: "stop-retrying",
      label: "Stop retrying…",
      jobIds: ids.slice(0, 2),
    });
  });

  test("is reported with the first fields of its payload, its crashes, and the jobs that ran beside it.", async () => {
    const lost = async (count: number, payload: unknown, age: string) => {
      const { id } = await addJob(queue.db, { identifier: "import", payload, spec: {} });
      await sql(
        `update worker._private_jobs set attempts = $2::int, created_at = now() - interval '1 hour',
          updated_at = now() - $3::interval,
          last_error = format('Recovered %s times in a row: worker w%s stopped', $2::int, $2::int)
         where id = $1`,
        [id, count, age],
      );
      return id;
    };
    const big = 9_140_523_887_126_000_001n;
    const payload = { file: "s3://a/ü.csv", rows: big, list: [1, { n: 2 }], rest: true };
    const culprit = await lost(5, payload, "1 minute");
    const beside = await lost(3, ["no object"], "90 seconds");
    await lockJob(queue, culprit, "w-now");
    for (const [id, at] of [
      ["w-3", "6 minutes"],
      ["w-4", "3 minutes"],
      ["w-5", "1 minute"],
    ] as const) {
      await worker(id, [], at, { running_jobs: 1 });
      await sql(
        `update worker._private_workers set metadata = metadata
           || jsonb_build_object('recovered_at', now() - $2::interval) where id = $1`,
        [id, at],
      );
    }
    const [one, ...others] = await ofKind("poison");
    assert.deepEqual(others, []);
    assert.deepEqual(one?.crash?.fields, [
      { name: "file", value: '"s3://a/ü.csv"' },
      { name: "rows", value: String(big) },
      { name: "list", value: '[1,{"n":2}]' },
    ]);
    const { jobs, crashes, times, worker: by } = one?.crash ?? {};
    assert.deepEqual([crashes, by], [5, "w-5"]);
    // For only 3 of the 5 crashes, the crashed worker still has a row. So the sentence names a period.
    assert.match(one?.sentence ?? "", / 3 workers crashed in the last 6 m\b/);
    assert.deepEqual(
      jobs?.map(({ id, task, crashes: count }) => [id, task, count]),
      [
        [culprit, "import", 5],
        [beside, "import", 3],
      ],
    );
    const ages = (times ?? []).map((time) => Math.round((Date.now() - Date.parse(time)) / 60_000));
    assert.deepEqual(ages, [6, 3, 1]);
    assert.deepEqual([one?.trend.length, one?.trend.at(-1)], [24, 3]);
  });

  for (const [name, payload, count] of [
    ["is not an object", [1, 2], 0],
    ["is an empty object", {}, 0],
    ["has one long field", { "a b": "x".repeat(500) }, 1],
    ["is too large", { text: Array.from({ length: 3_000 }, (_, n) => n).join("") }, 0],
  ] as const) {
    test(`is reported with ${count === 0 ? "no fields" : "one shortened field"} if its payload ${name}.`, async () => {
      const { id } = await addJob(queue.db, { identifier: "t", payload, spec: {} });
      await sql("update worker._private_jobs set attempts = 3 where id = $1", [id]);
      const [one] = await ofKind("poison");
      const fields = one?.crash?.fields ?? [];
      assert.equal(fields.length, count);
      assert.ok(fields.every(({ value }) => value.length <= 61));
      assert.deepEqual([one?.crash?.times, one?.trend], [[], []]);
    });
  }

  test("of a Graphile worker is recognized by several attempts that have ended and left no error.", async () => {
    const [two, three, running] = [await add("t"), await add("t"), await add("t")];
    await sql("update worker._private_jobs set attempts = 2, max_attempts = 25 where id = $1", [
      two,
    ]);
    await sql("update worker._private_jobs set attempts = 3, last_error = 'x' where id = $1", [
      two,
    ]);
    await sql("update worker._private_jobs set attempts = 3 where id = $1", [three]);
    await sql("update worker._private_jobs set attempts = 1 where id = $1", [running]);
    await lockJob(queue, running, "stock");
    assert.deepEqual(
      (await ofKind("poison")).map(({ links }) => links.job),
      [three],
    );
  });

  test("is not a job that is cancelled while its first attempt runs.", async () => {
    const id = await add("endless");
    await lockJob(queue, id, "w");
    await cancelJobs(queue.db, [id]);
    assert.deepEqual(await ofKind("poison"), []);
    await sql("delete from worker._private_cancellations");
  });

  test("is not reported after its last attempt has ended.", async () => {
    const id = await add("t", { maxAttempts: 3 });
    await sql("update worker._private_jobs set attempts = 3 where id = $1", [id]);
    assert.deepEqual(await ofKind("poison"), []);
  });
});

describe("An unsupported task", () => {
  const waits = async () => {
    await many(3, "lost");
    await add("known");
    await sql("update worker._private_jobs set run_at = now() - interval '18 minutes'");
  };

  test("is reported, with the level bad, if each live worker lists all tasks that it supports.", async () => {
    await worker("w", ["known"]);
    await worker("gone", ["lost"], "1 hour 5 s", { running_jobs: 0 });
    await waits();
    const [one] = await ofKind("unsupported_task");
    assert.equal(one?.title, "lost has no worker");
    assert.equal(
      one?.sentence,
      "3 jobs are due, but the only worker alive does not support this task. gone did, but is not responding.",
    );
    assert.deepEqual(
      [one?.level, one?.affected.value, one?.q],
      ["bad", 3, 'task:"lost" is:due -is:blocked'],
    );
    // Jobs whose task has no worker are not also reported as overdue.
    assert.equal((await ofKind("old_ready"))[0]?.affected.value, 1);
  });

  test("is not reported if a worker's list of tasks is cut, or if a Graphile worker holds a lock.", async () => {
    await worker("w", ["known"], "0s", { tasks_cut: true });
    await waits();
    assert.deepEqual(await ofKind("unsupported_task"), []);
    await worker("w", ["known"]);
    assert.equal((await ofKind("unsupported_task")).length, 1);
    await lockJob(queue, await add("known"), "stock");
    assert.deepEqual(await ofKind("unsupported_task"), []);
  });
});

describe("Without a worker", () => {
  test("due jobs are an incident with the level bad if a job has been due for 15 seconds, and no job was locked or finished in that time.", async () => {
    await many(2, "t");
    await sql("update worker._private_jobs set run_at = now() - interval '14 seconds'");
    assert.deepEqual((await read()).incidents, []);
    await sql("update worker._private_jobs set run_at = now() - interval '103 seconds'");
    const { verdict, level, incidents } = await read();
    assert.deepEqual([verdict, level], ["No workers are running", "bad"]);
    assert.deepEqual([incidents[0]?.affected.value, incidents[0]?.q], [2, "is:due -is:blocked"]);
    assert.match(
      incidents[0]?.sentence ?? "",
      /^2 jobs are due; the oldest \(t\) for 1 m 43 s\. No worker sends heartbeats, and no job is locked\.$/,
    );
    // The last worker may have stopped long after the oldest job became due.
    assert.equal(incidents[0]?.since, null);
    const [before] = ids(await many(1, "u"));
    await sql(
      "update worker._private_jobs set last_error = 'x', attempts = 1, run_at = now() + interval '1 hour', updated_at = now() - interval '40 seconds' where id = $1",
      [before],
    );
    assert.match(
      (await read()).incidents.find(({ kind }) => kind === "no_worker")?.sentence ?? "",
      /, and the last known lock or failure is 40 s old\.$/,
    );
    await sql("delete from worker._private_jobs where id = $1", [before]);
    const [taken] = ids(await many(1, "t"));
    await lockJob(queue, taken ?? "", "stock");
    await sql(
      "update worker._private_jobs set locked_at = now() - interval '14 seconds' where id = $1",
      [taken],
    );
    assert.deepEqual((await read()).incidents, []);
    await sql(
      "update worker._private_jobs set locked_at = now() - interval '16 seconds' where id = $1",
      [taken],
    );
    const busy = await read();
    assert.equal(busy.verdict, "No worker is known to take jobs");
    assert.match(busy.incidents[0]?.sentence ?? "", / 1 worker without heartbeats may be busy\.$/);
    await worker("w", ["t"]);
    assert.deepEqual(await ofKind("no_worker"), []);
  });

  test("a worker that still holds a lock after its jobs were recovered does not count as a worker without heartbeats.", async () => {
    await many(2, "t");
    await sql("update worker._private_jobs set run_at = now() - interval '1 minute'");
    await worker("dead", ["t"], "50 seconds", { recovered_at: "now", recovered_jobs: 1 });
    const [resilient] = ids(await many(1, "t"));
    await lockJob(queue, resilient ?? "", "dead");
    await sql(
      "update worker._private_jobs set locked_at = now() - interval '1 minute' where id = $1",
      [resilient],
    );
    const { verdict, incidents } = await read();
    assert.equal(verdict, "No workers are running");
    assert.doesNotMatch(incidents[0]?.sentence ?? "", /without heartbeats/);
  });

  test("an attempt that has just failed is evidence of a worker; a change of a job by hand is not.", async () => {
    await many(2, "t");
    await sql("update worker._private_jobs set run_at = now() - interval '1 minute'");
    const watched = insight();
    const first = await watched.incidents();
    assert.equal(first.verdict, "No workers are running");
    // Completed jobs are deleted, so the first call cannot detect them.
    assert.match(first.incidents[0]?.sentence ?? "", /, and no job is locked\.$/);
    const [failed] = ids(await many(1, "t"));
    await sql(
      `update worker._private_jobs set attempts = 1, last_error = 'x', run_at = now() + interval '1 minute',
         updated_at = now() where id = $1`,
      [failed],
    );
    assert.equal((await read()).incidents.length, 0);
    await rescheduleJobs(queue.db, [failed ?? ""], { priority: 5 });
    assert.equal(
      (await read()).verdict,
      "No workers are running",
      "a change by hand is no sign of a worker",
    );
  });
});

test("One or two workers whose jobs were recovered are not an incident; three are one incident, a crash loop.", async () => {
  await worker("w", ["t"]);
  const marked = (more: object) => ({ recovered_at: new Date().toISOString(), ...more });
  await worker("a", ["t"], "125 s", marked({ running_jobs: 4, recovered_jobs: 5 }));
  await worker("b", ["t"], "1 minute", marked({ running_jobs: 0, recovered_jobs: 1 }));
  // The next three workers do not count: one was idle, one has lost no job, and one crashed two hours ago.
  await worker("idle", ["t"], "1 minute", marked({ running_jobs: 0 }));
  await worker("unlocked", ["t"], "1 minute", marked({ running_jobs: 4, recovered_jobs: 0 }));
  await worker("old", ["t"], "2 hours", marked({ running_jobs: 4, recovered_jobs: 4 }));
  assert.deepEqual((await read()).incidents, []);
  // Older versions of the library do not write how many jobs of a worker were recovered.
  await worker("c", ["t"], "10 s", marked({ running_jobs: 4 }));
  const { verdict, incidents } = await read();
  assert.match(verdict, /^3 workers crashed within 2 m/);
  assert.deepEqual([incidents.length, incidents[0]?.id], [1, "crash_loop"]);
});

test("Ready jobs that wait for more than 5 minutes are an incident with the level bad; jobs of locked queues are not counted.", async () => {
  await worker("w", ["t"]);
  await many(2, "t");
  await many(4, "t", { queueName: "held" });
  await holdQueue("held", "w", "10 minutes");
  await sql("update worker._private_jobs set run_at = now() - interval '4 minutes'");
  assert.deepEqual(await ofKind("old_ready"), []);
  await sql("update worker._private_jobs set run_at = now() - interval '12 minutes 5 s'");
  const [one] = await ofKind("old_ready");
  assert.match(
    one?.sentence ?? "",
    /^2 jobs wait; the oldest \(t\) for 12 m.* 1 worker is alive\.$/,
  );
  assert.equal(one?.level, "bad");
  await sql("delete from worker._private_workers");
  await lockJob(queue, await add("t"), "stock");
  const [alone] = await ofKind("old_ready");
  assert.match(alone?.sentence ?? "", /No worker with heartbeats is alive\.$/);
});

test("The incident of a pause shows when the pause ends, unless the end is only seconds away.", async () => {
  const by = { reason: "deploy", pausedBy: "ana", resumeAt: null };
  await setPause(queue.db, { scope: "task", name: "late" }, { ...by, forMs: 3_600_000 });
  await setPause(queue.db, { scope: "task", name: "soon" }, { ...by, forMs: 10_000 });
  const paused = await ofKind("paused");
  const sentences = paused.map(({ title, sentence }) => `${title}. ${sentence}`).sort();
  assert.match(sentences[0] ?? "", /^Task late is paused\. .*Paused by ana until 2.*: deploy\.$/);
  assert.match(sentences[1] ?? "", /^Task soon is paused\. .*Paused by ana: deploy\.$/);
  await sql("truncate worker._private_pauses");
});

test("If there are more priorities than are read, the number of jobs that a pause keeps waiting is a lower bound.", async () => {
  // The first 32 priorities have only future jobs.
  for (let priority = 0; priority < 32; priority++) {
    await add("late", { priority, runAt: "2999-01-01T00:00:00Z" });
  }
  await many(3, "late", { priority: 50 });
  const by = { reason: null, pausedBy: null, resumeAt: null, forMs: null };
  await setPause(queue.db, { scope: "task", name: "late" }, by);
  const [paused] = await ofKind("paused");
  assert.deepEqual([paused?.affected.value, paused?.affected.precision], [0, "capped"]);
  await sql("truncate worker._private_pauses");
});

test("If one statement times out, an incident reports that data were not read, or a sample is read instead.", async () => {
  await worker("w", ["t"]);
  await many(3, "t", { queueName: "held" });
  await many(3, "late");
  await fail(ids(await many(2, "t")), "Error: no", "1 hour");
  await holdQueue("held", "w", "5 minutes");
  const by = { reason: null, pausedBy: null, resumeAt: null, forMs: null };
  await setPause(queue.db, { scope: "queue", name: "other" }, by);
  await sql(`with full_limit as (
      insert into worker._private_limits (name, scope, match, concurrency) values ('one', 'task', 't', 1)
      returning id
    )
    insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select id, 'w', 1, 1, 3 from full_limit`);
  const check = async (isSlow: (text: string) => boolean) => {
    const client = {
      query: (statement: { readonly text: string }) =>
        isSlow(statement.text)
          ? Promise.reject(Object.assign(new Error("too late"), { code: "57014" }))
          : queue.pool.query(statement),
    };
    return createInsight({ ...queue.db, client } as unknown as typeof queue.db).incidents();
  };
  const sent = new Set<string>();
  const all = await check((text) => sent.add(text) === null);
  assert.deepEqual(all.incidents.map(({ id }) => id).includes("trouble:unread"), false);
  // If the statement with `has_heartbeats` fails, the whole call fails, so this statement is left out.
  const parts = [...sent].filter((text) => !text.includes("as has_heartbeats"));
  assert.ok(parts.length > 15, `only ${parts.length} statements`);
  for (const part of parts) {
    const { incidents } = await check((text) => text === part);
    const isUnread = incidents.some(({ id }) => id === "trouble:unread");
    // If a read of the whole table times out, a sample is read instead.
    assert.ok(isUnread || /from "worker"\._private_jobs as jobs\s+where/.test(part), part);
  }
  await sql("truncate worker._private_pauses, worker._private_limits cascade");
});

test("Infinite times cause no error.", async () => {
  await worker("w", ["t"]);
  const [never, always] = [await add("t"), await add("t"), await add("t", { queueName: "q" })];
  await holdQueue("q", "stock", "5 hours");
  await sql(
    "update worker._private_jobs set run_at = '-infinity', created_at = '-infinity', updated_at = '-infinity'",
  );
  await sql("update worker._private_jobs set attempts = 3, run_at = 'infinity' where id = $1", [
    never,
  ]);
  await sql("update worker._private_jobs set updated_at = 'infinity' where id = $1", [always]);
  await fail([await add("t")], "Error: no", "1 hour");
  await sql(
    "update worker._private_jobs set updated_at = 'infinity' where attempts = max_attempts",
  );
  const kinds = (await read()).incidents.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["old_ready", "poison", "stuck_queue", "error_group"]);
});

test("A coming peak of scheduled jobs is reported with its time.", async () => {
  await sql("insert into worker._private_tasks (identifier) values ('t')");
  const put = (count: number, at: string) =>
    sql(
      `insert into worker._private_jobs (task_id, run_at)
       select 1, now() + $2::interval from generate_series(1, $1)`,
      [count, at],
    );
  await put(900, "3 hours");
  assert.deepEqual(await ofKind("peak"), []);
  await put(900, "3 hours");
  const [one] = await ofKind("peak");
  assert.match(
    one?.sentence ?? "",
    /^1,800 jobs are due in 2 h \d+ m to 3 h( \d+ m)?: over ten times/,
  );
  assert.match(one?.q ?? "", /^is:scheduled due>=\+\d+s due<\+\d+s$/);
  assert.equal((await read()).level, "warn");
});

test("Jobs spread evenly over a day are not a peak, although later buckets of the horizon are wider and have more jobs.", async () => {
  await sql("insert into worker._private_tasks (identifier) values ('t')");
  await sql(`insert into worker._private_jobs (task_id, run_at)
    select 1, now() + n * interval '2 seconds' from generate_series(1, 43200) as n`);
  assert.deepEqual(await ofKind("peak"), []);
});

test("An error group that is named after a place in the code shows one of its errors.", async () => {
  for (const [n, id] of ids(await many(25, "import")).entries()) {
    const word = `${String.fromCharCode(97 + n)}bc`;
    const error = `ParseError: no ${word} here\n    at parse (/app/parse.js:${n}:5)\n    at x`;
    await fail([id], error, "1 minute");
  }
  await fail(ids(await many(25, "charge")), "Error: declined", "1 minute");
  const sentences = (await ofKind("error_group")).map(({ sentence }) => sentence);
  assert.deepEqual(sentences.map((one) => / Such as: .*/.exec(one)?.[0].slice(0, 28)).sort(), [
    " Such as: ParseError: no abc",
    undefined,
  ]);
});

test("A stale worker is reported with its locks; a stale worker without locks is not reported.", async () => {
  await worker("w", ["t"]);
  await worker("idle", ["t"], "1 hour 5 s", { running_jobs: 0 });
  await worker("busy", ["t"], "1 hour 5 s", { running_jobs: 4 });
  assert.deepEqual((await read()).incidents, []);
  await lockJob(queue, await add("t"), "busy", "1 hour");
  const [one, ...others] = (await read()).incidents;
  assert.deepEqual(others, []);
  assert.equal(one?.id, "stale_worker:busy");
  assert.match(one?.sentence ?? "", /^It has locked 1 job\. Its last heartbeat was 1 h ago\.$/);
  assert.deepEqual([one?.affected.value, one?.affected.basis], [1, "scan"]);
  assert.equal(one?.q, 'worker:"busy"');
});

test("The incident of a stale worker counts the jobs that the worker has locked, whatever its last heartbeat reported.", async () => {
  await worker("holder", ["t"], "1 hour 5 s", { running_jobs: 0 });
  await worker("quiet", ["t"], "1 hour 5 s");
  await worker("new", ["t"], "1 hour 5 s", { running_jobs: 0 });
  await lockJob(queue, await add("t"), "quiet", "1 hour");
  for (const id of ids(await many(3, "t"))) await lockJob(queue, id, "new", "1 hour");
  await many(1, "t", { queueName: "q", runAt: "2999-01-01T00:00:00Z" });
  await holdQueue("q", "holder", "1 hour 5 s");
  const stale = await ofKind("stale_worker");
  const facts = stale.map(({ id, q, affected }) => [id, q, affected.value, affected.precision]);
  assert.deepEqual(facts.sort(), [
    ["stale_worker:holder", null, 0, "exact"],
    ["stale_worker:new", 'worker:"new"', 3, "exact"],
    ["stale_worker:quiet", 'worker:"quiet"', 1, "exact"],
  ]);
  const locks = stale.map(({ sentence }) => /^It has locked (.*?)\./.exec(sentence)?.[1]);
  assert.deepEqual(locks.sort(), ["1 job", "1 queue", "3 jobs"]);
});

test("The worst incident comes first: a stuck queue, then a poison job, then an error group.", async () => {
  await worker("w-silent", ["sync"], "1 hour 5 s", { running_jobs: 1 });
  await many(3, "sync", { queueName: "q" });
  await holdQueue("q", "w-silent", "1 hour 5 s");
  await fail(ids(await many(30, "charge")), "Error: no", "1 minute");
  const poison = await add("pdf", { runAt: "2999-01-01T00:00:00Z" });
  await sql("update worker._private_jobs set attempts = 3 where id = $1", [poison]);
  const { verdict, incidents } = await read();
  assert.equal(verdict, "Queue q is stuck, and 2 more issues");
  assert.deepEqual(
    incidents.map(({ kind }) => kind),
    ["stuck_queue", "poison", "error_group"],
  );
});

test("Schedules whose ticks add no jobs are one incident; paused schedules are not part of it.", async () => {
  const due = async (identifier: string, ago: string, more = "") =>
    sql(
      `insert into worker._private_schedules (identifier, task, pattern, next_at${more === "" ? "" : ", paused_at"})
       values ($1, 't', '* * * * *', now() - $2::interval${more})`,
      [identifier, ago],
    );
  await due("recent", "30 seconds");
  await due("paused", "3 hours", ", now()");
  assert.deepEqual(await ofKind("missed_ticks"), []);
  await due("nightly", "5 hours");
  const [one] = await ofKind("missed_ticks");
  assert.equal(one?.title, "nightly has missed ticks");
  assert.equal(one?.sentence, "No live worker adds its jobs; the first was due 5 h ago.");
  await due("report", "2 hours");
  const [both] = await ofKind("missed_ticks");
  assert.equal(both?.title, "2 cron entries have missed ticks");
  assert.match(both?.sentence ?? "", /5 h ago: nightly, report\.$/);
  await sql("delete from worker._private_schedules");
});

test("Missed ticks of a cron entry in code are reported if a live worker has the entry and no worker added the jobs of these ticks.", async () => {
  const cron = [{ identifier: "digest", task: "t", pattern: "0 8 * * *", backfill_ms: 0 }];
  await worker("started-later", ["t"], "0s", { cron });
  await sql(`insert into worker._private_known_crontabs
    values ('digest', now() - interval '9 days', now() - interval '3 days')`);
  const [one] = await ofKind("missed_ticks");
  assert.equal(one?.title, "digest has missed ticks");
  assert.match(one?.sentence ?? "", /^No worker added its jobs; the first was due (2|3) d ago\.$/);
  await sql("delete from worker._private_known_crontabs");
});
