// Builds a native executable (a "single executable application"): Node, the command and, for Linux, the files of
// PostgreSQL. On machines of the same platform, the same sources and the same version of `strip` give the same bytes.
import { chmod, copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pieces } from "../bundle.mjs";
import { cached, dist, fail, root, sha256, temporary } from "../files.mjs";
import { nodeBase } from "./node-base.mjs";
import { packageDirectory } from "./packages.mjs";
import { withShortScript } from "./short-script.mjs";
import { NODE_VERSION, nativeTarget } from "./targets.mjs";

/** Builds dist/worker for the platform of this machine. */
export async function executable() {
  const target = nativeTarget();
  if (target === undefined) fail(`There is no executable for ${process.platform}-${process.arch}.`);
  const { files } = await pieces();
  await makeExecutable(target, files, join(dist, "worker"));
}

/** Makes and caches the parts of dist/worker that have no code of this project. */
export async function parts() {
  const target = nativeTarget();
  if (target !== undefined) await Promise.all([nodeBase(target), postgresArchive(target)]);
}

/** Writes the executable of `target` to `path`. `files`: the pieces of the command. */
export async function makeExecutable(target, files, path) {
  const [base, archive] = await Promise.all([nodeBase(target), postgresArchive(target)]);
  const draft = await temporary("executable");
  const assets = archive === null ? {} : { postgresql: archive };
  const entry = join(draft, "entry.cjs");
  await copyFile(join(import.meta.dirname, "entry.cjs"), entry);
  const isCached = target.name === nativeTarget()?.name;
  for (const { name, source } of await withShortScript(files, isCached)) {
    assets[name] = join(draft, name);
    await writeFile(assets[name], source);
  }
  const { default: sea } = (await import("@yao-pkg/pkg/lib-es5/sea.js")).default;
  const { platform, arch } = target.pkg;
  const output = join(draft, "worker");
  const targets = [{ nodeRange: `node${NODE_VERSION}`, platform, arch, output }];
  const seaConfig = { ...settings(target), assets };
  await inHome(draft, async () => {
    await giveBase(base, target, draft);
    await quietly(() => sea(entry, { targets, signature: false, seaConfig }));
  });
  await chmod(output, 0o755);
  await rename(output, path);
}

/**
 * Puts our Node into pkg's cache of downloads, so that pkg downloads no Node. The empty files mark the download as
 * complete. Pkg's option `nodePath` cannot be used: pkg would run that Node, which may be for another platform.
 */
async function giveBase(base, { pkg: { platform, arch } }, home) {
  const kept = join(home, ".pkg-cache/sea");
  const name = `node-v${NODE_VERSION}-${platform}-${arch}`;
  const isWindows = platform === "win";
  const archive = join(kept, `${name}.${isWindows ? "zip" : "tar.gz"}`);
  const node = join(kept, isWindows ? `${name}.exe` : `${name}/bin/node`);
  await mkdir(dirname(node), { recursive: true });
  await copyFile(base, node);
  for (const path of [archive, `${archive}.ok`, `${node}.ok`]) await writeFile(path, "");
}

/** Runs `work` with HOME and TMPDIR set to `directory`, because pkg writes its files into these directories. */
async function inHome(directory, work) {
  const { HOME, TMPDIR } = process.env;
  Object.assign(process.env, { HOME: directory, TMPDIR: directory });
  try {
    await work();
  } finally {
    for (const [name, value] of Object.entries({ HOME, TMPDIR })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Runs `work` without the log that pkg writes to stdout. */
async function quietly(work) {
  const { log } = console;
  const logged = [];
  console.log = (...words) => logged.push(words.join(" "));
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${logged.join("\n")}\n`);
    throw error;
  } finally {
    console.log = log;
  }
}

const settings = ({ nothing }) => ({
  // The path is relative to pkg's temporary directory. An absolute path would be stored in the executable.
  main: "../entry.cjs",
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  // This cache would differ between builds.
  useCodeCache: false,
  // The executable ignores NODE_OPTIONS of its environment.
  execArgvExtension: "none",
  execArgv: [
    // entry.cjs permits the pieces to import a user's files, which Node would report as experimental.
    "--disable-warning=ExperimentalWarning",
    // Without this option, Node opens a debugger on port 9229 when any program sends SIGUSR1.
    "--disable-sigusr1",
    // In a busy worker, V8's young generation would grow to 67 MB. With two halves of 4 MB the worker is equally fast.
    "--max-semi-space-size=4",
    // A configuration file can make OpenSSL load libraries, so an empty file replaces the file that OPENSSL_CONF names.
    `--openssl-config=${nothing}`,
  ],
});

/**
 * Returns the path of PostgreSQL's archive; null for a target without PostgreSQL. The archive is cached, because it
 * takes 15 s to make.
 */
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
  return cached(kind, `${version}-${key.slice(0, 16)}`, async (draft) =>
    writeFile(draft, await packArchive(version.split("-")[0], files)),
  );
}
