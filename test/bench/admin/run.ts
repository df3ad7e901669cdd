// Measures the admin on a large queue, and prints each figure with its target. Some measures also time the SQL of the
// admin of Graphile Worker's Rust port. The tables in RESULTS-admin.md are copied by hand from the output.
//
//   npm run bench:admin -- [--jobs 10000000] [--only overview,text] [--postgres 15]
//     [--url postgres://…]  uses a database that was seeded before (seed.ts)
//     [--writes]            with --url: also runs the measures that change jobs
//     [--sorted]            seeds the jobs sorted by condition: the scheduled jobs have the lowest ids
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { VERSION } from "../../../src/base/version.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { olderBinaries } from "../../support/postgres-versions.ts";
import { median } from "../engine/statistics.ts";
import { type AdminProcess, startAdminProcess } from "./admin-process.ts";
import { atMost, type Bench, type Line, line, type Measure } from "./measure.ts";
import { measures } from "./measures/index.ts";
import { seedDatabase } from "./seed-database.ts";
import { watchStatements } from "./statement-watch.ts";

const { values: options } = parseArgs({
  options: {
    jobs: { type: "string", default: "1000000" },
    only: { type: "string", default: "" },
    url: { type: "string" },
    postgres: { type: "string", default: "15" },
    sorted: { type: "boolean", default: false },
    writes: { type: "boolean", default: false },
  },
});
const only = options.only.split(",").filter((name) => name !== "");
const say = (text: string) => console.error(text);
/** These statements may take long, and do not count for the figure `longest statement`. */
const IGNORED = /^(create index concurrently|drop index concurrently|vacuum|analyze|copy)/i;
const SETTINGS = {
  shared_buffers: "4GB",
  max_wal_size: "16GB",
  checkpoint_timeout: "30min",
  max_connections: "200",
  maintenance_work_mem: "1GB",
};

async function openDatabase(): Promise<{ url: string; close: () => Promise<void> }> {
  if (options.url !== undefined) return { url: options.url, close: async () => {} };
  const dataDir = mkdtempSync(join(tmpdir(), "worker-bench-admin-"));
  const binaries = olderBinaries(options.postgres);
  const server = await startEmbeddedServer({
    ...{ dataDir, settings: SETTINGS, dataChecksums: false },
    ...(binaries === null ? {} : { binaries }),
  });
  const url = await seedDatabase(server.url(), "bench", {
    ...{ jobs: Number(options.jobs), isSorted: options.sorted, schema: "worker", connections: 2 },
    progress: say,
  });
  return {
    url,
    close: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the milliseconds of a fixed statement, which show how busy the machine is. */
async function calibrate(db: pg.Client): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 7; n++) {
    const began = performance.now();
    await db.query("select count(*) from generate_series(1, 100000)");
    times.push(performance.now() - began);
  }
  quietest = Math.min(quietest, ...times);
  return median(times);
}

let quietest = Number.POSITIVE_INFINITY;
const noises = new Map<Line, number>();

async function measured(
  bench: Bench,
  measure: Measure,
  paths: ReadonlySet<string>,
): Promise<Line[]> {
  const absent = measure.needs.filter((path) => !paths.has(path));
  if (absent.length > 0) return [line(measure.name, "", `missing: ${absent.join()}`, false)];
  bench.statements.reset();
  try {
    const lines = [...(await measure.run(bench))];
    const { ms, text } = bench.statements.longest();
    if (ms > 300) say(`  longest statement: ${Math.round(ms)} ms: ${text.slice(0, 300)}`);
    const longest = atMost(`${measure.name}: longest statement`, ms, 300);
    return ms === 0 ? lines : [...lines, longest];
  } catch (error) {
    return [line(measure.name, "", `failed: ${(error as Error).message.slice(0, 160)}`, false)];
  }
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function table(lines: readonly Line[]): string {
  const rows = lines.map((one) => {
    const { what, port = "", target, figure, isMet } = one;
    const verdict = isMet === null ? "" : isMet ? "ok" : "**not**";
    const noise = ((noises.get(one) ?? quietest) / quietest).toFixed(1);
    return `| ${[what, port, target, figure, noise, verdict].map(cell).join(" | ")} |`;
  });
  const head = ["| | port's SQL | target | figure | noise | |", "|---|--:|--:|--:|--:|---|"];
  return [...head, ...rows].join("\n");
}

async function main(): Promise<void> {
  const database = await openDatabase();
  const db = new pg.Client({ connectionString: database.url, application_name: "bench" });
  await db.connect();
  const facts = await db.query(
    `select pg_backend_pid() as pid, current_setting('server_version') as version, current_setting('data_directory') as place,
       reltuples::bigint::text as jobs from pg_class
     where oid = 'worker._private_jobs'::regclass`,
  );
  const { pid, version, place, jobs } = facts.rows[0];
  // pg_stat_activity does not have the process id of the postmaster.
  const postmaster = Number.parseInt(readFileSync(join(place, "postmaster.pid"), "utf8"), 10);
  const statements = await watchStatements(database.url, IGNORED);
  const admins = new Set<AdminProcess>();
  const freshAdmin = async (more: readonly string[] = []) => {
    const fresh = await startAdminProcess(database.url, more);
    admins.add(fresh);
    return fresh;
  };
  const admin = await freshAdmin();
  const bench: Bench = {
    ...{ url: database.url, schema: '"worker"', jobs: Number(jobs) },
    ...{ admin, db, postmaster, statements, freshAdmin, say },
    ownBackends: [pid, statements.backend],
  };
  const document = await admin.get("/api/openapi.json");
  const paths = new Set(Object.keys(document.body.paths));
  const isOwn = options.url === undefined || options.writes;
  const lines: Line[] = [];
  for (const measure of measures) {
    if (only.length > 0 && !only.includes(measure.name.replaceAll(" ", "-"))) continue;
    if (measure.writes === true && !isOwn) continue;
    say(`${measure.name} …`);
    const before = await calibrate(db);
    const found = await measured(bench, measure, paths);
    const noise = (before + (await calibrate(db))) / 2;
    for (const one of found) noises.set(one, noise);
    for (const one of found) say(`  ${one.what}: ${one.figure} (${one.target}) ${one.isMet}`);
    lines.push(...found);
  }
  for (const one of admins) await one.stop().catch(() => {});
  await statements.stop();
  await db.end();
  await database.close();
  const report = `# Results of the admin's benchmark

${new Date().toISOString().slice(0, 10)}, ${Number(jobs).toLocaleString("en")} jobs${options.sorted ? " sorted by condition" : ""}, PostgreSQL ${version}, Node ${process.versions.node}, ours ${VERSION},
${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${loadavg()[0]?.toFixed(1)} at the end (of the benchmark itself about 1 to 2).
The time of a repeated request is the 95th percentile, if the row names no other. "Port's SQL": the plain statement of
Graphile Worker's Rust port for the same page, in the same run. "Noise": the time of a fixed statement, before and after the figure,
divided by its shortest time in the run; figures are not corrected by it. "Parameter": queue, identifier or search, not q.

${table(lines)}
`;
  process.stdout.write(report);
}

await main();
