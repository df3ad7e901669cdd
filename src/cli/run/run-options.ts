// What `worker run` may be told, in our words and in those of Graphile Worker's command line.
import { adminOptions } from "../admin/admin-server.ts";
import type { Given, Values } from "../arguments/command.ts";
import { Unfit } from "../arguments/refusals.ts";
import {
  choice,
  defaulting,
  flag,
  type OptionValue,
  several,
  span,
  text,
  whole,
} from "../arguments/values.ts";
import type { GlobalOptions } from "../shell/globals.ts";

const { listen, metricsToken, ...others } = adminOptions;
/** What means nothing without the admin. A token may stand in the environment for another process. */
export const aboutAdmin = others;
/** The library's bound. */
const LONGEST_FAST_MS = 5_000;

export const runOptions = {
  tasks: text("Directory of tasks: modules and executable files, named after their paths", {
    form: "dir",
  }),
  crontab: text("Timetable in Graphile Worker's crontab format, UTC", { form: "file" }),
  concurrency: defaulting(
    whole("Jobs that run at once", 1, 10_000, { aliases: ["--jobs", "-j"] }),
    10,
  ),
  once: flag("Run what is ready, then exit; keeps no timetable"),
  watch: flag("Begin anew when a file changes, after running jobs have ended"),
  plugin: several(text("Module whose default export is a plugin of the library", { form: "file" })),
  timeout: span("Fail attempts that take longer [default: none]", { field: "timeoutMs" }),
  stopTimeout: span("How long a stop waits for running jobs; 0: for ever [default: 25s]", {
    field: "stopTimeoutMs",
  }),
  abortGrace: span(
    "How long jobs have to end after that; a program is killed before [default: 5s]",
    {
      field: "abortGraceMs",
    },
  ),
  pollInterval: withUnit(
    span("How long an idle worker waits before it fetches again [default: 2s]", {
      field: "pollIntervalMs",
    }),
  ),
  forbiddenFlag: several(
    text("Leave jobs with this flag to other workers", { form: "flag", field: "forbiddenFlags" }),
  ),
  fast: flag("Take short jobs by row locks (the fast lane): more throughput, weaker in an outage"),
  fastLimit: atMost(
    LONGEST_FAST_MS,
    span("With --fast: what runs longer gets an ordinary lock, up to 5s [default: 100ms]"),
  ),
  connections: whole("Connections that fetch and finish jobs side by side [default: 2]", 1, 16),
  localQueueSize: whole("Most jobs fetched ahead [default: 2000]", 1, 100_000, {
    field: "localQueue.size",
  }),
  maxConnections: defaulting(
    whole("Most connections for what tasks query themselves", 1, 1_000, {
      aliases: ["--max-pool-size", "-m"],
    }),
    10,
  ),
  notify: flag("Poll only: behind a transaction pooler", {}, true),
  preparedStatements: flag("Prepare nothing: behind a transaction pooler", {}, true),
  recovery: flag("No heartbeats, and nobody's jobs are recovered", {}, true),
  migrate: choice("Whether the start may make or change the schema [default: if-missing]", [
    "if-missing",
    "always",
    "never",
  ]),
  admin: {
    ...text("Serve the admin, too; the address as for --listen of worker admin", {
      form: "address",
      field: "listenAddr",
    }),
    bare: true,
  },
  ...aboutAdmin,
  metricsToken: { ...metricsToken, variables: ["WORKER_ADMIN_METRICS_TOKEN"] },
} satisfies Values;

export type RunArguments = GlobalOptions & Given<typeof runOptions>;

/** Where `--admin` stands without an address. */
export const ADMIN_ADDRESS = listen.fallback ?? "";

/** A number alone means milliseconds to Graphile Worker's scripts, and seconds here. */
function withUnit<T>(one: OptionValue<T>): OptionValue<T> {
  const read = (texts: readonly string[]) => {
    if (texts.some((typed) => /^\d+$/.test(typed.trim()))) {
      throw new Unfit("needs its unit, such as 2s or 2000ms");
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
      throw new Unfit(`must be from 1ms to ${most / 1_000}s`);
    }
    return ms;
  };
  return { ...one, read };
}

const PARAGRAPHS = [
  "mail/send.ts is the task mail/send. A module (.js .mjs .cjs .ts .mts) has a function (payload, helpers) as its default export, as for Graphile Worker; of TypeScript only the types are taken away.",
  'Any other executable file gets {"payload": …} on its stdin and the job in WORKER_JOB_ID, WORKER_JOB_ATTEMPTS and so on (and GRAPHILE_WORKER_…). Its exit code decides, and the end of its stderr becomes the job\'s last error. At a timeout or abort its whole process group gets SIGTERM, and SIGKILL when --abort-grace is nearly over.',
  "The first SIGTERM or SIGINT lets running jobs end, a second aborts them, a third ends the process. Exit status 0 also where jobs have failed: what becomes of a job is in the queue.",
];

export const runNotes = PARAGRAPHS.join("\n\n");
