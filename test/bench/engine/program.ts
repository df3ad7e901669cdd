// Bundles the child's program into JavaScript. From the sources each process would contain Node's type stripper, some
// 50 MB that belong to no contender.
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
