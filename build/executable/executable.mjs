// One native executable: a stock Node with our command and the PostgreSQL files inside (a "single
// executable application"), byte for byte the same wherever it is built from the same sources.
import { execFile } from "node:child_process";
import { chmod, copyFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pieces } from "../bundle.mjs";
import { cached, dist, fail, root, sha256, temporary } from "../files.mjs";
import { nodeBase } from "./node-base.mjs";
import { packageDirectory } from "./packages.mjs";
import { nativeTarget } from "./targets.mjs";

const run = promisify(execFile);

/** The place in Node that tells it that something was put into it. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const INJECTOR = join(root, "node_modules/postject/dist/cli.js");

/** dist/worker, for the machine that builds. */
export async function executable() {
  const target = nativeTarget();
  if (target === undefined) fail(`There is no executable for ${process.platform}-${process.arch}.`);
  const { files } = await pieces();
  await makeExecutable(target, files, join(dist, "worker"));
}

/** Puts the pieces of the command (build/bundle.mjs) and the PostgreSQL of `target` into its Node. */
export async function makeExecutable(target, files, path) {
  const [base, archive] = await Promise.all([nodeBase(target), postgresArchive(target)]);
  const draft = await temporary("executable");
  const assets = archive === null ? {} : { postgresql: archive };
  await copyFile(join(import.meta.dirname, "entry.cjs"), join(draft, "entry.cjs"));
  for (const { name, source } of files) {
    assets[name] = join(draft, name);
    await writeFile(assets[name], source);
  }
  await writeFile(join(draft, "sea.json"), JSON.stringify({ ...settings(target), assets }));
  await copyFile(base, join(draft, "worker"));
  await chmod(join(draft, "worker"), 0o755);
  const here = { cwd: draft };
  try {
    // What reads the blob and what writes it must be one version: this build runs on it.
    await run(process.execPath, ["--experimental-sea-config", "sea.json"], here);
    const words = ["worker", "NODE_SEA_BLOB", "blob", "--sentinel-fuse", FUSE];
    await run(process.execPath, [INJECTOR, ...words], here);
  } catch (error) {
    fail(`The executable for ${target.name} fails:\n${error.stdout}${error.stderr}`);
  }
  await rename(join(draft, "worker"), path);
}

const settings = ({ nothing }) => ({
  // Relative: it goes into the executable, which must not depend on where it was built.
  main: "entry.cjs",
  output: "blob",
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
    // A configuration of OpenSSL names libraries to load; OPENSSL_CONF would bring a stranger's.
    `--openssl-config=${nothing}`,
  ],
});

/** Compressing takes a quarter of a minute, so it is done once for the same files. */
async function postgresArchive({ postgresPackage }) {
  if (postgresPackage === null) return null;
  const { packArchive } = await import("../../src/database/embedded/archive.ts");
  const { serverFiles } = await import("../../src/database/embedded/server-files.ts");
  const directory = await packageDirectory(postgresPackage);
  const { version } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  const files = serverFiles(join(directory, "native"));
  const format = await readFile(join(root, "src/database/embedded/archive.ts"));
  const listing = files.map(({ path, mode, size }) => [path, mode, size]);
  const key = sha256(JSON.stringify([version, sha256(format, "hex"), listing]), "hex");
  const kind = `postgresql-${postgresPackage.split("/")[1]}`;
  return cached(kind, `${version}-${key.slice(0, 16)}`, (draft) =>
    writeFile(draft, packArchive(version.split("-")[0], files)),
  );
}
