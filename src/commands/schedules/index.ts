// The commands on schedules. The command line has them as actions of `worker schedule`.
import { addScheduleCommand } from "./add-schedule.ts";
import { changeScheduleCommand } from "./change-schedule.ts";
import { pauseScheduleCommand, resumeScheduleCommand } from "./pause-schedule.ts";
import { removeScheduleCommand } from "./remove-schedule.ts";
import { runScheduleCommand } from "./run-schedule.ts";

export const scheduleCommands = [
  addScheduleCommand,
  changeScheduleCommand,
  pauseScheduleCommand,
  resumeScheduleCommand,
  runScheduleCommand,
  removeScheduleCommand,
] as const;
