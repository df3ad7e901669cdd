// Joins the pieces (see entry.cjs) that a short command such as `worker add` needs into one script with a V8 code
// cache. Without the cache, parsing took a third of the time of `worker add`. To find these pieces, the build runs
// `worker add` without a server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, temporary } from "../files.mjs";

const SCRIPT = "short.js";
const CACHE = "short.cache";
// With these options, equal sources give an equal cache. Compilation in another thread would change the cache.
const STEADY = ["--random-seed=1", "--no-concurrent-sparkplug", "--no-concurrent-recompilation"];

/**
 * Returns the files, with the short script and its cache in place of the pieces that a short command needs. If the
 * executable is for another platform, `isCached` must be false, because a cache works only on the platform that made
 * it.
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

/** Runs `worker add` with the files. Returns the names of the scripts that the command has loaded, and their caches. */
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
  if (status !== 1)
    fail(`Without a server, "worker add" ended with the exit status ${status}, not 1.`);
  const names = (await readdir(place)).filter((name) => name.endsWith(".js.cache"));
  const caches = names.map(async (name) => [name.slice(0, -6), await readFile(join(place, name))]);
  return new Map(await Promise.all(caches));
}
