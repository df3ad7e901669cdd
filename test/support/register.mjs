// Preloaded by `node --import ./test/support/register.mjs`: makes Node run the TypeScript sources directly, and caches
// the result. Without the cache each of hundreds of processes would strip the types of all files again, which takes a
// second of processor time. It also ends test files that would never end, because Node's own time limit applies only
// while a test runs.
import "../../build/sql-text.mjs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url)));

const MAX_FILE_MS = 180_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    console.error(`${process.argv[1]} does not end; it is kept alive by: ${kept}`);
    process.exit(1);
  }, MAX_FILE_MS).unref();
}
