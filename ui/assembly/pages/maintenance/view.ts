/** The housekeeping of the queue. Each piece says what it does before it is started. */

import { clock } from "../../controls/age";
import { button, link, offButton } from "../../controls/button";
import { pageHead } from "../../controls/panel";
import { fieldOf } from "../../forms/command-form";
import { checkbox } from "../../forms/field";
import { commandNamed } from "../../generated/commands";
import { jsonTree } from "../../kit/json-tree";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { counted } from "../../lib/number";
import { Model, UpkeepAnswer } from "../../model/model";
import { DELETE_FAILED, GC_QUEUES, GC_TASKS, MaintenanceModel } from "./model";

const INPUT = "maintenance.input";

export function maintenanceView(m: Model, page: MaintenanceModel): Node {
  if (!m.access.canWrite) {
    return box("div", "maintenance-page", [
      pageHead("Maintenance", []),
      leaf("p", "lead", "This server is read-only: nothing can be changed from here."),
    ]);
  }
  return box("div", "maintenance-page", [
    pageHead("Maintenance", []),
    box("div", "cards", [migrate(), unlock(m), cleanup(page), sweep(m.upkeep, page)]),
    answer(m.upkeep),
  ]);
}

/** What the last action answered, with all that the answer holds. */
function answer(last: UpkeepAnswer): Node {
  if (last.message.length === 0) return nothing;
  return el(
    "section",
    [cls("panel answer"), attr("aria-label", "Last result")],
    [
      box("div", "panel-head", [
        leaf("h2", "", last.message),
        leaf("span", "as-of", `at ${clock(last.at)}`),
      ]),
      last.detailed ? jsonTree(last.body) : nothing,
    ],
  );
}

function card(title: string, sentence: string, body: Node[], actions: Node[]): Node {
  return box("section", "card", [
    leaf("h2", "", title),
    leaf("p", "card-text", sentence),
    box("div", "card-body", body),
    box("div", "card-actions", actions),
  ]);
}

function migrate(): Node {
  return card(
    "Migrate",
    "Brings the database schema to this server's version. Nothing happens when it is there already.",
    [],
    [button("Migrate…", "ask.migrate", "", "")],
  );
}

function cleanup(page: MaintenanceModel): Node {
  const draft = page.draft;
  return card(
    "Clean up",
    "Removes what no job needs any more.",
    [
      checkbox(draft, DELETE_FAILED, "Delete jobs that failed for good", INPUT),
      checkbox(draft, GC_TASKS, "Remove task identifiers without jobs", INPUT),
      checkbox(draft, GC_QUEUES, "Remove queues without jobs", INPUT),
    ],
    [
      page.cleansSomething
        ? button("Clean up…", "ask.cleanup", "", draft.on(DELETE_FAILED) ? "danger" : "")
        : offButton("Clean up…", "Choose what to remove first.", ""),
    ],
  );
}

function sweep(last: UpkeepAnswer, page: MaintenanceModel): Node {
  const settings: Node[] = [];
  const fields = commandNamed("sweep").fields;
  for (let i = 0; i < fields.length; i++) {
    const field = fieldOf(fields[i], page.draft);
    field.action = INPUT;
    settings.push(field.input());
  }
  const tried = last.tried.length > 0 && last.tried === page.sweepSettings();
  return card(
    "Sweep stale workers",
    "Takes the jobs back from workers whose heartbeat has stopped, and from lock holders that never sent one: these may be stock Graphile Worker processes that are still busy. Try it dry first: that changes nothing and says what a sweep would do.",
    [box("div", "field-row", settings)],
    [
      button(page.busy ? "Trying…" : "Dry run", "maintenance.try-sweep", "", ""),
      tried
        ? button("Sweep…", "ask.sweep", "", "danger")
        : offButton("Sweep…", "Opens after a dry run with these settings.", ""),
      tried ? nothing : leaf("span", "hint", "Opens after a dry run with these settings."),
    ],
  );
}

function unlock(m: Model): Node {
  const silent = m.facts.has("pulse") ? m.facts.pulse.silent : 0;
  return card(
    "Force unlock",
    "Frees the jobs and queues that chosen workers hold. They are chosen on the Workers page.",
    [],
    [
      link("/workers", "btn", [text("Choose workers")]),
      silent > 0
        ? leaf("span", "hint", counted(silent, "worker is", "workers are") + " silent now.")
        : nothing,
    ],
  );
}
