/**
 * All pages. The navigation shows those with a label, in this order. The last page is for addresses that no other page
 * has. A new page needs a folder and a row here (ui/README.md).
 */
import { Page } from "../model/model";
import { ActivityPage } from "./activity/page";
import { CronEntryPage, CronPage } from "./cron/page";
import { ErrorPage } from "./error/page";
import { ErrorsPage } from "./errors/page";
import { JobPage } from "./job/page";
import { JobsPage } from "./jobs/page";
import { LimitPage } from "./limit/page";
import { LimitsPage } from "./limits/page";
import { MaintenancePage } from "./maintenance/page";
import { OperationPage } from "./operation/page";
import { OverviewPage } from "./overview/page";
import { QueuePage } from "./queue/page";
import { QueuesPage } from "./queues/page";
import { TasksPage } from "./tasks/page";
import { UnknownPage } from "./unknown/page";
import { WorkerPage } from "./worker/page";
import { WorkersPage } from "./workers/page";

export const pages: Page[] = [
  new OverviewPage(),
  new JobsPage(),
  new JobPage(),
  new ErrorsPage(),
  new ErrorPage(),
  new QueuesPage(),
  new QueuePage(),
  new TasksPage(),
  new WorkersPage(),
  new WorkerPage(),
  new LimitsPage(),
  new LimitPage(),
  new CronPage(),
  new CronEntryPage(),
  new ActivityPage(),
  new OperationPage(),
  new MaintenancePage(),
  new UnknownPage(),
];
