// Bundles the child's program (child.ts) into JavaScript. If it were run as TypeScript, each process would contain
// Node's type stripper: 50 MB that would count as memory of the measured queue.
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
