/** One incident: its title, duration, sentence and trend, the link to its jobs or worker, and its action. */
import { durationText, timeElement, upToDate } from "../controls/age";
import { link } from "../controls/button";
import { sparkline, withCaption } from "../controls/spark";
import { valueText } from "../controls/value";
import { Incident } from "../generated/records";
import { attr, box, cls, el, key, leaf, Node, nothing, text } from "../lib/node";
import { jobPath, queryPath, workerPath } from "../model/links";
import { Model } from "../model/model";
import { errorLabel } from "./group-row";
import { IncidentList, rowIdOf } from "./incident-list";
import { sentence } from "./sentence";
import { verbButton } from "./verb";

/**
 * A row of the list. `first`: whether the incident is the first one that has an action and has not ended; if so, its
 * button is prominent. `more`: what is shown below the row, over its whole width.
 */
export function incidentRow(
  m: Model,
  list: IncidentList,
  index: i32,
  first: bool,
  more: Node,
): Node {
  const incident = list.rows[index];
  const isGone = list.gone.has(incident.id);
  // Each further attempt of a job that crashes workers may crash another worker. So its button is always prominent.
  const isUrgent = first || incident.kind === "poison";
  const attrs = [
    cls(isGone ? "inc gone" : "inc"),
    key(incident.id),
    attr("id", rowIdOf(incident.id)),
    attr("tabindex", index === list.current ? "0" : "-1"),
    attr("data-arg", incident.id),
  ];
  if (incidentPath(incident).length > 0) attrs.push(attr("data-click", "overview.open"));
  const links = incident.links;
  const receipts = m.facts.receipts;
  const before = sentence(upToDate(incident.sentence, m.facts.incidents.asOf, m.times), links);
  return el("article", attrs, [
    leaf("span", incident.level === "bad" ? "edge" : "edge warn", ""),
    box("div", "inc-text", [
      box("h2", "what", title(m, incident)),
      fields(incident),
      // The sentence becomes invisible but keeps its space, and the receipt is shown there, so that no row below moves.
      isGone && receipts.has(incident.id)
        ? box("div", "why past", [
            box("p", "was", before),
            box("p", "", sentence(receipts.get(incident.id), links)),
          ])
        : box("p", "why", before),
    ]),
    trend(incident),
    box(
      "div",
      "acts",
      isGone
        ? [leaf("span", "faint", "Resolved")]
        : [see(incident), verbButton(m, incident.fix, isUrgent ? "p" : "")],
    ),
    more,
  ]);
}

function title(m: Model, incident: Incident): Node[] {
  const nodes: Node[] = [];
  const at = incident.kind === "error_group" ? incident.title.indexOf(": ") : -1;
  if (at < 0) nodes.push(leaf("b", "", incident.title));
  else {
    nodes.push(leaf("b", "", incident.title.substring(0, at + 1)));
    nodes.push(text(" "));
    nodes.push(errorLabel(incident.title.substring(at + 2)));
  }
  const isPast = incident.since <= m.serverNow;
  if (incident.jobsWait && !isNaN(incident.since) && isPast) {
    nodes.push(text(" "));
    nodes.push(
      box("span", "faint", [timeElement(incident.since, durationText(incident.since, m.times))]),
    );
  }
  return nodes;
}

/** For a job that crashes workers: the first fields of its payload, such as `file "s3://…" rows 48210`. */
function fields(incident: Incident): Node {
  const crash = incident.crash;
  if (crash === null || crash.fields.length === 0) return nothing;
  const nodes: Node[] = [];
  for (let i = 0; i < crash.fields.length; i++) {
    const field = crash.fields[i];
    nodes.push(box("span", "", [text(field.name + " "), leaf("b", "", field.value)]));
  }
  return box("p", "fields", nodes);
}

function trend(incident: Incident): Node {
  if (incident.trend.length === 0) return leaf("span", "spark", "");
  const colour = colourOf(incident);
  const caption = captionOf(incident);
  return withCaption(sparkline(incident.trend, colour, caption, 168, 26), caption);
}

function colourOf(incident: Incident): string {
  if (incident.kind === "error_group" || incident.kind === "poison") return "failed";
  if (incident.kind.endsWith("_queue")) return "blocked";
  return incident.kind === "peak" ? "scheduled" : "ready";
}

function captionOf(incident: Incident): string {
  if (incident.kind === "error_group") return "failures, last 3 h";
  if (incident.kind === "poison") return "crashed workers, last 3 h";
  if (incident.kind.endsWith("_queue")) return "waiting jobs, last 3 h";
  return incident.kind === "peak" ? "jobs ahead" : "ready jobs, last 3 h";
}

function see(incident: Incident): Node {
  const path = incidentPath(incident);
  if (path.length === 0) return nothing;
  const isOne =
    incident.kind === "stale_worker" ||
    (incident.kind === "poison" && incident.links.job !== i64.MIN_VALUE);
  return link(path, "btn", [text(isOne ? "Open" : "See " + valueText(incident.affected))]);
}

/** Returns the address of the incident's job, worker or jobs; empty if the incident has none of these. */
export function incidentPath(incident: Incident): string {
  if (incident.kind === "poison" && incident.links.job !== i64.MIN_VALUE)
    return jobPath(incident.links.job);
  const worker = incident.links.worker;
  if (incident.kind === "stale_worker" && worker !== null) return workerPath(worker);
  const query = incident.q;
  // An estimated 0 may be wrong, so only an exact 0 means that there are no jobs.
  const isNone = incident.affected.value === 0 && incident.affected.precision === "exact";
  return query === null || isNone ? "" : queryPath(query);
}
