// The crontab of the demo's worker: the entries of an imaginary shop, which use different options of a crontab. The
// tasks of the entries are in sample-tasks.ts.
export const sampleCrontab = `
# Every minute.
* * * * * expire_sessions ?priority=20
# Every hour, with a payload, in a queue.
5 * * * * generate_report ?id=sales_by_hour&queue=reports&max=5 {report: "sales_by_hour", filters: {regions: ["EMEA", "APAC"]}}
# Every night. Ticks that were missed while the machine was off are added, up to a day back.
30 2 * * * index_document ?id=nightly_reindex&fill=1d {index: "products", full: true}
# On working days. A digest that still waits is replaced by the next one.
0 8 * * 1-5 send_email ?id=morning_digest&fill=4h&jobKey=digest {template: "digest", to: "team@example.com"}
`;
