// Makes dist/release: for each target the executable and a list of its components, then the notices, and the checksums
// of all these files. Each executable is made twice, from the same cached Node and PostgreSQL. If the two results
// differ, the build fails.
import { chmod, readFile, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pieces } from "../bundle.mjs";
import { dist, fail, place, root, sha256, temporary } from "../files.mjs";
import { makeExecutable } from "./executable.mjs";
import { billOfMaterials } from "./sbom.mjs";
import { LEFT_OUT, TARGETS } from "./targets.mjs";

const MAX_BYTES = 135e6;

export async function release() {
  const draft = await temporary("release");
  const sums = [];
  const add = async (name, content, mode) => {
    await place(join(draft, name), content, mode);
    sums.push(`${sha256(content, "hex")}  ${name}\n`);
  };
  for (const target of TARGETS) {
    const { bytes, inputs } = await twice(target);
    check(target, bytes);
    await add(target.file, bytes, 0o755);
    const bill = await billOfMaterials(target, inputs, bytes);
    await add(`${target.file}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
    const size = (bytes.length / 1e6).toFixed(0);
    console.log(`           ${target.file}: ${size} MB, made twice; tested: ${target.tests}`);
  }
  for (const text of LEFT_OUT) console.log(`           left out: ${text}`);
  await add("THIRD_PARTY_NOTICES", await readFile(join(dist, "THIRD_PARTY_NOTICES")));
  await place(join(draft, "SHA256SUMS"), sums.join(""));
  await chmod(draft, 0o755);
  await rm(join(dist, "release"), { recursive: true, force: true });
  await rename(draft, join(dist, "release"));
}

async function twice(target) {
  const made = [];
  for (const name of ["first", "second"]) {
    const draft = await temporary(name);
    const { files, inputs } = await pieces();
    await makeExecutable(target, files, join(draft, "worker"));
    made.push({ inputs, bytes: await readFile(join(draft, "worker")) });
  }
  const [first, second] = made;
  if (first.bytes.equals(second.bytes)) return first;
  const at = first.bytes.findIndex((byte, place) => byte !== second.bytes[place]);
  return fail(`The two executables for ${target.name} differ, first at byte ${at}.`);
}

function check(target, bytes) {
  if (bytes.length > MAX_BYTES) {
    const hint = target.strip === null ? "" : `: is ${target.strip} installed?`;
    fail(`${target.file} has ${bytes.length} bytes, more than ${MAX_BYTES}${hint}`);
  }
  // Short paths such as "/" and "/root" are not searched for, because every program contains them.
  const places = [root, homedir(), tmpdir()].filter((path) => path.split("/").length > 2);
  const found = places.find((path) => bytes.includes(path));
  if (found !== undefined) fail(`${target.file} contains a path of this machine: ${found}.`);
}
