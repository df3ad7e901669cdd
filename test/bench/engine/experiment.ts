// An experiment of the benchmark: its contenders run in turn, and their figures fill some rows of the table of results.
import type { BenchServer } from "./bench-server.ts";
import { contend } from "./contender.ts";
import type { Answer, Duty } from "./duty.ts";
import type { BenchOptions } from "./options.ts";

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly metric: string;
  readonly ours: string;
  /** Our figure is compared with the best figure of these contenders. */
  readonly rivals: readonly string[];
  readonly better: "more" | "less";
  /**
   * `ratio`: a bound for the quotient of our figure and the best rival's figure. `value`: a bound for our figure. null:
   * the figure is not judged.
   */
  readonly target: { readonly ratio: number } | { readonly value: number } | null;
  /**
   * Whether the ratio is the median of the rounds' ratios, not the ratio of the medians. Requires exactly one rival.
   */
  readonly isPaired?: boolean;
}

export interface Experiment {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly contenders: readonly string[];
  /** A name for `--only` that several experiments share. */
  readonly group?: string;
  /** Whether the experiment runs only if `--only` names it. */
  readonly isNamed?: boolean;
  /** Called once, before all rounds. */
  prepare?(bench: Bench): Promise<void>;
  run(bench: Bench, contender: string): Promise<Answer>;
}

export class Bench {
  readonly server: BenchServer;
  readonly options: BenchOptions;

  constructor(server: BenchServer, options: BenchOptions) {
    this.server = server;
    this.options = options;
  }

  duty(kind: Duty["kind"], engine: string, rest: Partial<Duty>): Duty {
    const { queueUrl, bossUrl, postmaster } = this.server;
    const url = engine.startsWith("boss") ? bossUrl : queueUrl;
    return { kind, engine, url, postmaster, jobs: 0, limitMs: 120_000, ...rest };
  }

  async contend(kind: Duty["kind"], engine: string, rest: Partial<Duty>): Promise<Answer> {
    const [answer] = await contend(this.duty(kind, engine, rest));
    return answer ?? {};
  }
}

/** For each contender: the values of all rounds by metric, or why there are none. */
export type Figures = Map<string, Map<string, number[]> | "not built" | "failed">;

/** Runs the contenders in the order A B A B …, so that a long disturbance of the machine affects all contenders. */
export async function runExperiment(bench: Bench, experiment: Experiment): Promise<Figures> {
  const { contenders } = bench.options;
  const isWanted = (name: string) => contenders.length === 0 || contenders.includes(name);
  const names = experiment.contenders.filter(isWanted);
  const figures: Figures = new Map(names.map((name) => [name, new Map()]));
  await experiment.prepare?.(bench);
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const contender of names) {
      const metrics = figures.get(contender);
      if (metrics === undefined || typeof metrics === "string") continue;
      const answer = await experiment.run(bench, contender).catch(failed);
      const { sample, notBuilt } = answer;
      if (sample === undefined) {
        console.error(
          `${experiment.name} ${contender}: ${notBuilt ?? answer.failed ?? "no sample"}`,
        );
        figures.set(contender, notBuilt === undefined ? "failed" : "not built");
        continue;
      }
      for (const [metric, value] of Object.entries(sample)) {
        metrics.set(metric, [...(metrics.get(metric) ?? []), value]);
      }
      console.error(`${experiment.name} ${round + 1} ${contender}: ${shown(sample)}`);
    }
  }
  return figures;
}

/** Returns an answer, so that the other contenders continue. */
function failed(error: unknown): Answer {
  return { failed: String(error) };
}

function shown(sample: object): string {
  const short = ([name, value]: [string, number]) => `${name} ${Number(value.toPrecision(4))}`;
  return Object.entries(sample).map(short).join(", ");
}
