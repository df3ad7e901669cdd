// Lets Node run the sources as they are: `import text from "./x.sql"` gives the file's text, exactly as
// esbuild's text loader does in what ships.
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
