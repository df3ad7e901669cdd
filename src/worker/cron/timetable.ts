// Runs all cron entries of a worker: those of its program, and the schedules, which are entries in the database.
import type { Service } from "../../base/service.ts";
import type { CronConfig } from "../options/cron-options.ts";
import { Cron, type CronOwner } from "./cron.ts";
import type { CronTimeline } from "./cron-timeline.ts";
import { Schedules } from "./schedules.ts";

export interface TimetableConfig {
  /** The entries in code and in the crontab file; null: none. */
  readonly cron: CronConfig | null;
  readonly schedules: boolean;
}

export class Timetable implements Service {
  readonly #cron: Cron | null;
  readonly #schedules: Schedules | null;

  constructor({ cron, schedules }: TimetableConfig, owner: CronOwner) {
    this.#cron = cron === null ? null : new Cron(cron, owner);
    this.#schedules = schedules ? new Schedules(owner) : null;
  }

  /** The cron entries of the program, each with its first tick that is not handled; infinite if there is none. */
  get ticks(): CronTimeline["ticks"] {
    return this.#cron?.ticks ?? [];
  }

  /** The channels to listen on, with the handler of each. */
  get channels(): Readonly<Record<string, () => void>> {
    return this.#schedules?.channels ?? {};
  }

  /**
   * `hasSchedules`: whether the schema has the table of schedules. Rejects if the cron entries of the program cannot be
   * read or registered.
   */
  async start(hasSchedules = false): Promise<void> {
    await this.#cron?.start();
    await this.#schedules?.start(hasSchedules);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#cron?.stop(), this.#schedules?.stop()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
