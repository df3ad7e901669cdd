/** What the page of one job knows. */
import { ListedJob } from "../../generated/records";

export class JobModel {
  job: ListedJob | null = null;
  loading: bool = false;
  missing: bool = false;
  error: string = "";
  /** The payload as the server sent it, in place of the tree. */
  raw: bool = false;

  constructor(readonly id: i64) {}

  get title(): string {
    return `Job ${this.id}`;
  }
}
