// GET /api/jobs/{id}: one job.
import { InputError, WorkerError } from "../../../base/errors.ts";
import { listedJobJson } from "../../../domain/job.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import { jsonText } from "../../../http/response.ts";
import { getJob } from "../../../queue/read/get-job.ts";
import type { Operation } from "../../context/admin.ts";
import { listedJob } from "../../wire/json-schema.ts";

export const getOneJob: Operation = {
  summary: "One job",
  answer: listedJob,
  run: async ({ databases }, request) => {
    const id = request.params["id"];
    if (!isJobId(id)) {
      throw new InputError([{ path: "id", message: "must be a job id, a whole number" }]);
    }
    const job = await getJob(databases.reads, id);
    if (job === null) {
      throw new WorkerError("not_found", `there is no job ${id}; it may have been completed`);
    }
    return jsonText(listedJobJson(job));
  },
};
