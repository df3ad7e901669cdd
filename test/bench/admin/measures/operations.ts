// Measures operations on many jobs: the jobs changed per second, the time to stop, whether an undo restores all jobs,
// and how long workers' fetches take while an operation runs.
import { setTimeout as pause } from "node:timers/promises";
import { type FetchProber, probeFetches } from "../fetch-prober.ts";
import { atLeast, atMost, type Bench, type Line, line, type Measure, short } from "../measure.ts";

interface Operation {
  readonly id: string;
  readonly state: string;
  readonly done: number;
}

/** The fields `rate` and `limit` of the request that starts an operation. */
type Way = Readonly<Record<string, number>>;

async function begin(bench: Bench, body: object, way: Way = {}): Promise<Operation> {
  const rehearsed = await bench.admin.post("/api/operations", { ...body, dry_run: true });
  if (rehearsed.status !== 200) throw new Error(`rehearsal: ${rehearsed.status} ${rehearsed.text}`);
  const { rehearsal } = rehearsed.body;
  const started = await bench.admin.post("/api/operations", { rehearsal, ...way });
  if (started.status > 202) throw new Error(`${started.status} ${started.text}`);
  return started.body;
}

const OVER = new Set(["done", "stopped", "failed", "undone", "interrupted", "paused"]);

async function untilOver({ admin }: Bench, id: string): Promise<Operation> {
  for (;;) {
    const { body } = await admin.get(`/api/operations/${id}`);
    if (OVER.has(body.state)) return body;
    await pause(50);
  }
}

/** Once an operation has stored the earlier states of this many jobs, it stores no more. */
const MAX_KEPT = 1_000_000;

/** Without pauses between the batches. */
const UNTHROTTLED = { rate: 0 };

async function speed(bench: Bench, body: object, prober: FetchProber | null, way: Way) {
  const operation = await begin(bench, body, way);
  const began = performance.now();
  prober?.p95();
  const { state, done } = await untilOver(bench, operation.id);
  const seconds = (performance.now() - began) / 1_000;
  const fetch = prober?.p95() ?? Number.NaN;
  return { id: operation.id, state, done, perSecond: done / seconds, fetch };
}

async function fingerprint({ db, schema }: Bench): Promise<string> {
  const { rows } = await db.query(
    `select count(*)::text || ':' || coalesce(sum(hashtextextended(
       concat_ws('|', id, run_at, attempts, max_attempts, priority, last_error, payload, key), 0
     ))::text, '') as sum from ${schema}._private_jobs`,
  );
  return rows[0].sum;
}

export const operations: Measure = {
  name: "operations",
  needs: ["/api/operations"],
  writes: true,
  run: async (bench) => {
    const lines: Line[] = [];
    const extended = await bench.admin.post("/api/extensions", {
      action: "add",
      name: "operations",
    });
    if (extended.status !== 200) throw new Error(extended.text);
    const prober = await probeFetches(bench.url, bench.schema);
    try {
      await pause(5_000);
      const quiet = prober.p95();
      const before = await fingerprint(bench);
      const q = "is:failed";
      // At most MAX_KEPT jobs are changed, so the undo can restore all of them.
      const body = { q, action: "reschedule", changes: { priority: 7 } };
      const moved = await speed(bench, body, prober, { limit: MAX_KEPT });
      lines.push(
        line(`reschedule with pauses, ${moved.done} jobs`, "", `${short(moved.perSecond)}/s`, null),
      );
      lines.push(atMost("reschedule with pauses: fetch p95", moved.fetch / quiet, 2, "×"));
      lines.push(atMost("reschedule with pauses: first fetch afterwards", await prober.once(), 50));
      const undone = await bench.admin.post(`/api/operations/${moved.id}/undo`, {});
      if (undone.status > 202) lines.push(line("undo", "200", undone.text.slice(0, 80), false));
      else {
        const { state } = await untilOver(bench, moved.id);
        const isSame = (await fingerprint(bench)) === before;
        lines.push(
          line("undo restores the jobs byte for byte", "the same", `${state}, ${isSame}`, isSame),
        );
      }
      const fast = await speed(bench, { ...body, changes: { priority: 8 } }, null, UNTHROTTLED);
      lines.push(atLeast(`reschedule, ${fast.done} jobs`, fast.perSecond, 10_000, "/s"));
      const failing = await begin(bench, { q: "is:ready", action: "fail" });
      await pause(700);
      const requestedAt = performance.now();
      await bench.admin.post(`/api/operations/${failing.id}/stop`, {});
      const stopped = await untilOver(bench, failing.id);
      lines.push(atMost(`stop (${stopped.state})`, performance.now() - requestedAt, 500));
      const failed = await speed(bench, { q: "is:ready", action: "fail" }, null, UNTHROTTLED);
      lines.push(atLeast(`fail, ${failed.done} jobs`, failed.perSecond, 10_000, "/s"));
      lines.push(atMost("fail: first fetch afterwards", await prober.once(), 50));
      const completed = await speed(
        bench,
        { q: "is:failed", action: "complete" },
        null,
        UNTHROTTLED,
      );
      lines.push(atLeast(`complete, ${completed.done} jobs`, completed.perSecond, 50_000, "/s"));
      lines.push(line("fetch p95, quiet", "", `${short(quiet)} ms`, null));
    } finally {
      await prober.stop();
    }
    return lines;
  },
};

