// npm run bench:page: measures the page in Chromium on the demo's data, and prints each figure with its target. Run
// `node build.mjs bundle` first. `-- --only size,start` runs only these measures. Times are longer on a busy machine.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { chromium } from "playwright-core";
import { insertSampleJobs } from "../../../src/cli/demo/sample-jobs.ts";
import { createDatabase } from "../../../src/database/connection/create-database.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { startAdminProcess } from "../admin/admin-process.ts";
import type { PageBench } from "./bench.ts";
import { payload } from "./measures/payload.ts";
import { refreshes } from "./measures/refreshes.ts";
import { script } from "./measures/script.ts";
import { size } from "./measures/size.ts";
import { start } from "./measures/start.ts";
import { traffic } from "./measures/traffic.ts";

const measures = [size, start, script, payload, refreshes, traffic];
const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });
const only = options.only.split(",").filter((name) => name !== "");

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium`);

const dataDir = mkdtempSync(join(tmpdir(), "worker-bench-page-"));
await using server = await startEmbeddedServer({ dataDir });
await createDatabase(server.connection, "bench", false);
const connectionString = server.url("bench");
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
await insertSampleJobs(utils.database);
const db = new pg.Client({ connectionString });
await db.connect();
const admin = await startAdminProcess(connectionString);
const bench: PageBench = {
  ...{ url: `http://127.0.0.1:${admin.port}/`, port: admin.port, admin, db },
  ...{ connectionString, database: utils.database },
  launch: (...options) =>
    chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...options] }),
};
try {
  // Warms the admin up, as if the page had been opened before.
  for (const path of ["", "api/session", "api/overview"])
    await (await fetch(bench.url + path)).text();
  for (const { name, run } of measures) {
    if (only.length > 0 && !only.includes(name)) continue;
    for (const { what, target, figure, isMet } of await run(bench)) {
      const verdict = isMet === null ? "" : isMet ? "ok" : "NOT";
      console.log(`${what.padEnd(78)} ${figure.padStart(12)}   ${target.padEnd(14)} ${verdict}`);
    }
  }
} finally {
  await admin.stop();
  await db.end();
  rmSync(dataDir, { recursive: true, force: true });
}
