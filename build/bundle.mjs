// Bundles the sources as JavaScript: the command with its packages as one CommonJS file, the library without packages
// as ES modules with types, the command again in pieces for the executable, and the heartbeat's thread as a text.
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { dist, fail, place, root } from "./files.mjs";
import { libraryFiles } from "./library-files.mjs";
import { types } from "./types.mjs";

/**
 * Writes the heartbeat's thread as one JSON string, because neither the executable nor a user's own bundle has a file
 * for the thread.
 */
export async function thread(path = join(dist, "heartbeat-thread.json")) {
  const {
    outputFiles: [{ text }],
  } = await esbuild({
    ...commandOptions,
    entryPoints: [join(root, "src/worker/lease/heartbeat-thread.ts")],
    format: "cjs",
    minify: true,
  });
  await place(path, JSON.stringify(text));
}

export async function bundle() {
  await Promise.all([command(), library(), types()]);
}

async function command() {
  const banner = `#!/usr/bin/env node
"use strict"; const __importMetaUrl = require("node:url").pathToFileURL(__filename).href;`;
  const {
    outputFiles: [{ contents }],
  } = await esbuild({
    ...commandOptions,
    format: "cjs",
    banner: { js: banner },
  });
  await place(join(dist, "worker.cjs"), contents, 0o755);
}

/** How long a replaced file is kept, because a process that runs the previous build may still import it. */
const KEEP_REPLACED_MS = 24 * 60 * 60 * 1_000;

/**
 * Builds index.js and the files that it imports. The files are split at dynamic imports, so that a process without an
 * admin never reads the admin server. File names in library/ contain a hash, so index.js never imports a file of
 * another build.
 */
export async function library() {
  const entry = join(dist, "index.js");
  const { outputFiles } = await esbuild({
    entryPoints: [join(root, "src/index.ts")],
    format: "esm",
    packages: "external",
    splitting: true,
    outdir: dist,
    chunkNames: "library/[name]-[hash]",
  });
  const replaced = previousFiles();
  // index.js is written last, after the files that it imports.
  const files = outputFiles.sort((a, b) => Number(a.path === entry) - Number(b.path === entry));
  for (const { path, contents } of files) await place(path, contents);
  const made = new Set(files.map(({ path }) => basename(path)));
  const others = (await readdir(join(dist, "library"))).filter((name) => !made.has(name));
  await Promise.all(others.map((name) => tidy(join(dist, "library", name), replaced.has(name))));
}

/** Returns the names of the previous build's files in library/. */
function previousFiles() {
  try {
    return libraryFiles();
  } catch {
    return new Set();
  }
}

async function tidy(path, isReplacedNow) {
  const nowMs = Date.now();
  try {
    // The modification time of a replaced file is the time of its replacement.
    if (isReplacedNow) await utimes(path, nowMs / 1_000, nowMs / 1_000);
    else if ((await stat(path)).mtimeMs < nowMs - KEEP_REPLACED_MS) await rm(path);
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // another build has deleted or renamed it since readdir()
  }
}

/**
 * Returns the command in pieces, split at dynamic imports, so that `worker add` never parses the admin server.
 * `inputs`: the files of which at least a part is in a piece.
 */
export async function pieces() {
  const { outputFiles, metafile } = await esbuild({
    ...commandOptions,
    format: "esm",
    splitting: true,
    metafile: true,
    outdir: join(dist, "pieces"), // nothing is written there, but relative names need a directory
    chunkNames: "[name]-[hash]",
  });
  const files = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, { format: "cjs", platform: "node", target: "node24" });
      const lazy = /\bimport\(("\.\/[\w.-]+\.js")\)/g;
      const body = code.replace(lazy, "Promise.resolve().then(() => require($1))");
      return { name: basename(path), source: `(function (${PARAMETERS}) {${body}})` };
    }),
  );
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );
  return { files, inputs: [...new Set(inputs)].sort() };
}

const PARAMETERS = "exports, require, module, __filename, __dirname, __importMetaUrl";

const commandOptions = {
  entryPoints: [join(root, "src/main.ts")],
  // pg requires these packages only for its native client and in Cloudflare's runtime.
  external: ["pg-native", "pg-cloudflare"],
  define: {
    "import.meta.url": "__importMetaUrl",
    "import.meta.dirname": "__dirname",
    "process.env.NODE_PG_FORCE_NATIVE": '""',
  },
};

/** By default, only syntax is minified. Lines and names stay, so that stack traces are readable. */
async function esbuild(options) {
  return build({
    bundle: true,
    platform: "node",
    target: "node22",
    charset: "utf8",
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
    loader: { ".sql": "text" },
    absWorkingDir: root,
    write: false,
    // Without this, if node_modules is a link, the path of the link's target would be in the output.
    preserveSymlinks: true,
    plugins: [
      { name: "comments", setup: withoutComments },
      { name: "manifest", setup: versionOnly },
      { name: "extensions", setup: partsOnly },
      { name: "string-width", setup: plainWidth },
      { name: "yargs", setup: withoutSettings },
    ],
    ...options,
  }).catch(() => fail("The sources do not build.")); // esbuild has printed the reason
}

/** Removes the comments of src/, because esbuild keeps the comments in classes. */
function withoutComments(build) {
  build.onLoad({ filter: /\/src\/.+\.ts$/ }, async ({ path }) => {
    if (!path.startsWith(join(root, "src"))) return undefined;
    const text = await readFile(path, "utf8");
    const { code } = await transform(text, { loader: "ts", minifyWhitespace: true });
    return { contents: code, loader: "js" };
  });
}

/** Bundles only the version from package.json. */
function versionOnly(build) {
  build.onLoad({ filter: /package\.json$/ }, async ({ path }) => {
    if (path !== join(root, "package.json")) return undefined;
    const { version } = JSON.parse(await readFile(path, "utf8"));
    return { contents: JSON.stringify({ version }), loader: "json" };
  });
}

/** Bundles the SQL files of extensions without the comment at their beginning. */
function partsOnly(build) {
  build.onLoad({ filter: /schema\/extensions\/.+\.sql$/ }, async ({ path }) => {
    const text = await readFile(path, "utf8");
    return { contents: text.slice(text.indexOf("--- ")), loader: "text" };
  });
}

/**
 * Replaces the package with which yargs measures the width of its help, because the package takes 30 ms to load. The
 * help has no wide characters, so a text is as wide as its number of characters.
 */
function plainWidth(build) {
  const name = "string-width";
  const contents = 'export default (text) => [...text.replace(/\\u001b\\[[0-9;]*m/g, "")].length;';
  build.onResolve({ filter: /^string-width$/ }, () => ({ path: name, namespace: name }));
  build.onLoad({ filter: /^/, namespace: name }, () => ({ contents }));
}

/**
 * Makes yargs look for its settings in /package.json. By default, a bundled yargs could apply the settings of another
 * program in the working directory, and would fail if this directory was removed.
 */
function withoutSettings(build) {
  build.onLoad({ filter: /yargs.lib.platform-shims.esm\.mjs$/ }, async ({ path }) => {
    const [before, after, ...more] = (await readFile(path, "utf8")).split(
      "mainFilename || process.cwd()",
    );
    if (after === undefined || more.length > 0)
      fail("The code with which yargs looks for its settings has changed.");
    return { contents: `${before}"/"${after}`, loader: "js" };
  });
}
