// A relay between a page and the admin that counts the bytes in both directions. Each page has its own relay, so that
// each page is measured separately.
import { once } from "node:events";
import net from "node:net";

export interface Bytes {
  /** The number of bytes in both directions. */
  readonly all: number;
  /** The part of `all` that is sent on the event stream's connection, from the request for the stream on. */
  readonly stream: number;
  /** The number of requests. */
  readonly requests: number;
}

export interface Wire {
  readonly url: string;
  bytes(): Bytes;
  cut(): void;
}

const STREAM = "GET /api/events";
const REQUEST = /^(?:GET|POST|HEAD) /;

export async function startWire(port: number): Promise<Wire> {
  const counted = { all: 0, stream: 0, requests: 0 };
  const sockets = new Set<net.Socket>();
  const listener = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    let isStream = false;
    const count = (chunk: Buffer) => {
      counted.all += chunk.length;
      if (isStream) counted.stream += chunk.length;
    };
    near.on("data", (chunk: Buffer) => {
      const start = chunk.toString("latin1", 0, STREAM.length);
      // A chunk contains the beginning of at most one request, because on one connection the browser sends a request
      // only after the response to the previous one.
      if (REQUEST.test(start)) counted.requests++;
      isStream ||= start === STREAM;
      count(chunk);
    });
    far.on("data", count);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {}).on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port: own } = listener.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/`,
    bytes: () => ({ ...counted }),
    cut: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
