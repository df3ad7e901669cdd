// The Node that an executable is made of: exactly that of the table of targets, then without symbols and
// without its maker's signature, which would be wrong. Both come before anything is put into it.
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
  if (target.name.startsWith("win32")) {
    return cached(`node-${target.name}`, target.sha256.slice(0, 16), (draft) =>
      writeFile(draft, withoutSignature(bytes)),
    );
  }
  const strip = await stripTool(target);
  if (strip === null) return source;
  const key = sha256(`${target.sha256} ${strip.version}`, "hex").slice(0, 16);
  return cached(`node-${target.name}`, key, async (draft) => {
    await writeFile(draft, bytes, { mode: 0o755 });
    await run(strip.program, ["--strip-all", draft]);
  });
}

/** Null: the executable is 18 MB larger, and runs as well. */
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

/** A 64-bit Windows program keeps its signature at its end, and says where in its header. */
function withoutSignature(program) {
  const bytes = Buffer.from(program);
  const header = bytes.readUInt32LE(0x3c) + 4 + 20; // behind the mark "PE" and the COFF header
  const entry = header + 112 + 4 * 8; // the fifth of the data directories
  const [start, size] = [bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 4)];
  if (start === 0) return bytes;
  if (start + size !== bytes.length)
    fail("The signature of Windows' Node is not where it belongs.");
  bytes.fill(0, entry, entry + 8);
  return bytes.subarray(0, start);
}
