/** All that the application knows. Only the files beside this one change it; views read it. */
import { ListedJob, Overview } from "../generated/records";
import { Access } from "./access";
import { Dialog } from "./dialog";
import { JobListModel } from "./job-list";
import { Live } from "./live";
import { MaintenanceModel } from "./maintenance";
import { Notices } from "./notices";
import { Requests } from "./requests";
import { Route } from "./route";

export class JobModel {
  job: ListedJob | null = null;
  loading: bool = false;
  missing: bool = false;
  error: string = "";
  /** The payload as the server sent it, in place of the tree. */
  raw: bool = false;
}

export class Model {
  /** By this machine's clock. */
  now: f64 = 0;
  route: Route = new Route();
  access: Access = new Access();
  requests: Requests = new Requests();
  live: Live = new Live();
  notices: Notices = new Notices();
  theme: string = "system";

  overview: Overview = new Overview();
  overviewLoaded: bool = false;
  /** The jobs that failed last. */
  failing: ListedJob[] = [];
  failingLoaded: bool = false;
  failingAskedAt: f64 = 0;

  jobs: JobListModel = new JobListModel();
  job: JobModel = new JobModel();
  selectedWorkers: Set<string> = new Set<string>();
  maintenance: MaintenanceModel = new MaintenanceModel();
  dialog: Dialog | null = null;
  /** What takes the focus on the next page, in place of its heading. */
  focusNext: string = "";

  /** By the server's clock, which wrote the times of jobs and workers. */
  get serverNow(): f64 {
    return this.now + this.live.ahead;
  }
}
