/**
 * Every page. A new page is a folder and a row here. The navigation has the rows in this order, and the last page is
 * for addresses that no other page has.
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
