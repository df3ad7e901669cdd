/** The housekeeping of the queue. Each piece says what it does before it is started. */
import { DELETE_FAILED, MaintenanceModel } from "../app/maintenance";
import { Model } from "../app/model";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { counted } from "../lib/number";
import { button, disabledButton, link } from "./controls";
import { checkbox, Field } from "./field";
import { staleCount } from "./health";
import { jsonTree } from "./json-tree";
import { pageHead } from "./page-head";
import { clock } from "./when";

const INPUT = "maintenance.input";

export function maintenancePage(m: Model): Node {
  if (!m.access.canWrite) {
    return box("div", "maintenance-page", [
      pageHead("Maintenance", []),
      leaf("p", "lead", "This server is read-only: nothing can be changed from here."),
    ]);
  }
  return box("div", "maintenance-page", [
    pageHead("Maintenance", []),
    box("div", "cards", [migrate(), unlock(m), cleanup(m.maintenance), sweep(m)]),
    answer(m.maintenance),
  ]);
}

/** What the last action answered, with all that the answer holds. */
function answer(page: MaintenanceModel): Node {
  if (page.message.length === 0) return nothing;
  return el(
    "section",
    [cls("panel answer"), attr("aria-label", "Last result")],
    [
      box("div", "panel-head", [
        leaf("h2", "", page.message),
        leaf("span", "as-of", `at ${clock(page.answeredAt)}`),
      ]),
      page.detailed ? jsonTree(page.answer) : nothing,
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
  const chosen = page.chosenTasks().length;
  return card(
    "Clean up",
    "Removes what no job needs any more.",
    [
      checkbox(draft, DELETE_FAILED, "Delete jobs that failed for good", INPUT),
      checkbox(draft, "gc-task-identifiers", "Remove task identifiers without jobs", INPUT),
      checkbox(draft, "gc-job-queues", "Remove queues without jobs", INPUT),
    ],
    [
      chosen > 0
        ? button("Clean up…", "ask.cleanup", "", draft.on(DELETE_FAILED) ? "danger" : "")
        : disabledButton("Clean up…", ""),
    ],
  );
}

function sweep(m: Model): Node {
  const page = m.maintenance;
  const threshold = new Field(page.draft, "threshold", "Stale after (seconds)");
  threshold.action = INPUT;
  threshold.placeholder = "server default";
  const delay = new Field(page.draft, "delay", "Then wait (seconds)");
  delay.action = INPUT;
  delay.placeholder = "server default";
  const tried = page.tried.length > 0 && page.tried === page.sweepSettings();
  return card(
    "Sweep stale workers",
    "Takes the jobs back from workers whose heartbeat has stopped, and from lock holders that never sent one: these may be stock Graphile Worker processes that are still busy. Try it dry first: that changes nothing and says what a sweep would do.",
    [box("div", "field-row", [threshold.input(), delay.input()])],
    [
      button(page.busy ? "Trying…" : "Dry run", "maintenance.try-sweep", "", ""),
      tried ? button("Sweep…", "ask.sweep", "", "danger") : disabledButton("Sweep…", ""),
      tried ? nothing : leaf("span", "hint", "Opens after a dry run with these settings."),
    ],
  );
}

function unlock(m: Model): Node {
  const stale = staleCount(m.overview.activeWorkers);
  return card(
    "Force unlock",
    "Frees the jobs and queues that chosen workers hold. They are chosen on the Workers page.",
    [],
    [
      link("/workers", "button", [text("Choose workers")]),
      stale > 0
        ? leaf("span", "hint", counted(stale, "worker is", "workers are") + " stale now.")
        : nothing,
    ],
  );
}
