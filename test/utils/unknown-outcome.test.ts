// Tests calls that add jobs and lose their connection before the response. The error is `outcome_unknown` if jobs may
// have been added, and `database_unreachable` if certainly no job was added. If a call with a job key is repeated while
// the job of the first call waits, no second job is added.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import pg from "pg";
import { WorkerError } from "../../src/base/errors.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import { testQueue } from "../queue/queue-database.ts";
import { type TcpProxy, tcpProxy } from "../support/tcp-proxy.ts";

describe("An add whose response is lost", () => {
  const queue = testQueue();
  let proxy: TcpProxy;
  let utils: WorkerUtils;
  before(async () => {
    proxy = await tcpProxy(queue.url);
    utils = await makeWorkerUtils({ connectionString: proxy.url });
  });
  after(async () => {
    await utils.end();
    await proxy.close();
  });
  // This call opens the pool's connection before a test cuts a response. added() does not count the job of this call.
  beforeEach(() => utils.addJob("known", {}, { jobKey: "known" }));

  const added = async () => {
    const [row] = await queue.sql<{ n: number }>(
      "select count(*)::int as n from worker._private_jobs where key is distinct from 'known'",
    );
    return row?.n;
  };
  const withCode = (code: string) => (error: unknown) =>
    error instanceof WorkerError && error.code === code;

  const ways: readonly [string, number, string, () => Promise<unknown>][] = [
    ["addJob", 1, "SELECT", () => utils.addJob("mail", {})],
    ["addJob with a key", 1, "SELECT", () => utils.addJob("mail", {}, { jobKey: "once" })],
    ["addJobs", 2, "SELECT", () => utils.addJobs(twice)],
    ["addJobs with a key", 2, "SELECT", () => utils.addJobs([...twice.slice(1), keyed])],
    ["addJobs with a repeated key", 1, "COMMIT", () => utils.addJobs([keyed, keyed])],
    ["copyJobs", 2, "COMMIT", () => utils.copyJobs(twice)],
  ];
  const twice = [
    { identifier: "mail", payload: {} },
    { identifier: "mail", payload: {} },
  ];
  const keyed = { identifier: "mail", payload: {}, spec: { jobKey: "once" } };

  for (const [name, count, answer, add] of ways) {
    test(`is rejected as outcome_unknown: ${name}.`, async () => {
      proxy.cutAnswer(answer);
      await assert.rejects(add(), withCode("outcome_unknown"));
      assert.equal(await added(), count, "all jobs are added although the answer is lost");
    });
  }

  test("adds only one job if it is repeated with its key while the job waits.", async () => {
    const add = () => utils.addJob("mail", { to: "a" }, { jobKey: "once" });
    proxy.cutAnswer("SELECT");
    await assert.rejects(add(), withCode("outcome_unknown"));
    const job = await add();
    assert.equal(job.key, "once");
    assert.equal(await added(), 1);
  });

  test("is rejected as database_unreachable if the caller has not committed its transaction yet.", async () => {
    const client = new pg.Client({ connectionString: proxy.url });
    client.on("error", () => {});
    await client.connect();
    await client.query("begin");
    proxy.cutAnswer("SELECT");
    await assert.rejects(utils.with(client).addJob("mail"), withCode("database_unreachable"));
    assert.equal(await added(), 0);
  });

  test("is rejected as database_unreachable if the connection is lost before the commit.", async () => {
    proxy.cutAnswer("COPY");
    await assert.rejects(utils.copyJobs(twice), withCode("database_unreachable"));
    assert.equal(await added(), 0);
  });

  test("is rejected as database_unreachable if there was no connection.", async () => {
    await using elsewhere = await tcpProxy(queue.url);
    await using others = await makeWorkerUtils({ connectionString: elsewhere.url });
    await elsewhere.close();
    await assert.rejects(others.addJob("mail"), withCode("database_unreachable"));
    assert.equal(await added(), 0);
  });
});
