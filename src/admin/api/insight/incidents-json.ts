// The incidents on the wire, for the route and for the event.
import type { Incident, Incidents } from "../../../queue/incidents/incident.ts";
import { linksJson, verbJson } from "./shapes.ts";

export function incidentsJson({ verdict, level, incidents, more, asOf }: Incidents) {
  return { verdict, level, incidents: incidents.map(incidentJson), more, as_of: asOf };
}

function incidentJson({ standsStill, links, verb, ...rest }: Incident) {
  return {
    ...rest,
    stands_still: standsStill,
    links: linksJson(links),
    verb: verbJson(verb),
  };
}
