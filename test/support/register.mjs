// Preloaded by `node --import ./test/support/register.mjs`. With this file, Node runs the sources without a build, even
// if they import .sql files, and caches the compiled code. Without the cache, each of hundreds of processes would strip
// the types of all files again, which takes a second of processor time. For the same reason, this file resolves the
// imports of our own files itself. Node would look for a package.json, a link and a file at each of hundreds of paths,
// which takes 0.3 s of processor time in each process. This file also ends the process of a test file after three
// minutes. Node's own time limit applies only while a test runs. Outside of a test, an open connection or timer could
// keep the process running.
import "../../build/sql-text.mjs";
import { enableCompileCache, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url)));

const root = new URL("../../", import.meta.url).href;
registerHooks({
  resolve(specifier, context, nextResolve) {
    const isOurs = specifier.startsWith(".") && specifier.endsWith(".ts");
    if (!isOurs || !context.parentURL?.startsWith(root)) return nextResolve(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    return { url: href, format: "module-typescript", shortCircuit: true };
  },
});

const MAX_FILE_MS = 180_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    console.error(`${process.argv[1]} does not end; it is kept alive by: ${kept}`);
    process.exit(1);
  }, MAX_FILE_MS).unref();
}
