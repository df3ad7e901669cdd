// worker man: prints the manual page, generated from the commands' records.
import type { CliCommand } from "../../arguments/command.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand, program } from "../../shell/globals.ts";
import { manualPage } from "./man-page.ts";
import { manualOf } from "./manual.ts";

/** `all`: every command, this one included. */
export const manCommand = (all: () => readonly CliCommand[]) =>
  defineCommand({
    name: "man",
    describe: "Print the manual page: worker man | man -l -",
    notes: "To install it: worker man > /usr/local/share/man/man1/worker.1",
    unsupported: { databaseUrl: "it needs no database", schema: "it needs no database" },
    run: async () => {
      printOwn(manualPage(manualOf(program, all())));
      return undefined;
    },
  });
