// Tests which files of the built library an import of index.js reads at once. The other files are read only when they
// are used. Also tests how long the files of earlier builds are kept.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const { libraryFiles } = await import(join(root, "build/library-files.mjs"));

/** Returns the texts of the file and of all files that it imports statically, directly or through others, by path. */
function readAtOnce(path: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(path)) return found;
  const text = readFileSync(path, "utf8");
  found.set(path, text);
  for (const [, name = ""] of text.matchAll(/^(?:import|\}|export).*? "(\.[^"]+)";$/gm)) {
    readAtOnce(join(dirname(path), name), found);
  }
  return found;
}

const atOnce = readAtOnce(join(dist, "index.js"));
const inAll = (text: string) =>
  [...atOnce].filter(([, content]) => content.includes(text)).map(([path]) => relative(dist, path));

test("Importing the library reads neither the admin nor its page nor an HTTP server.", () => {
  const later = [...(libraryFiles() as Set<string>)]
    .map((name) => join(dist, "library", name))
    .filter((path) => !atOnce.has(path))
    .map((path) => readFileSync(path, "utf8"));
  for (const text of [
    "function createApplication(",
    "application/wasm",
    "node:http",
    "compileQuery(",
  ]) {
    assert.deepEqual(inAll(text), [], text);
    assert.ok(
      later.some((content) => content.includes(text)),
      text,
    );
  }
});

test("Importing the library does not load Node's TLS.", () => {
  assert.deepEqual(inAll('from "node:tls"'), []);
});

test("Importing the library reads less than 750 KB.", () => {
  const bytes = [...atOnce.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes < 750_000, `importing the library reads ${bytes} bytes`);
});

test("After two more builds, a process can still import parts of its own build; a build deletes parts that were replaced more than a day before.", async (t) => {
  const project = mkdtempSync(join(tmpdir(), "worker-library-"));
  t.after(() => rmSync(project, { recursive: true }));
  cpSync(join(root, "build"), join(project, "build"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  mkdirSync(join(project, "src"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "src/index.ts"), 'export const later = () => import("./later.ts");');
  const node = async (program: string) => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: project,
      stdio: ["pipe", "pipe", "inherit"],
    });
    return { child, ended: once(child, "close") };
  };
  const build = async (text: string) => {
    writeFileSync(join(project, "src/later.ts"), `export const text = "${text}";`);
    const program = 'await (await import("./build/bundle.mjs")).library();';
    assert.deepEqual(await (await node(program)).ended, [0, null]);
  };
  const names = () => readdirSync(join(project, "dist/library")).length;
  await build("first");
  const { child, ended } = await node(`
    const { later } = await import("./dist/index.js");
    console.log("begun");
    process.stdin.once("data", async () => {
      console.log((await later()).text);
      process.stdin.pause();
    });`);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  await once(child.stdout as NodeJS.ReadableStream, "data");
  await build("second");
  await build("third");
  assert.equal(names(), 3);
  child.stdin?.write("now\n");
  assert.deepEqual(await ended, [0, null]);
  assert.equal(output, "begun\nfirst\n");

  const dayAgo = Date.now() / 1_000 - 24 * 60 * 60 - 1;
  for (const name of readdirSync(join(project, "dist/library"))) {
    utimesSync(join(project, "dist/library", name), dayAgo, dayAgo);
  }
  await build("fourth");
  assert.equal(names(), 2, "only parts of the current and the previous build remain");
});
