// npm start: runs `worker demo`, with the arguments after `npm start --`. It first checks that the port is free, and
// then builds the program unless dist/ is up to date.
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { ensureBuilt, isInstalled } from "./ensure-built.mjs";
import { root } from "./files.mjs";

const DEFAULT_ADDRESS = "127.0.0.1:5678"; // as in src/cli/admin/admin-server.ts
const words = process.argv.slice(2);

if (!isInstalled()) fail("Nothing is installed yet: npm ci, then npm start.");
const address = listenAddress(words);
if (await isTaken(address)) {
  fail(
    `${address} is in use by another program: stop that program, or use another port: npm start -- --listen 127.0.0.1:0 (0: any free port).`,
  );
}
ensureBuilt();
const program = join(root, "dist/worker.cjs");
process.argv = [process.execPath, program, "demo", ...words];
createRequire(import.meta.url)(program);

/** Returns the value of the last `--listen`, which is the one that the demo uses; by default DEFAULT_ADDRESS. */
function listenAddress(given) {
  const found = given.flatMap((word, place) => {
    if (word === "--listen") return given.slice(place + 1, place + 2);
    return word.startsWith("--listen=") ? [word.slice("--listen=".length)] : [];
  });
  return found.at(-1) ?? DEFAULT_ADDRESS;
}

/** Whether another program uses the address. The demo itself reports every other problem with an address. */
async function isTaken(text) {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return false;
  const server = createServer().listen(Number(port), host);
  try {
    await once(server, "listening");
  } catch (error) {
    return error.code === "EADDRINUSE";
  }
  server.close();
  await once(server, "close");
  return false;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
