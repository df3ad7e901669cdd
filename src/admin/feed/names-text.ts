// Returns the numbers of jobs of the largest tasks and queues, by state, as Prometheus text. prom-client is not used
// here, because it takes ten times as long for hundreds of series that change with each scrape.

import type { State } from "../../insight/snapshot/job-counts.ts";
import type { LargestNames, NamedTally } from "../../insight/snapshot/largest-names.ts";
import type { QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import type { NameTally } from "../../insight/stats/name-tallies.ts";
import { inState } from "../../insight/stats/tally.ts";

const states = Object.keys(inState) as State[];

export function namesText({ tasks, queues }: LargestNames, { names }: QueueSnapshot): string {
  const count = (tally: NameTally, state: State) => names.value(tally, inState[state]).value;
  const series = (kind: "task" | "queue", named: readonly NamedTally[]) => {
    const metric = `worker_${kind}_jobs`;
    const lines = named.flatMap(({ name, tally }) =>
      states.map(
        (state) =>
          `${metric}{${kind}="${escapeText(name)}",state="${state}"} ${count(tally, state)}`,
      ),
    );
    const help = `# HELP ${metric} Jobs of the largest ${kind}s, by state`;
    return [help, `# TYPE ${metric} gauge`, ...lines, ""].join("\n");
  };
  return `${series("task", tasks)}\n${series("queue", queues)}`;
}

/** Escapes a label's value for the text format. */
function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
