/** Queries that work on the demo's readings, and show what the languages look like. */
import type { QueryLanguage } from './run-query.ts';

export interface Sample {
  readonly name: string;
  readonly language: QueryLanguage;
  readonly text: string;
}

const load: Sample = {
  name: 'Processor over time',
  language: 'mql',
  text: `[
  { "$match": { "component_name": "host" } },
  { "$sort": { "time_received": -1 } },
  { "$limit": 900 },
  { "$project": { "_id": 0, "time_received": 1, "cpu_percent": "$data.readings.cpu_percent" } }
]
`,
};

export const samples: readonly [Sample, ...Sample[]] = [
  load,
  {
    name: 'Readings by component',
    language: 'mql',
    text: `[
  { "$group": { "_id": "$component_name", "readings": { "$sum": 1 } } },
  { "$sort": { "readings": -1 } }
]
`,
  },
  {
    name: 'Newest readings in SQL',
    language: 'sql',
    text: `SELECT time_received, component_name, data
FROM readings
ORDER BY time_received DESC
LIMIT 50
`,
  },
];
