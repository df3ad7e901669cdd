// A separate process that only sends events to its readers, so that its CPU time is the cost of the events. With the
// argument `events` it uses the admin's event source; with `writes` it writes one shared buffer to each socket, which
// is the least that an event can cost. tick-cost.ts starts it.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createEventSource } from "../../../src/http/events/event-source.ts";
import type { HttpRequest } from "../../../src/http/request.ts";

const ROUNDS = 20;
const WARM_UP = 5;
/** As large as the data of the admin's event "pulse". With its id and its name the event has about 300 bytes. */
const DATA = JSON.stringify({ at: "x".repeat(230) });

/** Returns a server with the admin's event source, and the function that sends an event to all connected readers. */
function eventServer(): [net.Server, (round: number) => void] {
  const many = { maxViewers: 10_000, maxViewersPerClient: 10_000 };
  const source = createEventSource({ ...many, stalledMs: 30_000, onViewers: () => {} });
  const closing = new AbortController().signal;
  const server = http.createServer((req, res) => {
    const request = { closing, headers: req.headers, client: "127.0.0.1" };
    const { headers, body } = source.view(request as unknown as HttpRequest, ["pulse"]);
    // Sets the same headers as exchange.ts for a response with `endsWithConnection`.
    res.setHeader("connection", "close").removeHeader("transfer-encoding");
    res.writeHead(200, headers);
    if (typeof body === "function") body(res);
  });
  return [server, (round) => source.publish("pulse", `${DATA.slice(0, -1)},"n":${round}}`)];
}

function bareServer(): [net.Server, (round: number) => void] {
  const sockets: net.Socket[] = [];
  const bytes = Buffer.alloc(300, "x");
  const server = net.createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    socket.resume();
  });
  const send = () => {
    for (const socket of sockets) socket.write(bytes);
  };
  return [server, send];
}

const [server, send] = process.argv[2] === "events" ? eventServer() : bareServer();
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log((server.address() as AddressInfo).port);
await once(process.stdin, "data");
let before = process.cpuUsage();
for (let round = -WARM_UP; round < ROUNDS; round++) {
  if (round === 0) before = process.cpuUsage();
  send(round);
  await pause(100);
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1_000 / ROUNDS);
