// Preloaded by `node --import ./test/support/register.mjs`: lets Node run the sources as they are. And
// in a test file it ends what would never end: Node's own time limit counts only while a test runs.
import "../../build/sql-text.mjs";

const LONGEST_FILE_MS = 180_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    console.error(`${process.argv[1]} does not end; it is kept alive by: ${kept}`);
    process.exit(1);
  }, LONGEST_FILE_MS).unref();
}
