// Clients open ten thousand connections and send nothing. The admin may close some of these connections. It must answer
// each request of another client within a second.
import { once } from "node:events";
import net from "node:net";
import { startAdminProcess } from "../../../bench/admin/admin-process.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { answers } from "./database-away.ts";

const SOCKETS = 10_000;
const AT_ONCE = 250;
const QUESTIONS = 200;
const MAX_MS = 1_000;

export async function idleSockets(field: Field, server: Server): Promise<void> {
  const admin = await startAdminProcess(await server.createDatabase("idle"));
  field.defer(() => admin.kill());
  await answers(admin, 200);
  const rss = admin.rss_mb();
  const sockets: net.Socket[] = [];
  field.defer(() => {
    for (const socket of sockets) socket.destroy();
  });
  const wanted = field.times(SOCKETS, 2_500);
  while (sockets.length < wanted) {
    const more = Array.from({ length: AT_ONCE }, (_, n) => connect(admin.port, sockets.length + n));
    sockets.push(...(await Promise.all(more)));
  }
  for (let n = 0; n < QUESTIONS; n++) {
    const { status, ms } = await admin.get("/api/overview");
    field.figure(`from a request to its answer, beside ${wanted} idle connections`, null, ms, {
      most: MAX_MS,
    });
    if (status !== 200)
      field.problem(null, `beside idle connections, the overview was answered with ${status}`);
  }
  const grown = admin.rss_mb() - rss;
  field.figure("growth of memory by idle connections", null, grown, { most: 128, unit: "MB" });
  await admin.stop();
}

/** Opens connection `n`. The connections come from 200 addresses. The server may close the connection at any time. */
async function connect(port: number, n: number): Promise<net.Socket> {
  const socket = net.connect({ host: "127.0.0.1", port, localAddress: `127.0.2.${1 + (n % 200)}` });
  socket.on("error", () => {}).resume();
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}
