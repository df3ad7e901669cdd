/** What stands on the overview of an empty queue: how to add the first job and run it. */
import { commandLine } from "../../controls/button";
import { CHECK, icon } from "../../controls/icon";
import { panel } from "../../controls/panel";
import { writeButton } from "../../kit/verb";
import { box, leaf, multiline, Node, text } from "../../lib/node";
import { Model } from "../../model/model";
import { step } from "../../parts/step";

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
        leaf("p", "dim", `Schema ${m.access.session.schema}; nothing is to be migrated.`),
      ]),
      step("", text("2"), "Add your first job", [
        commandLine(`worker add send_email '{"to":"ada@example.com"}'`),
        writeButton(m, "Add a job…", "ask.add", "", "p"),
      ]),
      step("", text("3"), "Start a worker that knows the task", [
        box("pre", "pre", [multiline(PROGRAM)]),
      ]),
      step("wait", text("4"), "Watch it run here", [
        leaf("p", "dim", "This page shows the first job within a second of its arrival."),
      ]),
    ]),
    box("div", "", [
      panel(
        "Try with sample jobs",
        "",
        [],
        [
          box("div", "pb pile", [
            leaf("p", "dim", "A throw-away database with 300 jobs, failing ones among them."),
            commandLine("worker demo"),
          ]),
        ],
      ),
      panel(
        "Coming from Graphile Worker?",
        "",
        [],
        [
          box("div", "pb pile", [
            leaf(
              "p",
              "dim",
              "Point this page at the schema you have: it changes nothing by itself.",
            ),
            commandLine("worker admin --schema graphile_worker"),
          ]),
        ],
      ),
    ]),
  ]);
}
