// Parses the command line of the suite of benchmarks.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { olderBinaries } from "../../support/postgres-versions.ts";

/** The version of the embedded PostgreSQL. */
const OURS = "18";
/** The version of PostgreSQL for which the targets were set. It is the default. */
const TARGETS = "15";

export interface BenchOptions {
  /** The names of experiments or groups to run; empty: all except those that run only if they are named. */
  readonly only: readonly string[];
  /** The contenders to run; empty: all. */
  readonly contenders: readonly string[];
  readonly rounds: number;
  /** The number of jobs of one drain. */
  readonly jobs: number;
  readonly quick: boolean;
  readonly soak: boolean;
  /** The directory `dist` of another build, for the experiment `pairs`. */
  readonly against: string | null;
  /** The directory of a PostgreSQL other than the embedded one. It contains `bin/postgres`. null: the embedded one. */
  readonly binaries: string | null;
  /** Whether the cluster has data checksums. With them, hint bits add about 50 B of WAL per job, for any contender. */
  readonly checksums: boolean;
}

export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      contenders: { type: "string", default: "" },
      against: { type: "string" },
      rounds: { type: "string" },
      jobs: { type: "string" },
      quick: { type: "boolean", default: false },
      soak: { type: "boolean", default: false },
      checksums: { type: "boolean", default: false },
      postgres: { type: "string", default: TARGETS },
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
    against: values.against === undefined ? null : resolve(values.against),
    binaries: binariesOf(values.postgres),
    checksums: values.checksums,
  };
}

function names(list: string): string[] {
  return list.split(",").filter((name) => name !== "");
}

function binariesOf(majorVersion: string): string | null {
  if (majorVersion === OURS) return null;
  const binaries = olderBinaries(majorVersion);
  if (binaries === null) throw new Error(`npm has not installed pg${majorVersion}`);
  return binaries;
}

function whole(text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`not a whole number of at least 1: ${text}`);
  return value;
}
