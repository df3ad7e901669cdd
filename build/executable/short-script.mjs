// The pieces that a short command needs as one script, with V8's cache of what it compiles of them: parsing was a third
// of the time of `worker add`. Both are learned by running one that finds no server. V8's numbers are not left to
// chance there, so that the same sources give the same cache.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, temporary } from "../files.mjs";

const SCRIPT = "short.js";
const CACHE = "short.cache";
// The cache notes for each function whether a thread is compiling it: on a busy machine one still was at the end.
const STEADY = ["--random-seed=1", "--no-concurrent-sparkplug", "--no-concurrent-recompilation"];

/** For `isCached` false, where another V8 runs it than that of this process, the cache is empty. */
export async function withShortScript(files, isCached) {
  const needed = await compiled([...files, scriptOf([])]);
  const others = files.filter(({ name }) => !needed.has(name));
  const script = scriptOf(files.filter(({ name }) => needed.has(name)));
  const source = isCached ? (await compiled([...others, script])).get(SCRIPT) : "";
  return [...others, script, { name: CACHE, source }];
}

/** By their names. */
function scriptOf(files) {
  const members = files.map(({ name, source }) => `${JSON.stringify(name)}: ${source}`);
  return { name: SCRIPT, source: `({${members.join(",\n")}})` };
}

/** By a script's name what V8 has compiled of it, once the command has ended. */
async function compiled(files) {
  const place = await temporary("learn");
  const assets = [...files, { name: CACHE, source: "" }];
  await Promise.all(assets.map(({ name, source }) => writeFile(join(place, name), source)));
  const learn = join(import.meta.dirname, "learn.cjs");
  const words = [...STEADY, learn, "add", "nothing"];
  // Nothing of this machine: what it does, and so what is compiled, is the same everywhere.
  const env = { HOME: place, DATABASE_URL: "postgres://nobody@/nothing?host=%2Fdev%2Fnull" };
  const child = spawn(process.execPath, words, { cwd: place, env, stdio: "ignore" });
  const [status] = await once(child, "exit");
  if (status !== 1) fail(`Without a server "worker add" ended with ${status}.`);
  const names = (await readdir(place)).filter((name) => name.endsWith(".js.cache"));
  const caches = names.map(async (name) => [name.slice(0, -6), await readFile(join(place, name))]);
  return new Map(await Promise.all(caches));
}
