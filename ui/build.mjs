/**
 * Builds the browser client into a folder: the schema's records, the AssemblyScript application
 * as WebAssembly, the host around it, the styles. The same sources give the same bytes.
 * Alone: `node ui/build.mjs [folder]`, by default dist/ui.
 */
import { copyFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { build } from "esbuild";
import { generateRecords } from "./schema/generate.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** The memory is collected by the host between frames, which the minimal runtime allows. */
const ascOptions = [
  ...["--runtime", "minimal", "--exportRuntime", "--bindings", "raw"],
  ...["--optimizeLevel", "3", "--shrinkLevel", "1", "--debug"],
  // Warning 235: what is exported is only what can be.
  ...["--disableWarning", "235"],
];

/** Compiles one AssemblyScript entry (below ui/) to `<outFile>.wasm` with its `.js` and `.d.ts`. */
export async function compileAssembly(entry, outFile) {
  const out = ["--baseDir", here, "--outFile", outFile];
  const { error, stderr } = await asc.main([entry, ...out, ...ascOptions]);
  if (error) throw new Error(`asc could not compile ${entry}\n${stderr.toString()}`, { cause: error });
}

export async function buildUi(outDir) {
  generateRecords();
  await mkdir(outDir, { recursive: true });
  await compileAssembly("assembly/index.ts", "generated/admin_ui_bg.wasm");
  await bundleHost(outDir);
  await bundleStyles(outDir);
  await copyFile(`${here}generated/admin_ui_bg.wasm`, `${outDir}/admin_ui_bg.wasm`);
  await copyFile(`${here}index.html`, `${outDir}/index.html`);
  await copyFile(`${here}favicon.svg`, `${outDir}/favicon.svg`);
}

const shared = { absWorkingDir: here, bundle: true, minify: true, logLevel: "warning", legalComments: "none" };

async function bundleHost(outdir) {
  await build({
    ...shared,
    entryPoints: { admin: "host/admin.ts", admin_ui: "host/admin-ui.ts" },
    outdir,
    format: "esm",
    target: "es2023",
    plugins: [keepApart],
  });
}

/** The entry stays a file of its own, so that the page can preload what it imports. */
const keepApart = {
  name: "keep-apart",
  setup(context) {
    context.onResolve({ filter: /^\.\/admin-ui\.ts$/ }, () => ({ path: "./admin_ui.js", external: true }));
  },
};

async function bundleStyles(outdir) {
  await build({
    ...shared,
    entryPoints: { admin: "styles/index.css" },
    outdir,
    target: ["chrome123", "firefox121", "safari17.5"],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outDir = process.argv[2] ?? fileURLToPath(new URL("../dist/ui", import.meta.url));
  await buildUi(outDir);
}
