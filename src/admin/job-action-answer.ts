// The contract's `JobActionResult`: what was done, in words, and the jobs as they are now.
import { actedJobJson, type Job } from "../domain/job.ts";
import { type HttpResponse, jsonText } from "../http/response.ts";

export function jobActionAnswer(message: string, jobs: readonly Job[]): HttpResponse {
  const rows = jobs.map(actedJobJson).join(",");
  return jsonText(`{"message":${JSON.stringify(message)},"jobs":[${rows}]}`);
}
