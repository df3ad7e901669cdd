// The action that removes a cause, and its target. Clients turn it into a request or a command.
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
  /** Ends a pause. The name is null if the scope is `all`. */
  | {
      readonly action: "resume";
      readonly label: string;
      readonly scope: "all" | "queue" | "task";
      readonly name: string | null;
    }
  /** The action for all jobs that a query matches. */
  | { readonly action: "retry"; readonly label: string; readonly q: string };
