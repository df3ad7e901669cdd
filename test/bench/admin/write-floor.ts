// What it takes at the least to tell a thousand readers something: a write of one shared buffer to each
// socket, by a process that does nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { createInterface } from "node:readline";

const BYTES = 300;
const ROUNDS = 20;

/** Serves sockets; at a line on stdin it writes to all of them, and says how much CPU that took. */
const script = `
  const net = require("node:net");
  const sockets = [];
  const bytes = Buffer.alloc(${BYTES}, 120);
  const server = net.createServer((socket) => sockets.push(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.stdin.once("data", async () => {
    let usage = process.cpuUsage();
    for (let round = -3; round < ${ROUNDS}; round++) {
      if (round === 0) usage = process.cpuUsage();
      for (const socket of sockets) socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { user, system } = process.cpuUsage(usage);
    console.log((user + system) / 1e3 / ${ROUNDS});
  });`;

/** Milliseconds of CPU for one write to each of `readers`. */
export async function writeFloorMs(readers: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, ["-e", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const next = async () => Number((await once(lines, "line"))[0]);
  const port = await next();
  const sockets: net.Socket[] = [];
  for (let n = 0; n < readers; n++) {
    const socket = net.connect(port, "127.0.0.1").on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    sockets.push(socket);
  }
  const answer = next();
  child.stdin?.write("\n");
  const floorMs = await answer;
  for (const socket of sockets) socket.destroy();
  child.kill();
  return floorMs;
}
