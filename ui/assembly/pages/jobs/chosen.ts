/** The bar over the list while jobs are chosen: the rows that were picked, or all that match. */
import { button, keyedButton } from "../../controls/button";
import { commandsFor } from "../../forms/command-buttons";
import { Command } from "../../generated/commands";
import { ListedJob } from "../../generated/records";
import { bulkBar } from "../../kit/list-view";
import { Node, nothing } from "../../lib/node";
import { Model } from "../../model/model";
import { JobsList } from "./jobs-list";
import { JobRow } from "./row";

export function chosenJobs(page: JobsList): ListedJob[] {
  const rows = page.list.chosen.values();
  const jobs: ListedJob[] = [];
  for (let i = 0; i < rows.length; i++) jobs.push((rows[i] as JobRow).job);
  return jobs;
}

export function chosenBar(m: Model, page: JobsList): Node {
  const offered = commandsFor(chosenJobs(page));
  const verbs: Node[] = [];
  // What a person most likely wants stands first: the server's list has the gravest first.
  for (let i = offered.length - 1; i >= 0; i--)
    verbs.push(verb(offered[i], i === offered.length - 1));
  return bulkBar(m, page, nothing, verbs);
}

function verb(command: Command, isFirst: bool): Node {
  const key = keyOf(command.name);
  const words = command.verb + "…";
  const kind = isFirst ? "p" : "";
  return key.length > 0
    ? keyedButton(words, key, "ask." + command.name, "", kind)
    : button(words, "ask." + command.name, "", kind);
}

/** The key of a verb in the list and on the page of one job. */
export function keyOf(verb: string): string {
  if (verb === "retry") return "R";
  return verb === "reschedule" ? "S" : "";
}
