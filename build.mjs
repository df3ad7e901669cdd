// Builds everything that ships. Each step includes the steps above it, but `--all` does not write dist/worker:
//   node build.mjs ui       the client                       dist/ui/*
//   node build.mjs assets   the client as one JSON, the      dist/ui/assets.json, dist/heartbeat-thread.json,
//                           heartbeat's thread, licences     dist/THIRD_PARTY_NOTICES, dist/third-party-notices.json
//   node build.mjs bundle   the command and the library      dist/worker.cjs, index.js, library/, types/
//   node build.mjs          the native executable            dist/worker
//   node build.mjs --all    the executables of all supported dist/release/*
//                           platforms, with checksums and lists of their components
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bundle, thread } from "./build/bundle.mjs";
import { executable, parts } from "./build/executable/executable.mjs";
import { release } from "./build/executable/release.mjs";
import { NODE_VERSION } from "./build/executable/targets.mjs";
import { dist, fail, place, sha256 } from "./build/files.mjs";
import { notices } from "./build/notices.mjs";
import { stamped } from "./build/stamp.mjs";

const CONTENT_TYPES = {
  "index.html": "text/html; charset=utf-8",
  "admin.css": "text/css; charset=utf-8",
  "admin.js": "text/javascript; charset=utf-8",
  "admin_ui.js": "text/javascript; charset=utf-8",
  "admin_ui_bg.wasm": "application/wasm",
  "favicon.svg": "image/svg+xml",
};
const typeOf = (name) =>
  CONTENT_TYPES[name] ?? (name.endsWith(".woff2") ? "font/woff2" : "text/plain; charset=utf-8");
/** The names of the client's files. */
let client = [];

const steps = {
  ui: [ui],
  assets: [ui, assets, thread, notices],
  bundle: [program],
  executable: [programAndParts, executable],
  "--all": [program, release],
};

if (process.versions.node !== NODE_VERSION) {
  fail(`This build runs on Node ${NODE_VERSION}, which npm has installed: npm run build.`);
}
const wanted = steps[process.argv[2] ?? "executable"];
if (wanted === undefined) fail(`usage: node build.mjs [${Object.keys(steps).join("|")}]`);
await run(wanted);

async function run(list) {
  for (const step of list) {
    const start = performance.now();
    await step();
    if (step === program || step === programAndParts) continue; // program() prints its own lines
    console.log(`${step.name.padEnd(10)} ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
}

/** Builds what npm packs, and writes a stamp that marks the build as up to date. */
async function program() {
  await stamped(() => run([ui, assets, thread, notices, bundle]));
}

/** Also prepares the parts of the executable that do not depend on the program. */
async function programAndParts() {
  await Promise.all([parts(), program()]);
}

async function ui() {
  const { buildUi } = await import("./ui/build.mjs");
  client = await buildUi(join(dist, "ui"));
}

async function assets() {
  const table = {};
  for (const name of client) {
    const bytes = await readFile(join(dist, "ui", name));
    table[name] = {
      content_type: typeOf(name),
      etag: `"${sha256(bytes, "base64url")}"`,
      br: smallest(bytes).toString("base64"),
      gzip: gzipSync(bytes, { level: 9 }).toString("base64"),
    };
  }
  await place(join(dist, "ui/assets.json"), JSON.stringify(table));
}

/** Returns the shortest result of four settings of brotli. This saves up to 100 bytes. */
function smallest(bytes) {
  const all = [18, 19].flatMap((window) =>
    [0, 4].map((direct) =>
      brotliCompressSync(bytes, {
        params: {
          // With blocks of 1 MiB, the whole WASM module is one block, and its compressed form is smaller.
          [constants.BROTLI_PARAM_LGBLOCK]: 20,
          [constants.BROTLI_PARAM_LGWIN]: window,
          [constants.BROTLI_PARAM_NDIRECT]: direct,
        },
      }),
    ),
  );
  return all.reduce((best, one) => (one.length < best.length ? one : best));
}
