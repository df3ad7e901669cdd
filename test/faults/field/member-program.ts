// Bundles the members' program (member-child.ts), with its heartbeat thread, into one file: a start from the sources
// costs half a second of CPU, which would be most of the work of members that live for a short time.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const { thread } = (await import(new URL("../../../build/bundle.mjs", import.meta.url).href)) as {
  thread: (path: string) => Promise<void>;
};
const source = fileURLToPath(new URL("./member-child.ts", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));

const built = new Map<string, Promise<string>>();

/** Builds the program in `directory`, once; returns the program's path. */
export function memberProgram(directory: string): Promise<string> {
  const path = built.get(directory) ?? buildMember(directory);
  built.set(directory, path);
  return path;
}

async function buildMember(directory: string): Promise<string> {
  const threadPath = join(directory, "heartbeat-thread.json");
  const outfile = join(directory, "member.mjs");
  await thread(threadPath);
  const here: Plugin = {
    name: "heartbeat-thread",
    setup: ({ onResolve }) =>
      onResolve({ filter: /\/heartbeat-thread\.json$/ }, () => ({ path: threadPath })),
  };
  await build({
    ...{ entryPoints: [source], outfile, bundle: true, absWorkingDir: root },
    ...{ platform: "node", format: "esm", target: "node24", loader: { ".sql": "text" } },
    ...{ logLevel: "warning", plugins: [here] },
    external: ["pg-native", "pg-cloudflare"],
    // Bundled CommonJS packages call `require` for Node's own modules; an ES module has no such function.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(
        pathToFileURL(join(root, "package.json")).href,
      )});`,
    },
  });
  return outfile;
}
