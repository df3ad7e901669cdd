// What runs on a Node that is there already: the command as one CommonJS file, the library as one ES
// module, and the library's types.
import { execFile } from "node:child_process";
import { chmod, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { dist, fail, place, root, temporary } from "./files.mjs";

const run = promisify(execFile);

export async function bundle() {
  await Promise.all([command(), library(), types()]);
}

async function command() {
  await esbuild("worker.cjs", {
    entryPoints: [join(root, "src/main.ts")],
    format: "cjs",
    // pg asks for these two only where they are installed.
    external: ["pg-native", "pg-cloudflare"],
    define: {
      "import.meta.url": "__importMetaUrl",
      "import.meta.dirname": "__dirname",
      "process.env.NODE_PG_FORCE_NATIVE": '""',
    },
    banner: {
      js: '#!/usr/bin/env node\n"use strict"; const __importMetaUrl = require("node:url").pathToFileURL(__filename).href;',
    },
  });
}

async function library() {
  await esbuild("index.js", {
    entryPoints: [join(root, "src/index.ts")],
    format: "esm",
    packages: "external",
  });
}

/** Not minified: it saves 0.2 MB of 120, and a stack trace would print the whole line. */
async function esbuild(name, options) {
  const { outputFiles } = await build({
    bundle: true,
    platform: "node",
    target: "node20",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    loader: { ".sql": "text" },
    absWorkingDir: root,
    write: false,
    // Where node_modules is a link, its target's path would get into the output.
    preserveSymlinks: true,
    plugins: [
      { name: "manifest", setup: versionOnly },
      { name: "string-width", setup: plainWidth },
    ],
    ...options,
  }).catch(() => fail(`${name} does not build.`)); // esbuild has said why
  await place(join(dist, name), outputFiles[0].contents, options.format === "cjs" ? 0o755 : 0o644);
}

/** Of package.json only the version travels. */
function versionOnly(build) {
  build.onLoad({ filter: /package\.json$/ }, async ({ path }) => {
    if (path !== join(root, "package.json")) return undefined;
    const { version } = JSON.parse(await readFile(path, "utf8"));
    return { contents: JSON.stringify({ version }), loader: "json" };
  });
}

/**
 * yargs measures its help with a package that loads half of Unicode's tables whenever the program
 * starts: 20 of 50 ms. Our help is plain text.
 */
function plainWidth(build) {
  const name = "string-width";
  const contents = 'export default (text) => [...text.replace(/\\u001b\\[[0-9;]*m/g, "")].length;';
  build.onResolve({ filter: /^string-width$/ }, () => ({ path: name, namespace: name }));
  build.onLoad({ filter: /^/, namespace: name }, () => ({ contents }));
}

async function types() {
  const draft = await temporary("types");
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [tsc, "-p", "tsconfig.types.json", "--outDir", draft], {
    cwd: root,
  }).catch((error) => fail(`The types do not build:\n${error.stdout}${error.stderr}`));
  await chmod(draft, 0o755);
  await rm(join(dist, "types"), { recursive: true, force: true });
  await rename(draft, join(dist, "types"));
}
