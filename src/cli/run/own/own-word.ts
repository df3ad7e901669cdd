// The only argument with which `worker run` starts further processes of this program (own-process.ts). It is not a
// command.
export const OWN_PROCESS = ":own";
