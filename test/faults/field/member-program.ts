// Bundles the program of a member (member-child.ts: a worker in its own process) and its heartbeat thread into one
// file. A start from the sources takes half a second of CPU time. For a member that runs only for a short time, this
// start would be most of the work.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const { thread } = (await import(new URL("../../../build/bundle.mjs", import.meta.url).href)) as {
  thread: (path: string) => Promise<void>;
};
const source = fileURLToPath(new URL("./member-child.ts", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));

const built = new Map<string, Promise<string>>();

/** Builds the program in `directory` at the first call for this directory. Resolves to the program's path. */
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
    // Bundled CommonJS packages call `require` for Node's own modules. An ES module has no such function, so the first
    // line of the bundle defines it.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(
        pathToFileURL(join(root, "package.json")).href,
      )});`,
    },
  });
  return outfile;
}
