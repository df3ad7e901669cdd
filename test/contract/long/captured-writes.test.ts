// In the database of these tests, another role has created overloads of PostgreSQL's functions and operators in
// `public`. Tests that the admin's operations, exports and maintenance, and the commands that read or change many jobs,
// call none of these overloads. The first test does so for the most common commands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { startAdmin } from "../../admin/admin-harness.ts";
import { worker as command } from "../../cli/command.ts";
import { waitUntil } from "../../support/until.ts";
import { overloadedDatabase } from "../overloaded-database.ts";

const overloaded = overloadedDatabase();

test("The command line calls no overload, and doctor reports that every role may create functions in `public`.", async () => {
  const env = { DATABASE_URL: overloaded.url };
  const added = await command(["add", "a", "{}", "--json"], env);
  assert.equal(added.status, 0, added.stderr);
  const id = String(JSON.parse(added.stdout).jobs[0].id);
  for (const args of [
    ...[
      ["list"],
      ["show", id],
      ["status"],
      ["why", id],
      ["tasks"],
      ["workers"],
      ["queues"],
      ["cron"],
    ],
    ...[
      ["add", "a", "[1]", "--key", "c"],
      ["add", "a", "[2]", "--key", "c"],
      ["remove", "c", "--yes"],
      ["reschedule", id, "--priority", "2"],
      ["fail", id, "--yes"],
      ["retry", id],
      ["complete", id, "--yes"],
    ],
    ...[["count", "is:failed"], ["sweep", "--yes"], ["cleanup", "--all", "--yes"], ["migrate"]],
  ]) {
    const ran = await command(args, env);
    assert.equal(ran.status, 0, `${args.join(" ")}: ${ran.stderr}`);
  }
  const { stdout } = await command(["doctor"], env);
  assert.match(stdout, /every role may create functions in the schema public/);
  await overloaded.assertNothingRun();
});

async function addFailed(count: number): Promise<string[]> {
  const utils = await makeWorkerUtils({ connectionString: overloaded.url });
  const jobs = await utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier: "a", payload: { n } })),
  );
  const ids = jobs.map(({ id }) => id);
  await utils.permanentlyFailJobs(ids, "no");
  await utils.end();
  return ids;
}

test("Operations by query, their receipts and undos call no overload.", async () => {
  await addFailed(20);
  const { client } = await startAdmin({ url: overloaded.url });
  const post = async (path: string, body: object) => {
    const answer = await client.post(path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.body;
  };
  const ended = async (id: string, states: readonly string[]) => {
    await waitUntil("the operation has ended", async () =>
      states.includes((await client.get(`/api/operations/${id}`)).body.state),
    );
    assert.equal((await client.get(`/api/operations/${id}/jobs`)).status, 200);
  };
  for (const [action, q, changes] of [
    ["reschedule", "is:failed", { priority: 3 }],
    ["retry", "is:failed error:no", {}],
    ["run-now", "task:a payload.n:1", {}],
    ["fail", "task:a", { reason: "enough" }],
    ["complete", "task:a no", {}],
    ["complete", "task:a", {}],
  ] as const) {
    const shown = await post("/api/operations", { q, action, changes, dry_run: true });
    const { id } = await post("/api/operations", { rehearsal: shown.rehearsal, rate: 0 });
    await ended(id, ["done"]);
    await post(`/api/operations/${id}/undo`, {});
    await ended(id, ["undone"]);
  }
  await overloaded.assertNothingRun();
});

test("Exports, indexes, extensions and maintenance call no overload.", async () => {
  await addFailed(3);
  const { client } = await startAdmin({ url: overloaded.url });
  for (const path of ["/api/export?q=task:a", "/api/export?q=payload.n:1&format=csv", "/metrics"]) {
    const { status, text } = await client.get(path);
    assert.equal(status, 200, text);
  }
  for (const [path, body] of [
    ["/api/export/ticket", { q: "is:failed" }],
    ["/api/maintenance", { action: "sweep-stale-workers" }],
    ["/api/maintenance", { action: "force-unlock", worker_ids: ["w"] }],
    ["/api/maintenance", { action: "cleanup" }],
    ["/api/maintenance", { action: "migrate" }],
    ["/api/indexes", { action: "build", name: "failed" }],
    ["/api/indexes", { action: "drop", name: "failed" }],
    ["/api/extensions", { action: "add", name: "operations" }],
  ] as const) {
    const { status, text } = await client.post(path, body);
    assert.ok(status < 300, `${path} ${JSON.stringify(body)}: ${text}`);
    if (body.action !== "build") continue;
    await waitUntil("the index is built", async () => {
      const { optional_indexes: indexes } = (await client.get("/api/database")).body;
      return indexes.find(({ name }: { name: string }) => name === body.name).state === "valid";
    });
  }
  await overloaded.assertNothingRun();
});

test("Commands that read or change many jobs call no overload.", async () => {
  await addFailed(5);
  const lines = [0, 1, 0, 1].map((n) =>
    JSON.stringify({ task: "b", payload: [n], key: `k${n}`, queue: "q", flags: ["f"] }),
  );
  lines.push(JSON.stringify({ task: "c", run_at: "+10m", priority: 2 }));
  const env = { DATABASE_URL: overloaded.url };
  const perform = async (args: readonly string[], input = "") => {
    const ran = await command(args, env, input);
    assert.equal(ran.status, 0, `${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  };
  await perform(["add-many", "-"], lines.join("\n"));
  await perform(["reschedule", "task:a", "--priority", "2", "--yes"]);
  const id = String(JSON.parse(await perform(["operations", "--json"])).operations[0].id);
  for (const args of [
    ["watch"],
    ["operations"],
    ["export", "task:a", "--payload"],
    ["export", "--format", "csv"],
    ["operations", id],
    ["operations", id, "undo"],
    ["retry", "is:failed", "--yes"],
    ["run-now", "task:b", "--yes"],
    ["fail", "task:a", "--reason", "r", "--yes"],
    ["complete", "task:a", "--yes"],
    ["build-index", "failed"],
    ["drop-index", "failed"],
    ["add-extension", "operations"],
  ]) {
    await perform(args);
  }
  await overloaded.sql(
    "update worker._private_jobs set locked_by = 'w', locked_at = pg_catalog.now()",
  );
  await perform(["unlock", "w", "--yes"]);
  await overloaded.assertNothingRun();
});
