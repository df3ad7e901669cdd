// Runs trials (trial.ts) with Graphile workers only, with Graphile workers beside workers of this library, and with
// workers in several processes, some of which are killed. The oracle (oracle.ts) judges each trial.
import { describe, test } from "node:test";
import { crewOf, together } from "../crews.ts";
import { processes } from "../process-crew.ts";
import { BATCHING, stockCrew, stockProducer } from "../stock-crew.ts";
import { attempt, type TrialPlan } from "../trial.ts";
import { workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

/** Runs the plan with three producers of jobs, one of which uses Graphile Worker's utilities. */
async function mixed(plan: TrialPlan): Promise<void> {
  await using stock = await stockProducer(queue.url);
  await attempt(queue, { ...plan, producers: [queue.utils, stock] });
}

describe("The oracle reports no problem", () => {
  test("with two Graphile workers.", () => mixed({ jobs: 300, crew: stockCrew(2) }));

  test("with two of our workers and two Graphile workers.", () =>
    mixed({ jobs: 600, crew: together(crewOf(2), stockCrew(2)) }));

  test("with two of our workers that have fast lanes, and two Graphile workers that write results in batches.", () =>
    mixed({
      jobs: 600,
      crew: together(crewOf(2, { fastLane: { limitMs: 10 } }), stockCrew(2, BATCHING)),
    }));

  test("with two processes, one of which is killed, and a Graphile worker.", () =>
    mixed({ jobs: 600, crew: together(processes(2, 1), stockCrew(1)), killed: true }));

  test("with four processes, all with fast lanes, if two processes are killed.", () =>
    attempt(queue, {
      jobs: 600,
      crew: processes(4, 2, { fastLane: { limitMs: 10 } }),
      killed: true,
      cutFastLanes: true,
    }));

  test("with eight processes, two of which are killed.", () =>
    attempt(queue, { jobs: 600, crew: processes(8, 2), killed: true }));
});
