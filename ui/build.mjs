/**
 * Builds the browser client: index.html, the application as WebAssembly, its host in JavaScript, styles and fonts.
 * Equal sources give equal bytes. `node ui/build.mjs [folder] [--names]` builds only the client, by default into
 * dist/ui. With `--names`, a trap of the application shows the names of functions.
 */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { buildFonts } from "./fonts.mjs";
import { compileAssembly, shrink } from "./module.mjs";
import { generateCommands } from "./schema/commands.mjs";
import { generateConditions } from "./schema/conditions.mjs";
import { generateRecords } from "./schema/generate.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Builds the client into `outDir`, and returns the names of its files. */
export async function buildUi(outDir, { names = false } = {}) {
  await writeRecords();
  const glue = await compileAssembly("assembly/index.ts", "admin_ui_bg");
  // Only the types of the generated glue code are used, because host/module.ts converts texts itself.
  glue.delete("admin_ui_bg.js");
  await writeWhole(join(here, "generated"), glue);
  const fonts = await buildFonts();
  const files = new Map([...(await bundleHost()), ...(await bundleStyles(fonts.css))]);
  files.set("admin_ui_bg.wasm", shrink(glue.get("admin_ui_bg.wasm"), { names }));
  files.set("favicon.svg", await readFile(join(here, "favicon.svg")));
  const page = await readFile(join(here, "index.html"), "utf8");
  files.set("index.html", page.replace("sans.woff2", fonts.files[0][0]));
  const fontFiles = new Map([...fonts.files, ["licences.txt", fonts.licences]]);
  await writeWhole(join(outDir, "fonts"), fontFiles);
  await writeWhole(outDir, files);
  return [...files.keys(), ...[...fontFiles.keys()].map((name) => `fonts/${name}`)];
}

/** Writes the modules that ui/schema generates. */
export async function writeRecords() {
  for (const [path, text] of [
    ...generateRecords(),
    ...generateConditions(),
    ...(await generateCommands()),
  ]) {
    await writeWhole(join(here, dirname(path)), new Map([[basename(path), text]]));
  }
}

/** Bundles the script that sets the theme before anything is drawn, and the host of the application. */
async function bundleHost() {
  const first = { entryPoints: { admin: "host/admin.ts" }, format: "iife" };
  const host = { entryPoints: { admin_ui: "host/admin-ui.ts" }, format: "esm" };
  const target = "es2023";
  return [...(await bundle({ ...first, target })), ...(await bundle({ ...host, target }))];
}

async function bundleStyles(fontFaces) {
  const pages = await readdir(join(here, "assembly/pages"), { recursive: true });
  const own = pages.filter((path) => path.endsWith(".css")).sort();
  const files = ["./styles/index.css", ...own.map((path) => `./assembly/pages/${path}`)];
  const contents = files.map((path) => `@import ${JSON.stringify(path)};\n`).join("");
  const target = ["chrome123", "firefox121", "safari17.5"];
  const [[, css]] = await bundle({
    stdin: { contents, loader: "css", resolveDir: here },
    target,
  });
  return [["admin.css", Buffer.concat([Buffer.from(`${fontFaces}\n`), css])]];
}

async function bundle(options) {
  const common = { absWorkingDir: here, outdir: here, write: false, bundle: true, minify: true };
  const result = await build({ ...common, logLevel: "warning", legalComments: "none", ...options });
  return result.outputFiles.map((file) => [basename(file.path), file.contents]);
}

/** Renames each file when it is complete, so that two builds at the same time do no harm. */
async function writeWhole(folder, files) {
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of files) {
    const partial = join(folder, `.${name}.${process.pid}`);
    await writeFile(partial, contents);
    await rename(partial, join(folder, name));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    options: { names: { type: "boolean" } },
    allowPositionals: true,
  });
  await buildUi(positionals[0] ?? fileURLToPath(new URL("../dist/ui", import.meta.url)), values);
}
