// Measures pages of jobs. The admin may divide a long search into several answers. Each answer may take 0.6 s.
import { setTimeout as pause } from "node:timers/promises";
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

const page = (parameters: Record<string, string>) =>
  `/api/jobs?${new URLSearchParams({ limit: "100", ...parameters })}`;

interface Walk {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly wholeMs: number;
  readonly answers: number;
  readonly jobs: number;
  readonly statuses: ReadonlySet<number>;
}

const MAX_JOBS = 300;

/** Reads page after page, at most `most` answers. Ends early after MAX_JOBS jobs, or a status other than 200. */
export async function walk(
  { admin }: Bench,
  parameters: Record<string, string>,
  most = 400,
): Promise<Walk> {
  const times: number[] = [];
  const statuses = new Set<number>();
  let jobs = 0;
  let isPartial = false;
  let cursor: string | null = null;
  do {
    const at: Record<string, string> = cursor === null ? {} : { cursor };
    const { ms, status, body } = await admin.get(page({ ...parameters, ...at }));
    times.push(ms);
    statuses.add(status);
    if (status !== 200) break;
    const wasPartial: boolean = isPartial;
    isPartial = body.ranking === "partial";
    // After an answer whose ranking is `partial`, the next answer is the same page again, perhaps with jobs that come
    // earlier in the order. So the jobs of the two answers are not added up.
    jobs = isPartial || wasPartial ? body.jobs.length : jobs + body.jobs.length;
    cursor = wasPartial && !isPartial ? null : body.next_cursor;
  } while (cursor !== null && jobs < MAX_JOBS && times.length < most);
  return {
    firstMs: times[0] ?? Number.NaN,
    longestMs: Math.max(...times),
    wholeMs: times.reduce((sum, ms) => sum + ms, 0),
    answers: times.length,
    jobs,
    statuses,
  };
}

/** Enough pages that the slow first pages do not change the p95. */
const PAGES = 200;

export const keyset: Measure = {
  name: "keyset pages",
  needs: ["/api/jobs"],
  run: async (bench) => {
    const lines: Line[] = [];
    const orders: [string, Record<string, string>][] = [
      ["id", { sort: "id" }],
      ["newest first", { sort: "-id" }],
      ["due", { sort: "due", q: "is:ready" }],
      ["latest due first", { sort: "-due", q: "is:scheduled" }],
      ["priority", { sort: "priority" }],
      // The first pages read past thousands of retrying jobs, which are due earlier.
      ["priority, few matches", { sort: "priority", q: "is:scheduled" }],
    ];
    for (const [name, parameters] of orders) {
      let cursor: string | null = null;
      const figure = await p95(PAGES, async () => {
        const at: Record<string, string> = cursor === null ? {} : { cursor };
        const { status, ms, body, text } = await bench.admin.get(
          page({ ...parameters, fields: "row", ...at }),
        );
        if (status !== 200) throw new Error(`${name}: ${status} ${text.slice(0, 200)}`);
        cursor = body.next_cursor;
        return ms;
      }).catch((error: Error) => error.message);
      if (typeof figure === "string") lines.push(line(`page by ${name}`, "≤ 15 ms", figure, false));
      else lines.push(atMost(`page by ${name}`, figure, 15));
    }
    const port = await statementMs(bench, portSql(bench.schema).pageAt(Math.trunc(bench.jobs / 2)));
    lines.push(
      atMost(
        "page without filter, full payloads",
        await p95(20, () => answerMs(bench, page({}))),
        15,
        "ms",
        `${short(port)} ms at the middle offset`,
      ),
    );
    return lines;
  },
};

const rare: readonly (readonly [string, Record<string, string>])[] = [
  ["rare queue, parameter", { queue: "rare-queue" }],
  ["rare task, parameter", { identifier: "nightly_report" }],
  ["rare queue", { q: "queue:rare-queue", fields: "row" }],
  ["rare task", { q: "task:nightly_report", fields: "row" }],
  ["rare task, failed", { q: "is:failed task:nightly_report", fields: "row" }],
  ["failed, newest first", { q: "is:failed", sort: "-failed_at", fields: "row" }],
  ["running", { q: "is:running", fields: "row" }],
  ["no match", { q: "attempts>20 is:retrying", fields: "row" }],
];

