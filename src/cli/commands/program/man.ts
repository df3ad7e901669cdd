// worker man: prints the manual page, which is made from the definitions of the commands.
import type { CliCommand } from "../../arguments/command.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand, program } from "../../shell/globals.ts";
import { manualPage } from "./man-page.ts";
import { manualOf } from "./manual.ts";

/** `all`: returns every command, this one included. */
export const manCommand = (all: () => readonly CliCommand[]) =>
  defineCommand({
    name: "man",
    describe: "Print the manual page: worker man | man -l -",
    notes: "To install the page: worker man > /usr/local/share/man/man1/worker.1",
    unsupported: { databaseUrl: "it needs no database", schema: "it needs no database" },
    run: async () => {
      printOwn(manualPage(manualOf(program, all())));
      return undefined;
    },
  });
