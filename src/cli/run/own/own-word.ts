// The only argument of a process that `worker run` starts for itself (own-process.ts); not a command.
export const OWN_PROCESS = ":own";
