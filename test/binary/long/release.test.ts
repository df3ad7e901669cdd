// Tests the bill of materials, the notices and the compiled code of an executable, and an executable that does not
// include PostgreSQL.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { installedProgram, newDirectory, root, run } from "../program.ts";

const program = await installedProgram();
const build = (file: string) => import(new URL(`../../../build/${file}`, import.meta.url).href);
const { pieces } = await build("bundle.mjs");
const { makeExecutable } = await build("executable/executable.mjs");
const { withShortScript } = await build("executable/short-script.mjs");
const { billOfMaterials } = await build("executable/sbom.mjs");
const { nativeTarget } = await build("executable/targets.mjs");

interface Component {
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
}
interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

async function bill(): Promise<Bill> {
  const { inputs } = await pieces();
  return billOfMaterials(nativeTarget(), inputs, readFileSync(program));
}

const nameOf = ({ group, name }: Component) => (group === undefined ? name : `${group}/${name}`);

test("The bill of materials and the notices name all packages with code in the executable.", async () => {
  const { components, metadata } = await bill();
  const sum = createHash("sha256").update(readFileSync(program)).digest("hex");
  assert.deepEqual(metadata.component.hashes, [{ alg: "SHA-256", content: sum }]);
  const named = components.map(nameOf);
  // In the bundle, a comment with the path of a source file precedes the code of that file.
  const text = readFileSync(join(root, "dist/worker.cjs"), "utf8");
  const marks = text.matchAll(/^\s*\/\/ (?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm);
  const withCode = [...new Set([...marks].map(([, name = ""]) => name))];
  assert.ok(withCode.length > 30);
  for (const name of ["assemblyscript", "node", "postgresql", ...withCode]) {
    assert.ok(named.includes(name), `${name} is not in the bill of materials`);
  }
  const notices = readFileSync(join(root, "dist/THIRD_PARTY_NOTICES"), "utf8");
  for (const one of components.filter((each) => each.purl?.startsWith("pkg:npm/"))) {
    const heading = `\n${nameOf(one)} ${one.version} (`;
    assert.ok(notices.includes(heading), `${heading.trim()} has no notice`);
  }
});

test("In the bill of materials each component and part has a version and a license. Each component also has a hash, and another component or the executable depends on it.", async () => {
  const { components, dependencies } = await bill();
  const parts = components.flatMap((one) => one.components ?? []);
  for (const one of [...components, ...parts]) {
    assert.match(one.version, /^\d/, nameOf(one));
    assert.equal(one.licenses.length, 1, nameOf(one));
  }
  for (const one of components) {
    assert.match(one.hashes?.[0]?.content ?? "", /^[0-9a-f]{64,128}$/, nameOf(one));
  }
  const refs = [...components, ...parts].map((one) => one["bom-ref"]);
  assert.equal(new Set(refs).size, refs.length);
  const reached = new Set(dependencies.flatMap(({ dependsOn }) => dependsOn));
  assert.deepEqual([...reached].sort(), components.map((one) => one["bom-ref"]).sort());
  const text = JSON.stringify(components);
  for (const part of ["openssl", "v8", "libxml2"]) assert.match(text, new RegExp(`"${part}"`));
});

test("Two bills of materials of the same executable are equal.", async () => {
  assert.deepEqual(await bill(), await bill());
});

test("The code of short commands is compiled to the same bytes each time, and V8 accepts them.", async () => {
  const { files } = await pieces();
  const made = await withShortScript(files, true);
  assert.deepEqual(await withShortScript(files, true), made);
  const cwd = newDirectory();
  for (const { name, source } of made.slice(-2)) writeFileSync(join(cwd, name), source);
  const taking = `new vm.Script(fs.readFileSync("short.js", "latin1"), {
    cachedData: fs.readFileSync("short.cache"),
  }).cachedDataRejected`;
  assert.equal(
    execFileSync(process.execPath, ["-p", taking], { cwd, env: {} }).toString(),
    "false\n",
  );
});

test("The demo of an executable without PostgreSQL fails and reports the cause; `--version` works.", async () => {
  const bare = join(newDirectory(), "worker");
  const { files } = await pieces();
  await makeExecutable({ ...nativeTarget(), postgresPackage: null }, files, bare);
  const demo = await run(bare, ["demo"]);
  assert.equal(demo.status, 1);
  assert.match(demo.stderr, /^worker: this executable does not include PostgreSQL[^\n]*\n$/);
  assert.equal((await run(bare, ["--version"])).status, 0);
});
