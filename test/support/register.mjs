// Preloaded by `node --import ./test/support/register.mjs`: lets Node run the sources as they are.
// `import text from "./x.sql"` gives the file's text, exactly as esbuild's text loader does. And in a
// test file it ends what would never end: Node's own time limit counts only while a test runs.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, nextLoad) {
    if (!new URL(url).pathname.endsWith(".sql")) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), "utf8");
    return {
      format: "module",
      source: `export default ${JSON.stringify(text)};`,
      shortCircuit: true,
    };
  },
});

const LONGEST_FILE_MS = 180_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    console.error(`${process.argv[1]} does not end; it is kept alive by: ${kept}`);
    process.exit(1);
  }, LONGEST_FILE_MS).unref();
}
