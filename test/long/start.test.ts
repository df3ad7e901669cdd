// Tests npm start: when it builds, and what it prints if it cannot start. Each test makes a project of its own, and can
// change the project's sources. The project has the real start script. The project's build compiles nothing. Each run
// of this build appends a letter to the file `builds`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "../..");
const FREE_PORT = ["--listen", "127.0.0.1:0"];

const COUNTING_BUILD = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { stamped } from "./build/stamp.mjs";
await stamped(async () => {
  appendFileSync("builds", "x");
  for (const name of ["types", "library"]) mkdirSync("dist/" + name, { recursive: true });
  writeFileSync("dist/worker.cjs", "console.log(JSON.stringify(process.argv.slice(2)))");
  for (const name of ["index.js", "types/index.d.ts"]) writeFileSync("dist/" + name, "");
});
`;

const made: string[] = [];
after(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

function newProject(): string {
  const project = mkdtempSync(join(tmpdir(), "worker-start-"));
  made.push(project);
  cpSync(join(root, "build"), join(project, "build"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  writeFileSync(join(project, "build.mjs"), COUNTING_BUILD);
  mkdirSync(join(project, "src"));
  writeFileSync(join(project, "src/a.ts"), "one");
  return project;
}

function start(project: string, words: readonly string[]) {
  const args = [join(project, "build/start.mjs"), ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

const builds = (project: string) => readFileSync(join(project, "builds"), "utf8").length;

test("npm start builds if a source was changed or added, or if a result of the build is missing, but not if only a source's time has changed.", () => {
  const project = newProject();
  const source = join(project, "src/a.ts");
  const expected = { status: 0, stdout: '["demo","--listen","127.0.0.1:0"]\n', stderr: "" };
  assert.deepEqual(start(project, FREE_PORT), expected);
  assert.equal(builds(project), 1);
  // The file has the same bytes and another time, as after a checkout.
  utimesSync(source, new Date(), new Date());
  assert.deepEqual(start(project, FREE_PORT), expected);
  assert.equal(builds(project), 1);
  // The file has other bytes of the same length, and the same time.
  const { atime, mtime } = statSync(source);
  writeFileSync(source, "two");
  utimesSync(source, atime, mtime);
  start(project, FREE_PORT);
  assert.equal(builds(project), 2);
  writeFileSync(join(project, "src/b.ts"), "");
  start(project, FREE_PORT);
  assert.equal(builds(project), 3);
  rmSync(join(project, "dist/index.js"));
  start(project, FREE_PORT);
  assert.equal(builds(project), 4);
});

test("npm start builds again after a build that failed.", () => {
  const project = newProject();
  start(project, FREE_PORT);
  const works = readFileSync(join(project, "build.mjs"), "utf8");
  writeFileSync(join(project, "build.mjs"), "process.exit(3)");
  assert.equal(start(project, FREE_PORT).status, 3);
  writeFileSync(join(project, "build.mjs"), works.replace('"x"', '"y"'));
  assert.equal(start(project, FREE_PORT).status, 0);
  assert.equal(builds(project), 2);
});

test("npm start reports in one line that its port is in use, and builds nothing.", async () => {
  const project = newProject();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const words of [["--listen", address], [`--listen=${address}`]]) {
    const { status, stdout, stderr } = start(project, words);
    assert.equal(status, 1);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`^${address} is in use by another program: .*\\n$`));
  }
  assert.throws(() => builds(project), { code: "ENOENT" });
  server.close();
});

test("npm start reports in one line that nothing is installed.", () => {
  const project = newProject();
  rmSync(join(project, "node_modules"));
  const { status, stderr } = start(project, FREE_PORT);
  assert.equal(status, 1);
  assert.equal(stderr, "Nothing is installed yet: npm ci, then npm start.\n");
});
