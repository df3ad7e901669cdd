// An add reads the rows of its job's task and named queue, and does not lock them. So a cleanup may delete these rows
// as unused before the add is committed. After the commit, the cleanup must restore the rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import type pg from "pg";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { copyJobs } from "../../src/queue/add/copy-jobs.ts";
import { readLostNames, recoverLostQueues } from "../../src/queue/tidy/lost-names.ts";
import { waitUntil } from "../support/until.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

const NAMES = ["gc-task-identifiers", "gc-job-queues"] as const;
const NONE = { queues: [], queuedJobs: 0, tasklessJobs: 0 };

const addUnused = () =>
  queue.sql(`with task as (insert into worker._private_tasks (identifier) values ('t'))
    insert into worker._private_job_queues (queue_name) values ('q')`);

const namesOfJobs = () =>
  queue.sql<{ task: string; queue: string; id: number }>(
    `select t.identifier as task, q.queue_name as queue, q.id
     from worker._private_jobs j
     left join worker._private_tasks t on t.id = j.task_id
     left join worker._private_job_queues q on q.id = j.job_queue_id order by j.id`,
  );

/**
 * Starts a cleanup, and resolves when the cleanup has deleted the queue `q` and waits for the end of the open
 * transactions. `cleaned` resolves when the cleanup ends.
 */
async function cleanupThatWaits(tasks: Parameters<typeof cleanup>[1] = NAMES) {
  const cleaned = cleanup(queue.db, tasks);
  const queues = () => queue.sql("select from worker._private_job_queues where queue_name = 'q'");
  await waitUntil("the queue is deleted", async () => (await queues()).length === 0);
  return { cleaned };
}

async function inTransaction(begin: string, work: (client: pg.PoolClient) => Promise<void>) {
  const client = await queue.pool.connect();
  try {
    await client.query(begin);
    await work(client);
    await client.query("commit");
  } finally {
    client.release();
  }
}

const ADDS: Record<string, (client: pg.PoolClient) => Promise<unknown>> = {
  "the library": (client) =>
    addJob({ ...queue.db, client }, { identifier: "t", spec: { queueName: "q" } }),
  "SQL's add_job": (client) => client.query("select worker.add_job('t', '{}', 'q')"),
};

for (const [owner, add] of Object.entries(ADDS)) {
  test(`A cleanup restores the queue of a job that ${owner} has added in a transaction that is open during the deletion.`, async () => {
    await addUnused();
    let cleaned: ReturnType<typeof cleanup> | undefined;
    await inTransaction("begin", async (client) => {
      await add(client);
      ({ cleaned } = await cleanupThatWaits(["gc-job-queues"]));
    });
    assert.equal((await cleaned)?.deletedQueues, 0);
    assert.deepEqual(await namesOfJobs(), [{ task: "t", queue: "q", id: 1 }]);
    assert.deepEqual(await readLostNames(queue.db), NONE);
  });
}

test("A cleanup restores the task of a job that was added in a transaction that is open during the deletion.", async () => {
  await addUnused();
  let cleaned: ReturnType<typeof cleanup> | undefined;
  await inTransaction("begin", async (client) => {
    await client.query("select worker.add_job('t')");
    cleaned = cleanup(queue.db, ["gc-task-identifiers"]);
    const tasks = () => queue.sql("select from worker._private_tasks");
    await waitUntil("the task is deleted", async () => (await tasks()).length === 0);
  });
  assert.equal((await cleaned)?.deletedTaskIdentifiers, 0);
  assert.equal((await namesOfJobs())[0]?.task, "t");
});

test("A cleanup also waits for a transaction that has only read so far.", async () => {
  await addUnused();
  let cleaned: ReturnType<typeof cleanup> | undefined;
  await inTransaction("begin isolation level repeatable read", async (client) => {
    await client.query("select from worker._private_jobs");
    ({ cleaned } = await cleanupThatWaits(["gc-job-queues"]));
    await client.query("select worker.add_job('t', '{}', 'q')");
  });
  await cleaned;
  assert.deepEqual(await readLostNames(queue.db), NONE);
});

