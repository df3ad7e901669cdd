// The commands on limits. The command line has them as actions of `worker limit`.
import { limitEndBackOffCommand } from "./limit-end-back-off.ts";
import { limitRemoveCommand } from "./limit-remove.ts";
import { limitSetCommand } from "./limit-set.ts";

export const limitCommands = [limitSetCommand, limitEndBackOffCommand, limitRemoveCommand] as const;
