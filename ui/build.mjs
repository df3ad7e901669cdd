/**
 * Builds the browser client into a folder: the schema's records, the AssemblyScript application
 * as WebAssembly, the host around it, the styles. The same sources give the same bytes, and every
 * file is put in its place whole, so that two builds at once do no harm.
 * Alone: `node ui/build.mjs [folder]`, by default dist/ui.
 */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { build } from "esbuild";
import { buildFonts } from "./fonts.mjs";
import { generateCommands } from "./schema/commands.mjs";
import { generateRecords } from "./schema/generate.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** The host collects the memory between frames, which is all that the minimal runtime asks for. */
const ascOptions = [
  ...["--runtime", "minimal", "--exportRuntime", "--bindings", "raw"],
  // Asserts stay: a trap then says in which file and line it was. Names would be a tenth of all bytes.
  ...["--optimizeLevel", "3", "--shrinkLevel", "2"],
  // 235: what can't be exported isn't.
  ...["--disableWarning", "235"],
];

/** Builds the client; gives the names of the files that it wrote. */
export async function buildUi(outDir) {
  await writeRecords();
  const glue = await compileAssembly("assembly/index.ts", "admin_ui_bg");
  await writeWhole(join(here, "generated"), glue);
  const fonts = await buildFonts();
  const files = new Map([...(await bundleHost()), ...(await bundleStyles(fonts.css))]);
  files.set("admin_ui_bg.wasm", glue.get("admin_ui_bg.wasm"));
  files.set("favicon.svg", await readFile(join(here, "favicon.svg")));
  const page = await readFile(join(here, "index.html"), "utf8");
  files.set("index.html", page.replace("sans.woff2", fonts.files[0][0]));
  const fontFiles = new Map([...fonts.files, ["licences.txt", fonts.licences]]);
  await writeWhole(join(outDir, "fonts"), fontFiles);
  await writeWhole(outDir, files);
  return [...files.keys(), ...[...fontFiles.keys()].map((name) => `fonts/${name}`)];
}

/** Writes the records of the schema and the server's commands, which the compilers read. */
export async function writeRecords() {
  for (const [path, text] of [...generateRecords(), ...(await generateCommands())]) {
    await writeWhole(join(here, dirname(path)), new Map([[basename(path), text]]));
  }
}

/** Compiles an AssemblyScript entry below ui/ to `<name>.wasm`, with its glue beside it. */
export async function compileAssembly(entry, name) {
  const files = new Map();
  const out = ["--baseDir", here, "--outFile", `${name}.wasm`];
  const { error, stderr } = await asc.main([entry, ...out, ...ascOptions], {
    writeFile: (file, contents) => files.set(basename(file), contents),
  });
  if (error)
    throw new Error(`asc: ${entry} does not compile\n${stderr.toString()}`, { cause: error });
  return files;
}

function bundleHost() {
  return bundle({
    entryPoints: { admin: "host/admin.ts", admin_ui: "host/admin-ui.ts" },
    format: "esm",
    target: "es2023",
    plugins: [keepApart],
  });
}

/** The entry stays a file of its own, so that the page can preload what it imports. */
const keepApart = {
  name: "keep-apart",
  setup(context) {
    context.onResolve({ filter: /^\.\/admin-ui\.ts$/ }, () => ({
      path: "./admin_ui.js",
      external: true,
    }));
  },
};

/** The styles of all pages, then those of each. */
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

async function writeWhole(folder, files) {
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of files) {
    const partial = join(folder, `.${name}.${process.pid}`);
    await writeFile(partial, contents);
    await rename(partial, join(folder, name));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildUi(process.argv[2] ?? fileURLToPath(new URL("../dist/ui", import.meta.url)));
}
