// Brief runs of two fault groups: `admin` tests the admin under faults, and `fuzz` sends hostile requests. Their full
// runs, in `npm run test:faults`, have 1,000 readers, 10,000 idle connections and a million requests.
import { test } from "node:test";
import { unlessInstalled } from "../../deploy/files.ts";
import { selection } from "../field/selection.ts";
import { group as admin } from "../groups/admin/group.ts";
import { group as fuzz } from "../groups/fuzz/group.ts";

test(
  "Under faults, the admin loses nothing that it has acknowledged, and answers every client.",
  {
    skip: unlessInstalled("nginx"),
  },
  () => selection(admin),
);

test("Hostile requests get no unexpected response, and other clients are served at the same time.", () =>
  selection(fuzz));
