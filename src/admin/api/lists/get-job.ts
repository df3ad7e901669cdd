// GET /api/jobs/{id} returns the whole job, which may have at most 16 MB. With fields=head, it returns a job of any
// size, in which large values are cut or left out (job-head.ts). GET /api/jobs/{id}/payload returns a payload of any
// size.
import { InputError, messageOf, WorkerError } from "../../../base/errors.ts";
import { choice } from "../../../commands/declare/field.ts";
import { listedJobJson } from "../../../domain/job.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import type { HttpRequest } from "../../../http/request.ts";
import { jsonText } from "../../../http/response.ts";
import { streamResponse } from "../../../http/stream.ts";
import { getJob } from "../../../insight/pages/get-job.ts";
import { type JobHead, readJobHead } from "../../../insight/pages/job-head.ts";
import { isJob, jobSize, MAX_WHOLE_BYTES, payloadPieces } from "../../../insight/pages/job-size.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { listedJob } from "../../wire/json-schema.ts";
import { countInQuery, inQuery, readQuery } from "../../wire/wire.ts";

/** The maximum number of characters in `payload_start`. */
const MAX_START_LENGTH = 16_384;

const fields = {
  fields: inQuery(
    choice(
      ["Fields", "full: the whole job; head: a job of any size, its payload only if it is small"],
      ["full", "head"],
    ),
    { default: "full" },
  ),
  start: countInQuery(
    "with fields=head: the maximum number of characters in payload_start",
    MAX_START_LENGTH,
  ),
};

export const getOneJob: Operation = {
  summary:
    "One job. Status 413 if it is larger than 16 MB; get its payload from /api/jobs/{id}/payload",
  query: fields,
  answer: listedJob,
  run: async ({ databases }, request) => {
    const id = idOf(request);
    const { fields: shown, start = 0 } = readQuery(request, fields);
    if (shown === "head") {
      const head = await readJobHead(databases.reads, id, Math.min(start, MAX_START_LENGTH));
      if (head === null) throw jobNotFound(id);
      return jsonText(headJson(head));
    }
    const size = await jobSize(databases.reads, id, databases.quickReads);
    if (size?.isWhole === false) throw jobTooLarge(id);
    await request.reserve(memoryFor(size?.bytes ?? 0));
    const job = size === null ? null : await getJob(databases.reads, id);
    if (job === null) throw jobNotFound(id);
    return jsonText(listedJobJson(job));
  },
};

export const getPayload: Operation = {
  summary: "A job's payload of any size, byte for byte",
  answer: "application/json",
  run: ({ databases, config, downloads }, request) => {
    const id = idOf(request);
    return streamResponse(request, downloads, async () => {
      if (!(await isJob(databases.reads, id))) throw jobNotFound(id);
      return {
        headers: {
          "content-type": "application/json; charset=utf-8",
          "content-disposition": `attachment; filename="job-${id}.json"`,
        },
        // The response may begin before the first piece is read, because decompressing a large payload takes seconds.
        pieces: async function* () {
          const payload = await payloadPieces(databases.downloads, id);
          if (payload === null) throw jobNotFound(id);
          yield* payload.pieces();
        },
        onBroken: (error) => {
          const fields = { request: request.id, job: id, error: messageOf(error) };
          config.logger.warn(fields, "the download of a payload was interrupted");
        },
      };
    });
  },
};

function headJson(head: JobHead): string {
  return listedJobJson(head.job, {
    payload_bytes: String(head.payloadBytes),
    payload_packed: String(head.isPayloadPacked),
    payload_truncated: String(head.isPayloadCut),
    last_error_truncated: String(head.isErrorCut),
    ...(head.payloadStart === null ? {} : { payload_start: JSON.stringify(head.payloadStart) }),
  });
}

function idOf({ params }: HttpRequest): string {
  const id = params["id"];
  if (isJobId(id)) return id;
  throw new InputError([{ path: "id", message: "must be a job id, a whole number" }]);
}

function jobNotFound(id: string): WorkerError {
  return new WorkerError("not_found", `there is no job ${id}; it may have been completed`);
}

function jobTooLarge(id: string): WorkerError {
  const most = `${MAX_WHOLE_BYTES / 1_048_576} MB`;
  return new WorkerError(
    "too_large",
    `job ${id} is larger than ${most}; get its payload from /api/jobs/${id}/payload and the rest from /api/jobs?q=id:${id}&fields=row`,
  );
}
