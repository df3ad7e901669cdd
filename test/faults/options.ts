// The command line of `npm run test:faults`.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MODES, type ModeSlug, slug } from "./field/modes.ts";
import { groups } from "./groups/index.ts";

export interface FaultOptions {
  readonly groups: readonly string[];
  readonly modes: readonly ModeSlug[];
  readonly seed: number;
  readonly list: boolean;
  readonly brief: boolean;
  readonly allowSkips: boolean;
  /** The parent of the groups' directories. */
  readonly directory: string;
}

const HELP = `npm run test:faults -- [options]

  --list          the groups, with what each proves and its limit in minutes
  --group A,B     these groups only
  --mode A,B      these modes only: ${MODES.map(slug).join(", ")}
  --seed N        repeats the kills, pauses and loads of the run with this seed
  --brief         few repetitions, as in npm run test:all
  --allow-skips   exit status 0 although a group had to be skipped

All groups together take two to four hours, on a machine that does nothing else. Some need root and
network namespaces. Missing programs are installed from Debian.

Exit status: 0 all held, 1 something broke, 2 wrong options, 3 something was skipped.`;

/** Returns the options. Invalid arguments end the process with a message and status 2, --help with status 0. */
export function faultOptions(args: readonly string[]): FaultOptions {
  if (args.includes("--help")) {
    console.log(HELP);
    process.exit(0);
  }
  try {
    return parsed(args);
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}

function parsed(args: readonly string[]): FaultOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      group: { type: "string" },
      mode: { type: "string", default: "" },
      seed: { type: "string" },
      list: { type: "boolean", default: false },
      brief: { type: "boolean", default: false },
      "allow-skips": { type: "boolean", default: false },
    },
  });
  const all = groups.map(({ name }) => name);
  const seed =
    values.seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`not a seed: ${values.seed}`);
  return {
    groups: values.group === undefined ? all : chosen("group", values.group, all),
    modes: chosen("mode", values.mode, MODES.map(slug)),
    seed,
    list: values.list,
    brief: values.brief,
    allowSkips: values["allow-skips"],
    directory: join(tmpdir(), `worker-faults-${seed}-${process.pid}`),
  };
}

function chosen<T extends string>(what: string, list: string, all: readonly T[]): T[] {
  const names = list.split(",").filter((name) => name !== "");
  const unknown = names.filter((name) => !all.some((one) => one === name));
  if (unknown.length === 0) return all.filter((one) => names.includes(one));
  throw new Error(`unknown ${what} ${unknown.join(", ")}; expected one of ${all.join(", ")}`);
}
