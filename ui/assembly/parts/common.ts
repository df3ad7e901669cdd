/** Shows how the jobs of an error group differ from other jobs of the same tasks, as a sentence and as a table. */
import { note } from "../controls/empty";
import { INFO, icon } from "../controls/icon";
import { panel } from "../controls/panel";
import { shareBar } from "../controls/spark";
import { cell, row, table } from "../controls/table";
import { Common, Finding } from "../generated/records";
import { ServerData } from "../kit/server-data";
import { box, leaf, Node, text } from "../lib/node";
import { numberText } from "../lib/number";
import { Model } from "../model/model";

const COLUMNS: string[] = ["=Field", "w5=These", "w5=Others", "w5 w-mid=Compared"];

export function commonPanel(m: Model, data: ServerData, common: Common): Node {
  const compared = common.compared;
  const remark = data.ready
    ? `${numberText(compared.here)} failing vs ${numberText(compared.there)} other jobs`
    : "";
  return panel("Common factors", remark, [], commonBody(m, data, common));
}

/** The content of the panel. In the view of a job it is part of another panel (job/comparison.ts). */
export function commonBody(m: Model, data: ServerData, common: Common): Node[] {
  if (!data.ready) return [box("div", "pb", [data.placeholder(m, 3)])];
  const findings = common.findings;
  if (findings.length === 0) return [leaf("p", "pb dim", whyNothing(common))];
  const rows: Node[] = [];
  for (let i = 0; i < findings.length; i++) rows.push(findingRow(i, findings[i]));
  const first = findings[0];
  return [
    box("div", "pb", [
      note("info", [
        icon(INFO),
        box("span", "", [leaf("b", "", findingText(first)), text(inWords(first))]),
      ]),
    ]),
    table("common", "In common", COLUMNS, rows),
  ];
}

function whyNothing(common: Common): string {
  if (common.compared.here === 0) return "No job could be read for a comparison.";
  if (common.compared.there === 0) {
    return "These tasks have no other jobs to compare.";
  }
  return "None: payloads, queues and priorities are as in other jobs.";
}

/** Returns `currency = "EUR"` or `coupon is missing`. */
export function findingText(finding: Finding): string {
  const path = finding.path.startsWith("payload.") ? finding.path.substring(8) : finding.path;
  return finding.value === "missing" ? `${path} is missing` : `${path} = ${finding.value}`;
}

/**
 * Returns how frequent a finding is, in a text such as ` in every one of them; in 31 % of the others.` Here `them` are
 * the jobs of the group.
 */
export function inWords(finding: Finding): string {
  const here = finding.here >= 0.9995 ? "every one" : percent(finding.here);
  const there = finding.there < 0.0005 ? "in none" : `in ${percent(finding.there)}`;
  return ` in ${here} of them; ${there} of the others.`;
}

function findingRow(index: i32, finding: Finding): Node {
  return row(index.toString(), "", [
    cell("name", [leaf("code", "", findingText(finding))]),
    cell("", [share(finding.here, "failed")]),
    cell("", [share(finding.there, "scheduled")]),
    cell("dim w-mid", [
      text(finding.there < 0.0005 ? "only in failing jobs" : times(finding.lift)),
    ]),
  ]);
}

function share(part: f64, colour: string): Node {
  const words = percent(part);
  const thousandth = <i64>Math.round(part * 1000);
  const bar = shareBar(words, [colour, "none"], [thousandth, 1000 - thousandth]);
  return box("div", "share", [leaf("b", "num", words), bar]);
}

/** Returns a share as a text such as `31 %`. Only 1 is shown as `100 %`, and only 0 as `0 %`. */
export function percent(part: f64): string {
  const whole = <i32>Math.round(part * 100);
  if (whole === 100 && part < 1) return "> 99 %";
  return whole === 0 && part > 0 ? "< 1 %" : `${whole} %`;
}

function times(lift: f64): string {
  const tenths = <i64>Math.round(lift * 10);
  return lift < 10
    ? `${tenths / 10}.${tenths % 10} × as often`
    : `${numberText(tenths / 10)} × as often`;
}
