// The action that removes a cause or ends an incident, with its target. Clients make a request or a command from it.
export type Fix =
  | {
      readonly action: "force-unlock";
      readonly label: string;
      readonly workerIds: readonly string[];
    }
  | {
      readonly action: "run-now" | "retry" | "fail" | "stop-retrying";
      readonly label: string;
      readonly jobIds: readonly string[];
    }
  /** Resumes a queue, a task or all jobs. `name` is null if the scope is `all`. */
  | {
      readonly action: "resume";
      readonly label: string;
      readonly scope: "all" | "queue" | "task";
      readonly name: string | null;
    }
  /** Retries all jobs that the query `q` matches. */
  | { readonly action: "retry"; readonly label: string; readonly q: string };
