// Options of Graphile Worker that this library does not have. For each of them, the error message of an unknown option
// contains what to write instead.

/** The name of Graphile Worker's option → what to write instead. */
export const graphileNames: Readonly<Record<string, string>> = {
  taskList: "use tasks, a list of tasks made by defineTask(identifier, handler)",
  taskDirectory: "use tasks: await loadTasks(directory)",
  concurrentJobs: "use concurrency",
  pollInterval: "use pollIntervalMs, in milliseconds as before",
  crontab: "use cron: { crontab }, the same text",
  crontabFile: "use cron: { crontabFile }, the path of the same file",
  parsedCronItems: "use cron: { entries }, made by cronEntry() or parseCrontab()",
  pgPool: "use pool",
  maxPoolSize: "use maxConnections",
  noHandleSignals: "pass handleSignals: false to run() or runOnce()",
  noPreparedStatements: "use preparedStatements: false",
  gracefulShutdownAbortTimeout: "use stopTimeoutMs, in milliseconds as before",
  minResetLockedInterval: "use recovery: { resetLocksIntervalMs }",
  maxResetLockedInterval: "use recovery: { resetLocksIntervalMs }",
  events: "use plugins, whose register(hooks) calls hooks.on(name, observer)",
  preset: "there are no presets; pass the options themselves",
};