export const rareFilters: Measure = {
  name: "rare filters",
  needs: ["/api/jobs"],
  run: async (bench) => {
    const lines: Line[] = [];
    const port = await statementMs(bench, portSql(bench.schema).ofQueue("rare-queue"));
    for (const [name, parameters] of rare) {
      const seen = await walk(bench, parameters);
      const bad = [...seen.statuses].filter((status) => status !== 200);
      if (bad.length > 0) {
        lines.push(line(name, "200", bad.join(), false));
        continue;
      }
      lines.push(atMost(`${name}: first answer`, seen.firstMs, 500, "ms", `${short(port)} ms`));
      lines.push(atMost(`${name}: longest of ${seen.answers}`, seen.longestMs, 600));
      lines.push(atMost(`${name}: whole, ${seen.jobs} jobs`, seen.wholeMs, 5_000));
    }
    return lines;
  },
};

export const offsets: Measure = {
  name: "offsets",
  needs: ["/api/jobs"],
  run: async (bench) => {
    const offset = String(Math.trunc(bench.jobs / 2));
    const port = await statementMs(bench, portSql(bench.schema).pageAt(Number(offset)));
    const plain = await bench.admin.get(page({ offset }));
    const lines = [
      plain.status === 200
        ? atMost(`offset ${offset}`, plain.ms, 1_000, "ms", `${short(port)} ms`)
        : line(`offset ${offset}`, "≤ 1,000 ms", String(plain.status), false, `${short(port)} ms`),
    ];
    for (const [name, parameters] of [
      ["offset with a filter", { state: "failed", offset: "200000" }],
      ["offset with a search", { search: "timed", offset: "200000" }],
    ] as const) {
      const { status, ms } = await bench.admin.get(page(parameters));
      if (status === 200) lines.push(atMost(name, ms, 600));
      else lines.push(line(name, "≤ 600 ms", String(status), false));
    }
    return lines;
  },
};

/** Checks that the statement of a request is cancelled when its client disconnects. */
export const clientGone: Measure = {
  name: "client gone",
  needs: ["/api/jobs"],
  run: async (bench) => {
    let most = 0;
    for (let n = 0; n < 10; n++) {
      const leave = new AbortController();
      const path = page({ search: `no match ${n}`, offset: "10" });
      const request = bench.admin.get(path, leave.signal).catch(() => null);
      await pause(60);
      leave.abort();
      await request;
      await pause(300);
      most = Math.max(most, await bench.statements.active(/no match|strpos/));
    }
    return [atMost("statements 0.3 s after the client left", most, 0, "")];
  },
};

export const text: Measure = {
  name: "text",
  needs: ["/api/jobs"],
  run: async (bench) => {
    const missing = "text without a match";
    const port = await statementMs(bench, portSql(bench.schema).text(missing));
    const lines: Line[] = [];
    for (const [name, parameters, mostMs] of [
      ["text miss, parameter", { search: missing }, 8_000],
      ["text miss", { q: `"${missing}"`, fields: "row" }, 8_000],
      ["payload field miss", { q: "payload.currency:XYZ", fields: "row" }, 5_000],
    ] as const) {
      const seen = await walk(bench, parameters);
      const bad = [...seen.statuses].filter((status) => status !== 200);
      if (bad.length > 0) {
        lines.push(line(name, "200", bad.join(), false));
        continue;
      }
      lines.push(atMost(`${name}: first answer`, seen.firstMs, 500));
      lines.push(atMost(`${name}: longest of ${seen.answers}`, seen.longestMs, 600));
      lines.push(atMost(`${name}: whole`, seen.wholeMs, mostMs, "ms", `${short(port)} ms`));
    }
    return lines;
  },
};
