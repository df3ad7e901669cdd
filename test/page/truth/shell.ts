// Compares what `worker status`, `tasks`, `queues`, `workers`, `count` and `list` print with the rows of the database.
import assert from "node:assert/strict";
import { installedProgram, run } from "../../binary/program.ts";
import type { TestAdmin } from "../harness.ts";
import type { Comparison } from "./statements.ts";
import { CONDITIONS, World, type WorldJob } from "./world.ts";

export async function compareShell(admin: TestAdmin, compare: Comparison): Promise<void> {
  const program = await installedProgram();
  const world = await World.read(admin);
  const print = async (...words: string[]) => {
    const { name } = admin.utils.database.schema;
    const options = ["--database-url", admin.databaseUrl, "--schema", name];
    const { status, stdout, stderr } = await run(program, [...words, ...options]);
    assert.equal(status, 0, `worker ${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  const read = async (...words: string[]) => tablesOf(await print(...words));
  const counts = (what: string, row: Row | undefined, jobs: readonly WorldJob[]) => {
    for (const condition of CONDITIONS) {
      const count = jobs.filter((job) => job.condition === condition).length;
      compare.same(`${what}, ${condition}`, row?.get(condition.toUpperCase()), `${count}`);
    }
  };

  const [[status] = []] = await read("status");
  compare.same("status, total", status?.get("TOTAL"), `${world.jobs.length}`);
  counts("status", status, world.jobs);

  const [tasks = []] = await read("tasks", "--limit", "100");
  for (const row of tasks) {
    const name = row.get("TASK") ?? "";
    counts(
      `tasks, ${name}`,
      row,
      world.jobs.filter(({ task }) => task === name),
    );
  }

  const [queues = []] = await read("queues");
  for (const row of queues) {
    const name = row.get("QUEUE") ?? "";
    const own = world.jobs.filter(({ queue }) => queue === name);
    const due = own.filter((job) => world.isDue(job)).length;
    const lock = world.queues.find((queue) => queue.name === name);
    compare.same(`queues, ${name}, jobs`, row.get("JOBS"), `${own.length}`);
    compare.same(`queues, ${name}, due`, row.get("DUE"), `${due}`);
    compare.same(`queues, ${name}, locked by`, row.get("LOCKED BY"), lock?.lockedBy ?? "");
    const at = Date.parse(row.get("LOCKED AT") ?? "");
    if (lock !== undefined) compare.time(`queues, ${name}, locked`, at, lock.lockedAt, 1_000);
  }

  const [holders = []] = await read("workers");
  for (const row of holders) {
    const name = row.get("WORKER");
    const locked = world.of("running", "fetched").filter(({ lockedBy }) => lockedBy === name);
    const queues = world.queues.filter(({ lockedBy }) => lockedBy === name);
    compare.same(`workers, ${name}, jobs`, row.get("LOCKED JOBS"), `${locked.length}`);
    compare.same(`workers, ${name}, queues`, row.get("LOCKED QUEUES"), `${queues.length}`);
  }

  for (const condition of CONDITIONS) {
    const count = await print("count", `is:${condition}`);
    compare.same(`count ${condition}`, count.trim(), `${world.of(condition).length}`);
    const [jobs = []] = await read("list", `is:${condition}`, "--limit", "500");
    compare.same(`list ${condition}`, jobs.length, world.of(condition).length);
    for (const row of jobs) {
      const job = world.jobs.find(({ id }) => id === row.get("ID"));
      const name = `list, #${row.get("ID")}`;
      compare.same(`${name}, state`, row.get("STATE"), job?.condition);
      compare.same(`${name}, task`, row.get("TASK"), job?.task);
      compare.same(`${name}, queue`, row.get("QUEUE"), job?.queue ?? "");
      compare.same(`${name}, priority`, row.get("PRI"), `${job?.priority}`);
      compare.same(
        `${name}, attempts`,
        row.get("ATTEMPTS"),
        `${job?.attempts}/${job?.maxAttempts}`,
      );
      const at = Date.parse(row.get("RUN AT") ?? "");
      compare.time(`${name}, run at`, at, job?.runAt ?? Number.NaN, 1_000);
    }
  }
}

type Row = ReadonlyMap<string, string>;

/** Returns the tables in a text, which empty lines separate. A row maps the header of each column to the row's cell. */
function tablesOf(text: string): readonly (readonly Row[])[] {
  return text
    .split("\n\n")
    .filter((part) => part.trim().length > 0)
    .map((part) => {
      const [head = "", ...lines] = part.split("\n").filter((line) => !line.startsWith("more:"));
      const columns = [...head.matchAll(/\S+(?: \S+)*/g)];
      const cut = (line: string) =>
        columns.map(([name], index): [string, string] => [
          name,
          line.slice(columns[index]?.index, columns[index + 1]?.index).trim(),
        ]);
      return lines.filter((line) => line.length > 0).map((line) => new Map(cut(line)));
    });
}
