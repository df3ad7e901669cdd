// Preloaded by `node --import ./test/support/register.mjs`: lets Node run the sources as they are, and
// keeps what it compiles: without that each process of hundreds would take the types away from all of
// them anew, a second of a core each. In a test file it also ends what would never end: Node's own time
// limit counts only while a test runs.
import "../../build/sql-text.mjs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url)));

const LONGEST_FILE_MS = 180_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    console.error(`${process.argv[1]} does not end; it is kept alive by: ${kept}`);
    process.exit(1);
  }, LONGEST_FILE_MS).unref();
}