const MEGABYTES = 250;

/** Measures lists with a job whose payload is too large to be shown. */
export const hugePayload: Measure = {
  name: "huge payload",
  needs: ["/api/jobs"],
  writes: true,
  run: async (bench) => {
    const { rows } = await bench.db.query(
      `insert into ${bench.schema}._private_jobs (task_id, payload)
       select 1, ('{"a":"' || repeat(md5('x'), 32768 * ${MEGABYTES}) || '"}')::json returning id`,
    );
    const after = `/api/jobs?${new URLSearchParams({ sort: "-id", limit: "100", fields: "row" })}`;
    const row = await bench.admin.get(after);
    const full = await bench.admin.get("/api/jobs?limit=100&sort=-id");
    const one = await bench.admin.get(`/api/jobs/${rows[0].id}`);
    await bench.db.query(`delete from ${bench.schema}._private_jobs where id = ${rows[0].id}`);
    return [
      row.status === 200
        ? atMost("huge payload: fields=row", row.ms, 50)
        : line("huge payload: fields=row", "200", String(row.status), false),
      line(
        "huge payload: full page",
        "200, ≤ 8 MB",
        `${full.status}, ${short(full.text.length / 2 ** 20)} MB`,
        full.status === 200 && full.text.length <= 8 * 2 ** 20,
      ),
      line("huge payload: the job", "413", String(one.status), one.status === 413),
    ];
  },
};

/** Another admin resumes the operation of a killed admin. Each job must be changed once. */
export const killed: Measure = {
  name: "killed",
  needs: ["/api/operations"],
  writes: true,
  run: async (bench) => {
    const admin = await bench.freshAdmin();
    const here = { ...bench, admin };
    // The changed jobs are counted by this priority, so no other job should have this priority.
    const priority = 1_000 + Math.trunc(Math.random() * 30_000);
    const body = { q: "is:retrying", action: "reschedule", changes: { priority } };
    const begun = await begin(here, body, { rate: 20_000 });
    await pause(1_000);
    process.kill(admin.pid, "SIGKILL");
    // The operation is shown as running until the lease of the killed admin expires.
    let seen = (await bench.admin.get(`/api/operations/${begun.id}`)).body;
    for (let waited = 0; seen.state === "running" && waited < 60; waited++) {
      await pause(1_000);
      seen = (await bench.admin.get(`/api/operations/${begun.id}`)).body;
    }
    const resumed = await bench.admin.post(`/api/operations/${begun.id}/resume`, {});
    const over = resumed.status > 202 ? null : await untilOver(bench, begun.id);
    const after = await bench.db.query(
      `select count(*)::int as n from ${bench.schema}._private_jobs where priority = $1`,
      [priority],
    );
    return [
      line("operation of a killed admin", "interrupted", seen.state, seen.state === "interrupted"),
      line(
        "resumed: jobs touched",
        "each once",
        `${over?.done ?? resumed.text.slice(0, 60)}, ${after.rows[0].n} changed`,
        over !== null && over.done === after.rows[0].n,
      ),
    ];
  },
};
