/** The overview of a queue that was never used: how to add the first job and run it. */
import { commandLine } from "../../controls/button";
import { CHECK, icon } from "../../controls/icon";
import { panel, step } from "../../controls/panel";
import { writeButton } from "../../kit/verb";
import { box, leaf, multiline, Node, text } from "../../lib/node";
import { Model } from "../../model/model";

const PROGRAM: string = [
  "import { defineTask, run } from 'pg-job-worker';",
  "",
  "const sendEmail = defineTask('send_email', async ({ to }) => {",
  "  console.log('sending to', to);",
  "});",
  "await run({ connectionString: process.env.DATABASE_URL, tasks: [sendEmail] });",
].join("\n");

export function welcome(m: Model): Node {
  return box("div", "cols b", [
    box("section", "panel pb steps", [
      step("done", icon(CHECK), "The database is ready", [
        leaf("p", "dim", `Schema “${m.access.session.schema}” is up to date.`),
      ]),
      step("", text("2"), "Add your first job", [
        commandLine(`worker add send_email '{"to":"ada@example.com"}'`),
        writeButton(m, "Add a job…", "ask.add", "", "p"),
      ]),
      step("", text("3"), "Start a worker with this task", [
        box("pre", "pre", [multiline(PROGRAM)]),
      ]),
      step("wait", text("4"), "Watch it run here", [
        leaf("p", "dim", "Your first job appears here within a second."),
      ]),
    ]),
    box("div", "", [
      start(
        "Try with sample jobs",
        "A temporary database with 300 sample jobs, some of them failing.",
        "worker demo",
      ),
      start(
        "Coming from Graphile Worker?",
        "Open this page on your existing schema: it changes nothing by itself.",
        "worker admin --schema graphile_worker",
      ),
    ]),
  ]);
}

function start(title: string, sentence: string, command: string): Node {
  const body = [leaf("p", "dim", sentence), commandLine(command)];
  return panel(title, "", [], [box("div", "pb pile", body)]);
}
