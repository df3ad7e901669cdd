// The command consists of pieces: scripts that the executable runs when they are first required (entry.cjs). Here the
// pieces that a short command such as `worker add` needs are joined into one script. The script gets a V8 code cache,
// because parsing took a third of the time of `worker add`. `worker add` is run twice without a server (learn.cjs): the
// first run shows which pieces the command loads, and the second run compiles the functions that the cache contains.
// V8's random seed is fixed in both runs, so that equal sources give an equal cache.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, temporary } from "../files.mjs";

const SCRIPT = "short.js";
const CACHE = "short.cache";
// Concurrent compilation is off, because the cache also records which functions another thread is compiling at that
// moment. These functions can differ between two builds on a busy machine.
const STEADY = ["--random-seed=1", "--no-concurrent-sparkplug", "--no-concurrent-recompilation"];

/**
 * Returns the files, with the short script and its cache in place of the pieces that a short command needs. `isCached`:
 * false if the executable is for another platform. Its V8 cannot use a cache that is made on this platform, so the
 * cache is empty.
 */
export async function withShortScript(files, isCached) {
  const needed = await compiled([...files, scriptOf([])]);
  const others = files.filter(({ name }) => !needed.has(name));
  const script = scriptOf(files.filter(({ name }) => needed.has(name)));
  const source = isCached ? (await compiled([...others, script])).get(SCRIPT) : "";
  return [...others, script, { name: CACHE, source }];
}

/** Returns a script whose value is an object with each piece under its name. */
function scriptOf(files) {
  const members = files.map(({ name, source }) => `${JSON.stringify(name)}: ${source}`);
  return { name: SCRIPT, source: `({${members.join(",\n")}})` };
}

/** Returns a map from the name of each script that the command loads to its code cache at the end of the command. */
async function compiled(files) {
  const place = await temporary("learn");
  const assets = [...files, { name: CACHE, source: "" }];
  await Promise.all(assets.map(({ name, source }) => writeFile(join(place, name), source)));
  const learn = join(import.meta.dirname, "learn.cjs");
  const words = [...STEADY, learn, "add", "nothing"];
  // The environment variables of this machine are not passed on, so that every machine compiles the same functions.
  const env = { HOME: place, DATABASE_URL: "postgres://nobody@/nothing?host=%2Fdev%2Fnull" };
  const child = spawn(process.execPath, words, { cwd: place, env, stdio: "ignore" });
  const [status] = await once(child, "exit");
  if (status !== 1) fail(`Without a server "worker add" ended with ${status}.`);
  const names = (await readdir(place)).filter((name) => name.endsWith(".js.cache"));
  const caches = names.map(async (name) => [name.slice(0, -6), await readFile(join(place, name))]);
  return new Map(await Promise.all(caches));
}
