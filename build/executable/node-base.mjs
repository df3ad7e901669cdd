// Makes the Node binary of an executable from the binary in an npm package.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cached, fail, sha256 } from "../files.mjs";
import { packageDirectory } from "./packages.mjs";
import { NODE_VERSION, nativeTarget } from "./targets.mjs";

const run = promisify(execFile);

export async function nodeBase(target) {
  const source = join(await packageDirectory(target.nodePackage), target.node);
  const bytes = await readFile(source);
  if (sha256(bytes, "hex") !== target.sha256) fail(`${source} is not Node ${NODE_VERSION}.`);
  const strip = target.strip === null ? null : await stripTool(target);
  const how = sha256(await readFile(import.meta.filename), "hex");
  const key = sha256([target.sha256, strip?.version, how].join(" "), "hex").slice(0, 16);
  return cached(`node-${target.name}`, key, async (draft) => {
    const ours = withoutSignature(target, withoutCompileCache(bytes));
    await writeFile(draft, ours, { mode: 0o755 });
    if (strip !== null) await run(strip.program, ["--strip-all", draft]);
  });
}

async function stripTool(target) {
  for (const program of target === nativeTarget() ? [target.strip, "strip"] : [target.strip]) {
    const version = await run(program, ["--version"]).then(
      ({ stdout }) => stdout.split("\n")[0],
      () => null,
    );
    if (version !== null) return { program, version };
  }
  console.log(`           no ${target.strip} (binutils): the executable is 18 MB larger`);
  return null;
}

/**
 * Makes Node ignore the variable NODE_COMPILE_CACHE. Otherwise, an executable would run compiled code of any origin
 * from the directory in this variable. No option of Node prevents this.
 */
function withoutCompileCache(program) {
  const name = "NODE_COMPILE_CACHE";
  const bytes = Buffer.from(program);
  const places = [];
  for (let at = bytes.indexOf(`${name}\0`); at !== -1; at = bytes.indexOf(`${name}\0`, at + 1)) {
    // In Node's own scripts, the length of the name precedes the name, as a 32-bit number. These names are not changed.
    if (bytes[at - 1] === 0 && bytes.readUInt32LE(at - 4) !== name.length) places.push(at);
  }
  if (places.length !== 1)
    fail("Node's native code does not contain the name NODE_COMPILE_CACHE exactly once.");
  bytes[places[0]] = 0;
  return bytes;
}

/** Removes the signature of a 64-bit Windows program, because any change of the program makes the signature invalid. */
function withoutSignature(target, bytes) {
  if (!target.name.startsWith("win32")) return bytes;
  const header = bytes.readUInt32LE(0x3c) + 4 + 20; // after the mark "PE" and the COFF header
  const entry = header + 112 + 4 * 8; // the fifth data directory: the signature
  const [start, size] = [bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 4)];
  if (start + size !== bytes.length)
    fail("The signature of Node for Windows is not at the end of the file.");
  bytes.fill(0, entry, entry + 8);
  return bytes.subarray(0, start);
}
