// worker man: the manual page, made of the commands' own records.
import type { CliCommand } from "../../arguments/command.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand, program } from "../../shell/globals.ts";
import { manualPage } from "./man-page.ts";
import { manualOf } from "./manual.ts";

/** `all`: every command, itself among them. */
export const manCommand = (all: () => readonly CliCommand[]) =>
  defineCommand({
    name: "man",
    describe: "Print the manual page: worker man | man -l -",
    notes: "To keep it: worker man > /usr/local/share/man/man1/worker.1",
    refuses: { databaseUrl: "it needs none", schema: "it needs none" },
    run: async () => {
      printOwn(manualPage(manualOf(program, all())));
      return undefined;
    },
  });
