// Measures the CPU time that a server needs to send one event to many readers: with the admin's event source, or with
// bare writes to the readers' sockets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../../..");

/**
 * Starts tick-server.ts with the argument `way` and connects `readers` clients to it. Returns the CPU time that the
 * server needs to send one event to all clients, in milliseconds.
 */
export async function tickCostMs(way: "events" | "writes", readers: number): Promise<number> {
  const script = join(import.meta.dirname, "tick-server.ts");
  const args = ["--import", join(root, "test/support/register.mjs"), script, way];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => Number((await lines.next()).value);
  const sockets: net.Socket[] = [];
  try {
    const port = await next();
    for (let n = 0; n < readers; n++) {
      const socket = net.connect(port, "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      sockets.push(socket);
      if (way === "writes") socket.resume();
      else {
        // When the first bytes arrive, the event source has accepted the reader.
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        await once(socket, "data");
      }
    }
    child.stdin.write("\n");
    return await next();
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill();
  }
}
