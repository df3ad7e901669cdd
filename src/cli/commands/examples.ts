// Example lines for the help, by command. Other commands have their examples in their own definition or declaration.

export const examples: Readonly<Record<string, readonly string[]>> = {
  demo: ["worker demo", "worker demo --fresh --listen 127.0.0.1:0"],
  admin: [
    "worker admin --listen 127.0.0.1:5678",
    "worker admin --schema graphile_worker --read-only",
  ],
  run: [
    "worker run --tasks ./tasks -j 10",
    "worker run --tasks ./tasks --once",
    "worker run --tasks ./tasks --watch --admin 127.0.0.1:5678",
  ],
  status: ["worker status", "worker status --schema graphile_worker --json"],
  watch: ["worker watch", "worker watch --interval 5s"],
  list: [
    "worker list is:failed --limit 20",
    "worker list 'task:send_email due>1h' --sort due",
    "worker list -- '-queue:imports is:ready'",
  ],
  count: ["worker count 'is:failed task:send_email'"],
  export: [
    "worker export is:failed > failed.jsonl",
    "worker export 'task:send_email' --format csv",
  ],
  show: ["worker show 42", "worker show 42 --payload > payload.json"],
  why: ["worker why 42"],
  queues: ["worker queues"],
  tasks: ["worker tasks --search email", "worker tasks --json"],
  workers: ["worker workers"],
  cron: ["worker cron"],
  operations: ["worker operations", "worker operations 3", "worker operations 3 undo"],
  "add-many": ["worker add-many jobs.jsonl", "cat jobs.jsonl | worker add-many -"],
  doctor: ["worker doctor", "worker doctor --schema graphile_worker --json"],
  healthcheck: ["worker healthcheck", "worker healthcheck https://127.0.0.1:5678 --insecure"],
  licenses: ["worker licenses"],
  completion: ["worker completion bash > ~/.local/share/bash-completion/completions/worker"],
  man: ["worker man | man -l -"],
};
