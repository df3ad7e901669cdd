// What the command line of the suite may say.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Experiments to run, by name; empty = all. */
  readonly only: readonly string[];
  /** Who takes part; empty = all. */
  readonly contenders: readonly string[];
  readonly rounds: number;
  /** Jobs of one drain. */
  readonly jobs: number;
  readonly quick: boolean;
  readonly soak: boolean;
  /** Directory of another PostgreSQL than ours: `bin/postgres` is in it. */
  readonly binaries: string | null;
  /** Write RESULTS.md. */
  readonly write: boolean;
}

export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      contenders: { type: "string", default: "" },
      rounds: { type: "string" },
      jobs: { type: "string" },
      quick: { type: "boolean", default: false },
      soak: { type: "boolean", default: false },
      postgres: { type: "string", default: "18" },
    },
  });
  const only = names(values.only);
  const contenders = names(values.contenders);
  return {
    only,
    contenders,
    rounds: whole(values.rounds, values.quick ? 1 : 3),
    jobs: whole(values.jobs, values.quick ? 50_000 : 200_000),
    quick: values.quick,
    soak: values.soak,
    binaries: binariesOf(values.postgres),
    write: only.length + contenders.length === 0 && !values.quick && !values.soak,
  };
}

function names(list: string): string[] {
  return list.split(",").filter((name) => name !== "");
}

/** Older servers are npm packages named pg15, pg16, pg17; 18 is the one that comes with us. */
function binariesOf(majorVersion: string): string | null {
  if (majorVersion === "18") return null;
  const main = createRequire(import.meta.url).resolve(`pg${majorVersion}`);
  return join(dirname(main), "..", "native");
}

function whole(text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`not a whole number: ${text}`);
  return value;
}
