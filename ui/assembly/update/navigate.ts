/** Turns to a page, and asks for what the page at hand shows: loudly once, quietly ever after. */

import { Gate } from "../app/access";
import { Model } from "../app/model";
import { Topic } from "../app/requests";
import { Page, parseRoute } from "../app/route";
import { focus, title } from "../host";
import { askJob, openJob, refreshJob } from "./job";
import { askJobs, refreshJobs } from "./jobs";
import { askFailing, askOverview, refreshFailing } from "./overview";

export function go(m: Model, address: string): void {
  const before = m.route;
  m.route = parseRoute(address);
  const turned = before.page !== m.route.page || before.jobId !== m.route.jobId;
  m.dialog = null;
  // What was chosen can be seen only on its own page.
  if (turned) m.selectedWorkers.clear();
  if (m.route.page === Page.Jobs) m.jobs.turn(m.route.filter, m.route.cursor);
  if (turned) focus(m.focusNext.length > 0 ? m.focusNext : "page-title");
  m.focusNext = "";
  title(`${pageTitle(m)} · worker`);
  if (m.access.gate === Gate.Open) load(m);
}

/** Asks for all that the page shows. */
export function load(m: Model): void {
  if (m.route.page === Page.Jobs) askJobs(m, Topic.Jobs);
  else if (m.route.page === Page.Job) openJob(m);
  else if (m.route.page === Page.Overview && m.overviewLoaded) askFailing(m);
  if (!m.overviewLoaded || m.route.page !== Page.Jobs) askOverview(m);
}

/** Asks again after a write. */
export function reload(m: Model): void {
  if (m.route.page === Page.Jobs) askJobs(m, Topic.Jobs);
  else if (m.route.page === Page.Job) askJob(m, Topic.Job);
  else if (m.route.page === Page.Overview) askFailing(m);
  askOverview(m);
}

/** Asks again because time has passed; does nothing while someone works in a dialog. */
export function refresh(m: Model): void {
  if (m.dialog !== null) return;
  if (m.route.page === Page.Jobs) refreshJobs(m);
  else if (m.route.page === Page.Job) refreshJob(m);
  else if (m.route.page === Page.Overview) refreshFailing(m);
}

export function pageTitle(m: Model): string {
  switch (m.route.page) {
    case Page.Overview:
      return "Overview";
    case Page.Jobs:
      return m.route.filter.state === "all" ? "Jobs" : `Jobs, ${m.route.filter.state}`;
    case Page.Job:
      return `Job ${m.route.jobId}`;
    case Page.Queues:
      return "Queues";
    case Page.Workers:
      return "Workers";
    case Page.Maintenance:
      return "Maintenance";
    default:
      return "Not found";
  }
}
