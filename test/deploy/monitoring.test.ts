// The alerts and the dashboard use only metrics and label values that exist. Prometheus accepts the rules. For a sample
// of metrics, the expressions of two alerts have a result, and the expressions of two others have none.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { parse } from "yaml";
import { createMetrics } from "../../src/admin/feed/metrics.ts";
import { defineTask, run } from "../../src/index.ts";
import { migratedDatabase, startAdmin } from "../admin/admin-harness.ts";
import { check, newFolder, readDeployed, root, unlessInstalled } from "./files.ts";

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: unknown }[] };
}
const { groups } = parse(readDeployed("monitoring/alerts.yaml")) as Rules;
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readDeployed("monitoring/grafana-dashboard.json")) as Dashboard;
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.map(({ query }) => JSON.stringify(query)),
];

/** The metrics of an admin, of a worker, and of an admin that has a certificate and no snapshot. */
let exposed = "";
before(async () => {
  const { url } = await migratedDatabase();
  const worker = await run({
    connectionString: url,
    tasks: [defineTask("one", () => {})],
  });
  await worker.utils.addJob("one", {});
  await worker.utils.addJob("of_nobody", {}, { queueName: "named" });
  const { client } = await startAdmin({ url });
  const { text } = await client.get("/metrics");
  const certified = await createMetrics({ options: {}, expiresAt: new Date(), reload() {} });
  const feed = { viewers: 0, parts: new Map() };
  const pool = { totalCount: 0, idleCount: 0, waitingCount: 0 };
  const more = await certified.expose({
    snapshot: "away",
    names: null,
    pauses: null,
    limits: null,
    feed,
    pool,
  });
  exposed = [text, await worker.metrics(), more].join("\n");
  await worker.stop();
});

test("Every metric in alerts and dashboard exists, and every label value that they select with `=`.", () => {
  const names = new Set([...exposed.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name));
  const isThere = (name: string) =>
    names.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ""));
  const uses = expressions.join("\n").matchAll(/\b(worker_\w+)(?:\{([^}]*)\})?/g);
  let count = 0;
  for (const [, name = "", selectors = ""] of uses) {
    count++;
    assert.ok(isThere(name), name);
    for (const [selector, label] of selectors.matchAll(/(\w+)="[^"]*"/g)) {
      if (label === "job" || label === "instance") continue;
      const series = exposed.split("\n").filter((line) => line.startsWith(`${name}{`));
      assert.ok(
        series.some((line) => line.includes(selector)),
        `${name}{${selector}}`,
      );
    }
  }
  assert.ok(count > 30);
});

test("Every alert has a unique name, a severity, a summary and a description.", () => {
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity, /^(warning|critical)$/, alert);
    assert.ok(annotations.summary.length > 20 && annotations.description.length > 20, alert);
  }
});

const skip = unlessInstalled("promtool");

test("Prometheus accepts the rules, and the expressions of four alerts have the expected results.", {
  skip,
}, async () => {
  const folder = newFolder();
  const rulesFile = join(root, "deploy/monitoring/alerts.yaml");
  assert.match(await check("promtool", "check", "rules", rulesFile), /\d+ rules found/);
  const ready = 'worker_jobs{instance="a",state="ready"}';
  const series = [
    { series: ready, values: "5x20" },
    { series: 'worker_workers{instance="a",state="alive"}', values: "0x20" },
    { series: 'worker_workers{instance="a",state="stale"}', values: "2x20" },
    { series: 'worker_database_up{instance="a"}', values: "1x20" },
  ];
  const expressionOf = (name: string) => rules.find((rule) => rule.alert === name)?.expr ?? "";
  const fires = (name: string, labels: string, value: number) => ({
    expr: expressionOf(name),
    eval_time: "12m",
    exp_samples: [{ labels, value }],
  });
  const quiet = (name: string) => ({ expr: expressionOf(name), eval_time: "12m", exp_samples: [] });
  const tests = [
    {
      interval: "1m",
      input_series: series,
      promql_expr_test: [
        fires("WorkerNoneAlive", '{instance="a"}', 5),
        fires("WorkerNotResponding", 'worker_workers{instance="a",state="stale"}', 2),
        quiet("WorkerDatabaseAway"),
        quiet("WorkerCertificateExpires"),
      ],
    },
  ];
  const path = join(folder, "tests.yaml");
  writeFileSync(path, JSON.stringify({ rule_files: [rulesFile], tests }));
  assert.match(await check("promtool", "test", "rules", path), /SUCCESS/);
});
