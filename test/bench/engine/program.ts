// Bundles the child's program (child.ts) into JavaScript. If child.ts were run as TypeScript, each process would load
// Node's type stripper, and its 50 MB would count as memory of the measured queue.
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../..");

/** Bundles the child and returns its path. */
export async function bundledChild(): Promise<string> {
  const outdir = join(root, "dist/bench");
  await build({
    entryPoints: [join(import.meta.dirname, "child.ts")],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    loader: { ".sql": "text" },
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  return join(outdir, "child.mjs");
}
