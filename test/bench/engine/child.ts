// Runs one of the compared engines in a process of its own. The process prints "ready" and waits for data on stdin.
// Then the process performs the duty (duty.ts) in its argument, and prints the answer as JSON.
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import pg from "pg";
import type { Answer, Duty, Run, Sample } from "./duty.ts";
import { type Engine, NotBuilt } from "./engines/engine.ts";
import { Meter } from "./meter.ts";

// Only the code of the chosen engine is loaded, because the memory of the process is measured.
const ours = async (settings: object) =>
  (await import("./engines/ours.ts")).ours(settings, duty.build);
const graphile = async (localQueue: number | null) =>
  (await import("./engines/graphile.ts")).graphile(localQueue);
const boss = async (loops: boolean) => (await import("./engines/boss.ts")).boss({ loops });

const LEFT = `select from worker._private_jobs
  where task_id = (select id from worker._private_tasks where identifier = 'bench') limit 1`;

/** How many jobs of a pg-boss group run at once, at most. Must equal CAPACITY in experiments/limits.ts. */
const CAPACITY = 10;

const ENGINES: Record<string, () => Promise<Engine>> = {
  ours: () => ours({}),
  fast: () => ours({ fastLane: true }),
  gw: () => graphile(null),
  "gw-batch": () => graphile(500),
  "gw-2000": () => graphile(2_000),
  "boss-work": () => boss(false),
  "boss-fetch": () => boss(true),
  "boss-group": async () => (await import("./engines/boss.ts")).bossGroup(CAPACITY),
  bull: async () => (await import("./engines/bull.ts")).bull(),
};

const duty = JSON.parse(process.argv[2] ?? "") as Duty;
const engine = await ENGINES[duty.engine]?.();
if (engine === undefined) throw new Error(`no engine ${duty.engine}`);
const client = new pg.Client({ connectionString: duty.url });
await client.connect();
const meter = new Meter(client, duty.postmaster);
process.stdout.write("ready\n");
await once(process.stdin, "data");
const answer = await work(engine).catch((error: unknown): Answer => {
  if (error instanceof NotBuilt) return { notBuilt: error.message };
  throw error;
});
// The answer may have megabytes, so the process exits only when the whole answer is written.
process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));

async function work(by: Engine): Promise<Answer> {
  if (duty.kind === "drain") return drain(by);
  if (duty.kind === "add") {
    const { add } = await import("./adding.ts");
    return { sample: await add(by, duty, meter) };
  }
  const living = await import("./living.ts");
  return { sample: await living[duty.kind](by, duty, meter, client) };
}

async function drain(by: Engine): Promise<Answer> {
  const runs: Run[] = [];
  let done = 0;
  const all = Promise.withResolvers<void>();
  const count = () => {
    if (++done === duty.jobs) all.resolve();
  };
  const watch = async (payload: unknown) => {
    const { id, queue } = payload as { id: number; queue: number };
    const startMs = nowMs();
    await (duty.ms === undefined ? setImmediate() : setTimeout(duty.ms));
    runs.push([queue, id, startMs, nowMs()]);
    count();
  };
  await meter.begin();
  const running = await by.start({
    url: duty.url,
    concurrency: 24,
    pollIntervalMs: 2_000,
    beside: duty.beside === true,
    handler: duty.watched === true ? watch : count,
  });
  const inTime = setTimeout(duty.limitMs, undefined, { ref: false });
  // If several processes share the jobs, no process runs all jobs, and emptied() ends the drain.
  await Promise.race([all.promise, inTime, emptied()]);
  const elapsedMs = meter.elapsedMs;
  const jobs = done;
  // The costs include the writes of the last jobs' results, so these writes are awaited.
  await setTimeout(50);
  await running.stop();
  const cost = await meter.end(done);
  const sample: Sample = { ...cost, jps: (jobs / elapsedMs) * 1_000, jobs: done };
  return duty.watched === true ? { sample, runs } : { sample };
}

/** Resolves when no job of the task `bench` is left; never if `isShared` is false. */
async function emptied(): Promise<void> {
  const isShared = duty.shared === true || (duty.watched === true && duty.ms === undefined);
  if (!isShared) return new Promise(() => {});
  for (;;) {
    const { rows } = await client.query(LEFT);
    if (rows.length === 0) return;
    await setTimeout(50);
  }
}

/** All processes of the machine share this clock. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
