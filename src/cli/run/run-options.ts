// The options of `worker run`, with the aliases of Graphile Worker's command line.
import { adminOptions } from "../admin/admin-server.ts";
import type { ArgumentValues, Values } from "../arguments/command.ts";
import { InvalidValue } from "../arguments/refusals.ts";
import {
  choice,
  flag,
  type OptionValue,
  several,
  span,
  text,
  whole,
  withDefault,
} from "../arguments/values.ts";
import type { GlobalOptions } from "../shell/globals.ts";

const { listen, metricsToken, ...others } = adminOptions;
/**
 * The options that are refused without --admin. --metrics-token is not among them: its value can come from an
 * environment variable that the command `admin` uses, too, so the variable may be set for another process.
 */
export const aboutAdmin = others;
/** The longest `fastLane.limitMs` that the library accepts. */
const MAX_FAST_MS = 5_000;

export const runOptions = {
  tasks: text("Directory of tasks: modules and executable files, named by their paths", {
    form: "dir",
  }),
  crontab: text("Crontab file in Graphile Worker's format; UTC unless the file names a time zone", {
    form: "file",
  }),
  concurrency: withDefault(
    whole("Maximum number of concurrent jobs", 1, 10_000, { aliases: ["--jobs", "-j"] }),
    10,
  ),
  once: flag("Run all ready jobs, then exit; ignores the crontab and schedules"),
  watch: flag("If a file changes, wait for running jobs, then restart"),
  plugin: several(
    text("Module whose default export is a plugin; it may export retryPolicies and limits", {
      form: "file",
    }),
  ),
  timeout: span("Fail attempts that take longer [default: no limit]", { field: "timeoutMs" }),
  stopTimeout: span("On stop, time to wait for running jobs; 0: no limit [default: 25s]", {
    field: "stopTimeoutMs",
  }),
  abortGrace: span(
    "Time for jobs to end after their signal has aborted; programs are killed before this time is over [default: 5s]",
    {
      field: "abortGraceMs",
    },
  ),
  pollInterval: withUnit(
    span("How often an idle worker polls [default: 2s]", {
      field: "pollIntervalMs",
    }),
  ),
  forbiddenFlag: several(
    text("Skip jobs with this flag", { form: "flag", field: "forbiddenFlags" }),
  ),
  fast: flag(
    "Lock short jobs by row locks (the fast lane): more throughput, more repeated jobs in an outage",
  ),
  fastLimit: atMost(
    MAX_FAST_MS,
    span(
      "With --fast: attempts that run longer than this, at most 5s, get an ordinary lock [default: 100ms]",
    ),
  ),
  connections: whole("Connections that fetch and finish jobs in parallel [default: 2]", 1, 16),
  localQueueSize: whole("Maximum number of jobs fetched ahead [default: 2000]", 1, 100_000, {
    field: "localQueue.size",
  }),
  maxConnections: withDefault(
    whole("Maximum number of connections for queries of tasks", 1, 1_000, {
      aliases: ["--max-pool-size", "-m"],
    }),
    10,
  ),
  notify: flag("Poll only: for use behind a transaction pooler", {}, true),
  preparedStatements: flag(
    "Do not use prepared statements: for use behind a transaction pooler",
    {},
    true,
  ),
  recovery: flag("Send no heartbeats and recover no jobs", {}, true),
  schedules: flag("Add no jobs of schedules", {}, true),
  migrate: choice("Whether to create or migrate the schema at the start [default: if-missing]", [
    "if-missing",
    "always",
    "never",
  ]),
  admin: {
    ...text("Also serve the admin; the address is as for --listen of the command admin", {
      form: "address",
      field: "listenAddr",
    }),
    bare: true,
  },
  ...aboutAdmin,
  metricsToken: { ...metricsToken, variables: ["WORKER_ADMIN_METRICS_TOKEN"] },
} satisfies Values;

export type RunArguments = GlobalOptions & ArgumentValues<typeof runOptions>;

/** The address on which the admin listens if `--admin` has no value. */
export const ADMIN_ADDRESS = listen.fallback ?? "";

/**
 * Returns an option that rejects a number without a unit. In Graphile Worker's scripts such a number means
 * milliseconds, but here it would mean seconds.
 */
function withUnit<T>(one: OptionValue<T>): OptionValue<T> {
  const read = (texts: readonly string[]) => {
    if (texts.some((typed) => /^\d+$/.test(typed.trim()))) {
      throw new InvalidValue("needs its unit, such as 2s or 2000ms");
    }
    return one.read(texts);
  };
  return { ...one, read };
}

function atMost(
  most: number,
  one: OptionValue<number | undefined>,
): OptionValue<number | undefined> {
  const read = (texts: readonly string[]) => {
    const ms = one.read(texts);
    if (ms !== undefined && !(ms >= 1 && ms <= most)) {
      throw new InvalidValue(`must be from 1ms to ${most / 1_000}s`);
    }
    return ms;
  };
  return { ...one, read };
}

const PARAGRAPHS = [
  "mail/send.ts is the task mail/send. A module (.js .mjs .cjs .ts .mts) has a function (payload, helpers) as its default export, as in Graphile Worker; TypeScript types are stripped, not checked.",
  'Any other executable file receives {"payload": …} on stdin and the job in WORKER_JOB_ID, WORKER_JOB_ATTEMPTS and so on (and GRAPHILE_WORKER_…). Exit code 0 completes the job; otherwise the exit code and the end of stderr become its last error. At a timeout, a deadline, a cancel or an abort, the process group of this program gets SIGTERM, and SIGKILL when --abort-grace is nearly over.',
  "The first SIGTERM or SIGINT waits for running jobs, the second aborts them, the third ends the process. Failed jobs do not change the exit status: their results are in the queue.",
];

export const runNotes = PARAGRAPHS.join("\n\n");
