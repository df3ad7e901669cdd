// Opens many event streams of an admin. They come from several addresses, so that no address has more streams than the
// admin allows.
import http from "node:http";

export interface Streams {
  /** The number of open streams. */
  readonly size: number;
  /** The number of open streams that have received an event of this name since the last clear(). */
  streamsWith(event: string): number;
  clear(): void;
  close(): void;
}

/** The maximum number of streams from one address. The admin allows 200 by default. */
const OF_ONE_ADDRESS = 150;
/** The maximum number of streams that are opened at once: the kernel's queue of new connections is limited. */
const AT_ONCE = 100;

export async function openStreams(port: number, count: number): Promise<Streams> {
  const open = new Set<http.IncomingMessage>();
  const received = new Map<string, Set<http.IncomingMessage>>();
  const one = async (n: number) => {
    const localAddress = `127.0.1.${1 + Math.floor(n / OF_ONE_ADDRESS)}`;
    const response = await get({
      host: "127.0.0.1",
      port,
      path: "/api/events?events=pulse",
      localAddress,
    });
    if (response.statusCode !== 200)
      throw new Error(`a request for a stream was answered with ${response.statusCode}`);
    open.add(response);
    response.on("error", () => {}).on("close", () => open.delete(response));
    response.on("data", (chunk: Buffer) => {
      for (const [, event = ""] of chunk.toString().matchAll(/^event: (\S+)/gm)) {
        const those = received.get(event) ?? new Set();
        received.set(event, those.add(response));
      }
    });
  };
  for (let from = 0; from < count; from += AT_ONCE) {
    const many = Math.min(AT_ONCE, count - from);
    await Promise.all(Array.from({ length: many }, (_, n) => one(from + n)));
  }
  return {
    get size() {
      return open.size;
    },
    streamsWith: (event) =>
      [...(received.get(event) ?? [])].filter((each) => open.has(each)).length,
    clear: () => received.clear(),
    close() {
      for (const response of open) response.destroy();
    },
  };
}

function get(options: http.RequestOptions): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http.get({ ...options, agent: false }, resolve).once("error", reject);
  return promise;
}
