// Where the options of Graphile Worker went: for the message to who types one of them here.

/** Former name → what to write instead. */
export const graphileNames: Readonly<Record<string, string>> = {
  taskList: "say tasks, a list of tasks made by defineTask(identifier, handler)",
  taskDirectory: "say tasks: await loadTasks(directory)",
  concurrentJobs: "say concurrency",
  pollInterval: "say pollIntervalMs, in milliseconds as before",
  crontab: "say cron: { crontab }, the same text",
  crontabFile: "say cron: { crontabFile }, the path of the same file",
  parsedCronItems: "say cron: { entries }, made by cronEntry() or parseCrontab()",
  pgPool: "say pool",
  maxPoolSize: "say maxConnections",
  noHandleSignals: "say handleSignals: false, to run() or runOnce()",
  noPreparedStatements: "say preparedStatements: false",
  gracefulShutdownAbortTimeout: "say stopTimeoutMs, in milliseconds as before",
  minResetLockedInterval: "say recovery: { resetLocksIntervalMs }",
  maxResetLockedInterval: "say recovery: { resetLocksIntervalMs }",
  events: "say plugins, whose register(hooks) calls hooks.on(name, observer)",
  preset: "there are no presets; give the options themselves",
};
