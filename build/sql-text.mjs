// Makes Node run the sources as they are: `import text from "./x.sql"` returns the file's text, as esbuild's text
// loader does in the build.
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
