// Our worker, from the built library: in the safe mode, which is the default, or with the fast lane.
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type * as Library from "../../../../src/index.ts";
import type { Duty } from "../duty.ts";
import { type Adder, type Engine, NotBuilt } from "./engine.ts";

const BESIDE_MS = 100;

/** `build`: the directory of the build to use. Default: `dist`, because this file is bundled into `dist/bench`. */
export async function ours(settings: object, build?: string): Promise<Engine> {
  const own = new URL("../", import.meta.url);
  const directory = build === undefined ? own : pathToFileURL(`${build}/`);
  const library: typeof Library = await import(new URL("index.js", directory).href);
  return {
    async start({ url, concurrency, pollIntervalMs, handler, beside = false }) {
      const slow = library.defineTask("beside", () => sleep(BESIDE_MS));
      const worker = makeWorker(library, {
        connectionString: url,
        tasks: [library.defineTask("bench", handler), ...(beside ? [slow] : [])],
        concurrency,
        pollIntervalMs,
        ...settings,
      });
      await worker.start();
      return { stop: () => worker.stop() };
    },
    adder: (url, key) => adder(library, url, key),
  };
}

function makeWorker(library: typeof Library, options: Library.WorkerOptions): Library.Worker {
  try {
    return new library.Worker(options);
  } catch (error) {
    if (error instanceof library.InputError) throw new NotBuilt(error.message);
    throw error;
  }
}

async function adder(
  { makeWorkerUtils }: typeof Library,
  url: string,
  key: Duty["key"],
): Promise<Adder> {
  const utils = await makeWorkerUtils({ connectionString: url, maxConnections: 24 });
  const job = (payload: object) => {
    const spec = specOf(payload, key);
    return { identifier: "bench", payload, ...(spec === undefined ? {} : { spec }) };
  };
  return {
    one: (payload) => utils.addJob("bench", payload, specOf(payload, key)),
    many: (payloads) => utils.addJobs(payloads.map(job)),
    bulk: (payloads) => utils.copyJobs(payloads.map(job)),
    end: () => utils.end(),
  };
}

function specOf(payload: object, key: Duty["key"]): Library.JobSpec | undefined {
  const jobKey = `bench:${(payload as { id: number }).id}`;
  switch (key) {
    case undefined:
      return undefined;
    case "given":
      return { jobKey, jobKeyMode: "preserve_run_at" };
    case "given, kept":
      return { jobKey, jobKeyMode: "unsafe_dedupe" };
    case "unique":
      return { unique: { by: ["args"], while: "waiting" } };
    case "unique, unfinished":
      return { unique: { by: ["args"], while: "unfinished" } };
    default:
      return key satisfies never;
  }
}
