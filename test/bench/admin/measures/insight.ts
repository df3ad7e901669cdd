// Measures how long an admin takes to answer requests about the queue's state, such as error groups, incidents and
// counts. `cold`: the first answer of a new admin. `warm`: the second answer of the same admin.
import pg from "pg";
import { schemaName } from "../../../../src/database/schema-name.ts";
import { compileQuery } from "../../../../src/insight/query/compile-query.ts";
import { countQuery } from "../../../../src/insight/stats/count-query.ts";
import { readGauge } from "../../../../src/insight/stats/gauge.ts";
import { median } from "../../engine/statistics.ts";
import {
  answerMs,
  atMost,
  type Bench,
  type Line,
  line,
  type Measure,
  p95,
  short,
  statementMs,
} from "../measure.ts";
import { portSql } from "../port-sql.ts";

/** The times are in milliseconds. */
async function coldAndWarm(bench: Bench, path: string): Promise<{ cold: number; warm: number }> {
  const admin = await bench.freshAdmin();
  try {
    const first = await admin.get(path);
    if (first.status !== 200) throw new Error(`${first.status} ${first.text.slice(0, 120)}`);
    const second = await admin.get(path);
    return { cold: first.ms, warm: second.ms };
  } finally {
    await admin.stop();
  }
}

/** `coldMs` and `warmMs` are the targets. If `warmMs` is null, the warm time has no line. */
function reading(
  name: string,
  path: string,
  coldMs: number,
  warmMs: number | null,
  needs = path.replace(/\?.*/, ""),
): Measure {
  return {
    name,
    needs: [needs],
    run: async (bench) => {
      const { cold, warm } = await coldAndWarm(bench, path);
      const lines = [atMost(`${name}, cold`, cold, coldMs)];
      if (warmMs !== null) lines.push(atMost(`${name}, warm`, warm, warmMs));
      return lines;
    },
  };
}

export const horizon = reading("horizon", "/api/horizon", 300, 10);
export const errorGroups = reading("error groups", "/api/groups?by=error", 300, null);
export const inCommon = reading("in common", "/api/groups/common?q=is:failed", 1_500, null);
export const database = reading("database", "/api/database", 600, 300);
export const countOfFilter = reading(
  "count of a filter",
  `/api/counts?${new URLSearchParams({ q: "is:failed error:timed task:send_email_10" })}`,
  300,
  null,
);
export const tasks = reading("tasks", "/api/tasks", 300, 50);
export const workers = reading("workers", "/api/workers", 300, 50);
export const incidents = reading("incidents", "/api/incidents", 600, 100);

export const queues: Measure = {
  name: "queues",
  needs: ["/api/queues"],
  run: async (bench) => {
    const { cold, warm } = await coldAndWarm(bench, "/api/queues?limit=50");
    const port = await statementMs(bench, portSql(bench.schema).queues);
    return [
      line("queues page, cold", "", `${short(cold)} ms`, null),
      atMost("queues page", warm, 50, "ms", `${short(port)} ms`),
    ];
  },
};

export const why: Measure = {
  name: "why",
  needs: ["/api/jobs/{id}/why"],
  run: async (bench) => {
    const lines: Line[] = [];
    for (const condition of ["ready", "blocked", "retrying", "scheduled", "failed", "running"]) {
      const list = await bench.admin.get(
        `/api/jobs?${new URLSearchParams({ q: `is:${condition}`, limit: "100", fields: "row" })}`,
      );
      const ids: string[] = (list.body?.jobs ?? []).map(({ id }: { id: string }) => id);
      if (ids.length === 0) continue;
      const figure = await p95(ids.length, (n) => answerMs(bench, `/api/jobs/${ids[n]}/why`));
      lines.push(atMost(`why, ${condition}`, figure, 30));
    }
    return lines;
  },
};

const SAMPLES = 100;

/** For each of three states, at least 90 of 100 sampled counts must have an interval that contains the true number. */
export const sampledCounts: Measure = {
  name: "sampled counts",
  needs: ["/api/counts"],
  run: async (bench) => {
    // If the name began with `bench`, statement-watch.ts would ignore the statements of the counts.
    const client = new pg.Client({ connectionString: bench.url, application_name: "counts" });
    await client.connect();
    const db = { client, schema: schemaName("worker") };
    const { rows } = await bench.db.query(portSql(bench.schema).counts);
    const lines: Line[] = [];
    for (const [name, share] of [
      ["failed", 0.15],
      ["scheduled", 0.6],
      ["retrying", 0.05],
    ] as const) {
      const { scheduled, failed } = rows[0];
      // portSql() counts future retries (`ahead`) as scheduled, and due retries as ready. `n` does not include blocked
      // retries.
      const retrying = await bench.db.query(
        `select count(*) filter (where run_at > now() or not coalesce(job_queue_id = any(array(
             select id from ${bench.schema}._private_job_queues where locked_at is not null
           )), false)) as n,
           count(*) filter (where run_at > now()) as ahead
         from ${bench.schema}._private_jobs
         where locked_at is null and attempts > 0 and attempts < max_attempts`,
      );
      const truths = {
        failed: Number(failed),
        scheduled: Number(scheduled) - Number(retrying.rows[0].ahead),
        retrying: Number(retrying.rows[0].n),
      };
      const truth = truths[name];
      let hits = 0;
      const widths: number[] = [];
      for (let n = 0; n < SAMPLES; n++) {
        const gauge = await readGauge(db);
        const {
          value,
          low = value,
          high,
        } = await countQuery(db, await compileQuery(db, `is:${name}`), gauge);
        const top = high ?? value;
        if (low <= truth && truth <= top) hits++;
        widths.push(((top - low) / 2 / truth) * 100);
      }
      lines.push(
        line(`${name}: truth within the interval, of ${SAMPLES}`, "≥ 90", String(hits), hits >= 90),
      );
      const width = median(widths);
      if (share >= 0.15) lines.push(atMost(`${name}: interval, ±`, width, 3, "%"));
      else lines.push(line(`${name}: interval, ±`, "", `${short(width)} %`, null));
    }
    await client.end();
    return lines;
  },
};

/** Counts all jobs exactly, in several requests. */
export const census: Measure = {
  name: "census",
  needs: ["/api/counts"],
  run: async (bench) => {
    const began = performance.now();
    let longest = 0;
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? "" : `&${new URLSearchParams({ cursor })}`;
      const { status, ms, body, text } = await bench.admin.get(`/api/counts?exact=1${at}`);
      if (status !== 200) return [line("count exactly", "200", `${status} ${text}`, false)];
      longest = Math.max(longest, ms);
      cursor = body.cursor ?? null;
    } while (cursor !== null);
    return [
      atMost("count exactly, whole", (performance.now() - began) / 1_000, 30, "s"),
      atMost("count exactly, longest answer", longest, 600),
    ];
  },
};
