// Measures the adding of jobs: one job per call by CALLERS concurrent callers, one batch per call, or all in bulk.
import type { Duty, Sample } from "./duty.ts";
import { type Engine, NotBuilt } from "./engines/engine.ts";
import type { Meter } from "./meter.ts";

const CALLERS = 24;

export async function add(engine: Engine, duty: Duty, meter: Meter): Promise<Sample> {
  const adder = await engine.adder(duty.url, duty.key);
  const { jobs, way, batch = 1_000 } = duty;
  const { bulk } = adder;
  if (way === "bulk" && bulk === null) throw new NotBuilt("no bulk path");
  const payloads = Array.from({ length: jobs }, (_, id) => ({ id, name: `job number ${id}` }));
  await adder.one({ id: -1 });
  await meter.begin();
  if (way === "one") {
    let next = 0;
    const caller = async () => {
      for (let one = payloads[next++]; one !== undefined; one = payloads[next++]) {
        await adder.one(one);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  } else if (way === "bulk") {
    await bulk?.(payloads);
  } else {
    for (let at = 0; at < jobs; at += batch) await adder.many(payloads.slice(at, at + batch));
  }
  const elapsedMs = meter.elapsedMs;
  const cost = await meter.end(jobs);
  await adder.end();
  return { ...cost, jps: (jobs / elapsedMs) * 1_000 };
}
