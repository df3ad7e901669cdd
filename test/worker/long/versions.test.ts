// Runs random workloads on embedded servers of PostgreSQL 15 to 18, all in parallel. The oracle (oracle.ts) checks the
// results.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type EmbeddedServer, startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { TEST_SETTINGS } from "../../support/database-server.ts";
import { olderBinaries } from "../../support/postgres-versions.ts";
import { crewOf } from "../crews.ts";
import { attempt } from "../trial.ts";
import { workerQueue } from "../worker-queue.ts";

describe("The oracle reports no problem", { concurrency: true }, () => {
  // The npm packages with PostgreSQL 15 to 17 exist for x64 only.
  for (const version of ["15", "16", "17"]) {
    const binaries = olderBinaries(version);
    const isNeeded = process.env["CI"] === "true" && process.arch === "x64";
    const skip = binaries === null && !isNeeded && `npm has not installed pg${version}`;
    describe(`on PostgreSQL ${version}`, { skip, concurrency: 1 }, () =>
      trialsOn(binaries ?? `(pg${version} is not installed)`),
    );
  }
  // PostgreSQL 18 is the version that is installed with this package.
  describe("on PostgreSQL 18", { concurrency: 1 }, () => trialsOn(undefined));
});

function trialsOn(binaries: string | undefined): void {
  const directory = mkdtempSync(join(tmpdir(), "worker-version-"));
  let server: EmbeddedServer | undefined;
  const queue = workerQueue(async () => {
    const from = binaries === undefined ? {} : { binaries };
    server = await startEmbeddedServer({ dataDir: directory, settings: TEST_SETTINGS, ...from });
    await using utils = await makeWorkerUtils({ connectionString: server.url() });
    await utils.migrate();
    return { url: server.url() };
  });
  after(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test("with two workers.", () => attempt(queue, { jobs: 400, crew: crewOf(2) }));

  test("with two workers that have fast lanes.", () =>
    attempt(queue, { jobs: 400, crew: crewOf(2, { fastLane: { limitMs: 10 } }) }));
}