test("If a new queue with the name of a deleted queue exists, a cleanup moves the job of the deleted queue to the new queue.", async () => {
  await addUnused();
  let cleaned: ReturnType<typeof cleanup> | undefined;
  await inTransaction("begin", async (client) => {
    await client.query("select worker.add_job('t', '{}', 'q')");
    ({ cleaned } = await cleanupThatWaits(["gc-job-queues"]));
    await queue.sql("select worker.add_job('t', '{}', 'q')");
  });
  await cleaned;
  const jobs = await namesOfJobs();
  assert.deepEqual(
    jobs.map(({ queue: name }) => name),
    ["q", "q"],
  );
  assert.equal(jobs[0]?.id, jobs[1]?.id);
});

test("copyJobs() restores names that are deleted after copyJobs() has read them.", async () => {
  await addUnused();
  const jobs = async function* () {
    for (let n = 0; n < 600; n++) yield { identifier: "t", spec: { queueName: "q" } };
    // copyJobs() has read the names for its first step of 500 jobs, and has not sent any job.
    await queue.sql("delete from worker._private_job_queues; delete from worker._private_tasks");
  };
  assert.equal(await copyJobs(queue.db, jobs()), 600);
  assert.deepEqual(await readLostNames(queue.db), NONE);
});

test("A queue that Graphile Worker's cleanup has deleted gets a new row and name, and its jobs stay in one queue.", async () => {
  await queue.sql("select worker.add_job('t', '{}', 'q'), worker.add_job('t', '{}', 'q')");
  await queue.sql("delete from worker._private_job_queues");
  assert.deepEqual(await readLostNames(queue.db), { queues: [1], queuedJobs: 2, tasklessJobs: 0 });
  const why = await explainJob(queue.db, "1");
  assert.match(
    why?.sentence ?? "",
    /^Cannot run: the row of its queue was deleted .*"worker cleanup --task gc-job-queues"/,
  );
  assert.deepEqual(
    why?.causes.map(({ kind, isRoot }) => [kind, isRoot]),
    [["queue_deleted", true]],
  );
  assert.equal(await recoverLostQueues(queue.db), 1);
  assert.deepEqual(
    (await namesOfJobs()).map(({ queue: name, id }) => [name, id]),
    [
      ["recovered-queue-1", 1],
      ["recovered-queue-1", 1],
    ],
  );
  assert.equal(await recoverLostQueues(queue.db), 0);
});

test("A cleanup also gives a new row and name to a queue that Graphile Worker's cleanup has deleted.", async () => {
  await queue.sql("select worker.add_job('t', '{}', 'q')");
  await queue.sql("delete from worker._private_job_queues");
  await cleanup(queue.db, ["gc-job-queues"]);
  assert.equal((await namesOfJobs())[0]?.queue, "recovered-queue-1");
});

test("A job whose task has no row is explained as unable to run.", async () => {
  await queue.sql("select worker.add_job('t')");
  await queue.sql("delete from worker._private_tasks");
  const why = await explainJob(queue.db, "1");
  assert.match(why?.sentence ?? "", /^Cannot run: the name of its task was deleted/);
  assert.equal(why?.causes[0]?.fix?.action, "fail");
  assert.equal((await readLostNames(queue.db)).tasklessJobs, 1);
});

test("Inside a caller's transaction, a cleanup of names is refused, and a cleanup of failed jobs is not.", async () => {
  await inTransaction("begin", async (client) => {
    const inside = { ...queue.db, client };
    await assert.rejects(cleanup(inside), {
      code: "configuration",
      message: /inside a transaction/,
    });
    assert.equal((await cleanup(inside, ["delete-permanently-failed-jobs"])).deletedJobs, 0);
  });
});

test("During repeated cleanups every job of 24 producers keeps its queue.", async () => {
  const PRODUCERS = 24;
  const ROUNDS = 25;
  let isOver = false;
  const cleaning = (async () => {
    while (!isOver) await cleanup(queue.db, NAMES);
  })();
  const produce = async (n: number) => {
    for (let round = 0; round < ROUNDS; round++) {
      await addJob(queue.db, { identifier: `t${n}`, spec: { queueName: `q${n}` } });
      // Deletes the jobs as if they had run, so that the names are unused and a cleanup may delete them.
      if (round % 2 === 0) {
        await queue.sql(
          `delete from worker._private_jobs where task_id in
           (select id from worker._private_tasks where identifier = $1)`,
          [`t${n}`],
        );
      }
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, (_, n) => produce(n)));
  isOver = true;
  await cleaning;
  assert.deepEqual(await readLostNames(queue.db), NONE);
});
