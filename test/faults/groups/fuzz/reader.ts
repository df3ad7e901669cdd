// A client of an admin that sends only valid requests, one at a time with pauses, from an IP address of its own. If the
// answer to a request is 503, the request is repeated once, as the page does.
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const PATHS = ["/api/overview", "/api/jobs", "/api/queues", "/api/session"];
const ADDRESS = "127.0.0.251";

export interface Reader {
  /** The number of requests that were answered with 200, either at once or after the repetition. */
  readonly answered: number;
  readonly slowestMs: number;
  /** The number of requests that were repeated. */
  readonly retried: number;
  readonly failed: readonly string[];
  stop(): Promise<void>;
}

export function startReader(port: number, pauseMs: number): Reader {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const failed: string[] = [];
  let [answered, slowestMs, retried] = [0, 0, 0];
  let isOver = false;
  /** Sends a request. Returns the status of the answer, or the error, as text. */
  const ask = async (path: string): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const began = performance.now();
    const options = { host: "127.0.0.1", port, path, agent, localAddress: ADDRESS };
    http.get(options, resolve).once("error", reject);
    try {
      const response = await promise;
      for await (const _ of response);
      slowestMs = Math.max(slowestMs, performance.now() - began);
      return `${response.statusCode}`;
    } catch (error) {
      return String(error);
    }
  };
  const all = async () => {
    for (let n = 0; !isOver; n++) {
      const path = PATHS[n % PATHS.length] ?? "";
      let status = await ask(path);
      if (status === "503") {
        retried += 1;
        await sleep(pauseMs);
        status = await ask(path);
      }
      if (status === "200") answered += 1;
      else failed.push(`${path} is answered with ${status}`);
      await sleep(pauseMs);
    }
    agent.destroy();
  };
  const done = all();
  return {
    get answered() {
      return answered;
    },
    get slowestMs() {
      return slowestMs;
    },
    get retried() {
      return retried;
    },
    failed,
    async stop() {
      isOver = true;
      await done;
    },
  };
}
