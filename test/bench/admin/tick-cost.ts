// Measures the CPU time of sending one event to many readers, with the admin's event source or with bare writes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../../..");

/** Returns the milliseconds of CPU that the server (tick-server.ts) needs for one event to this many readers. */
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
        // A reader is connected once it has received the first bytes.
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
