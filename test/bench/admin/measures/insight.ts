// What explains: horizon, groups of errors, what they have in common, why a job does not run, queues,
// tasks, workers, counts of any filter, the database; each cold, on an admin that has just started.
import { setTimeout as pause } from "node:timers/promises";
import {
  atMost,
  type Bench,
  type Line,
  line,
  type Measure,
  short,
  statementMs,
} from "../measure.ts";
import { portSql } from "../port-sql.ts";

/** The first answer of a new admin, and the second. */
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
export const workers = reading("workers", "/api/workers", 100, 50);
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
        `/api/jobs?${new URLSearchParams({ q: `is:${condition}`, limit: "20", fields: "row" })}`,
      );
      const times: number[] = [];
      for (const { id } of list.body?.jobs ?? []) {
        times.push((await bench.admin.get(`/api/jobs/${id}/why`)).ms);
      }
      if (times.length > 0) lines.push(atMost(`why, ${condition}`, Math.max(...times), 30));
    }
    return lines;
  },
};

/** The truth must be within what is said, in nine of ten. */
export const sampledCounts: Measure = {
  name: "sampled counts",
  needs: ["/api/counts"],
  run: async (bench) => {
    const samples = 20;
    const { rows } = await bench.db.query(portSql(bench.schema).counts);
    const truth = { failed: Number(rows[0].failed), scheduled: Number(rows[0].scheduled) };
    const hits = { failed: 0, scheduled: 0 };
    let widest = 0;
    for (let n = 0; n < samples; n++) {
      const admin = await bench.freshAdmin();
      const { body } = await admin.get("/api/counts");
      await admin.stop();
      for (const name of ["failed", "scheduled"] as const) {
        const value = body[name];
        const low = value.low ?? value.value;
        const high = value.high ?? Number.POSITIVE_INFINITY;
        const upper = value.precision === "exact" ? value.value : high;
        if (low <= truth[name] && truth[name] <= upper) hits[name]++;
        if (value.precision === "estimated") {
          widest = Math.max(widest, (upper - low) / 2 / truth[name]);
        }
      }
      await pause(50);
    }
    return [
      ...(["failed", "scheduled"] as const).map((name) =>
        line(
          `${name}: truth within the interval`,
          "≥ 90 %",
          `${Math.round((hits[name] / samples) * 100)} %`,
          hits[name] >= samples * 0.9,
        ),
      ),
      atMost("widest interval, ±", widest * 100, 3, "%"),
    ];
  },
};

export const census: Measure = {
  name: "census",
  needs: ["/api/counts"],
  run: async (bench) => {
    const admin = await bench.freshAdmin();
    const began = performance.now();
    try {
      for (;;) {
        const { body } = await admin.get("/api/counts?exact=1");
        const took = performance.now() - began;
        const { basis } = body.failed ?? {};
        if (basis === "census" || basis === "scan")
          return [atMost("census round on demand", took / 1_000, 30, "s")];
        if (took > 60_000)
          return [line("census round on demand", "≤ 30 s", `> 60 s (${basis})`, false)];
        await pause(250);
      }
    } finally {
      await admin.stop();
    }
  },
};
