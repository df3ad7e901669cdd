// Graphile Worker's own tests with its published package, on its own schema and on ours with all extensions: what
// passes on the first passes on the second.
//
//   npm run test:graphile -- DIRECTORY     a clone of https://github.com/graphile/worker; its folder __tests__ is copied
//
// npm installs Jest and the package into a temporary directory. Needs PostgreSQL's pg_dump in the PATH.
// Exit status: 0, the same tests pass; 1, some pass only on the first; 2, invalid arguments.
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { olderBinaries } from "../../support/postgres-versions.ts";
import { makeTemplate, schemaWithExtensions } from "./schemas.ts";
import { installSuite, type Outcomes, runSuite } from "./suite.ts";

const [clone] = process.argv.slice(2);
if (clone === undefined || !existsSync(join(clone, "__tests__", "helpers.ts"))) {
  console.error("give the directory of a clone of graphile/worker: it has __tests__/helpers.ts");
  process.exit(2);
}
const directory = mkdtempSync(join(tmpdir(), "worker-graphile-suite-"));
// PostgreSQL does not run as root, and its account passes through here.
chmodSync(directory, 0o711);
const binaries = olderBinaries("15");
const server = await startEmbeddedServer({
  dataDir: join(directory, "postgres"),
  settings: { fsync: "off", max_connections: "300" },
  ...(binaries === null ? {} : { binaries }),
});
try {
  const suite = join(directory, "suite");
  installSuite(clone, suite);
  await makeTemplate(server, suite);
  const own = runSuite(suite, server, null);
  console.log(`its own schema: ${own.passed.size} of ${own.all.size} pass`);
  const ours = runSuite(suite, server, await schemaWithExtensions(server, directory));
  console.log(`ours with all extensions: ${ours.passed.size} of ${ours.all.size} pass`);
  process.exitCode = compared(own, ours);
} finally {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}

function compared(own: Outcomes, ours: Outcomes): number {
  const lost = [...own.passed].filter((name) => !ours.passed.has(name));
  for (const name of lost) console.log(`  ✗ only on its own schema: ${name}`);
  for (const name of ours.passed) if (!own.passed.has(name)) console.log(`  only on ours: ${name}`);
  return lost.length > 0 ? 1 : 0;
}
