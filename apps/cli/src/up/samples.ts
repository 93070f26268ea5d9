/** The sample queries of docs/guides/first-steps.md; `platform up` shows them with their rows. */

/** For each component: the number of readings since `since`, the mean processor load, and the time of the last reading. */
export function sampleMql(since: Date): Readonly<Record<string, unknown>>[] {
  return [
    // As Extended JSON, so that the shown pipeline can be pasted into `platform query mql`.
    { $match: { time_received: { $gte: { $date: since.toISOString() } } } },
    {
      $group: {
        _id: '$component_name',
        readings: { $sum: 1 },
        mean_cpu_percent: { $avg: '$data.readings.cpu_percent' },
        last: { $max: '$time_received' },
      },
    },
    { $sort: { _id: 1 } },
  ];
}

/** The three newest readings of this computer. */
export const sampleSql: string =
  'SELECT time_received, data.readings.cpu_percent AS cpu_percent, data.readings.memory_used_percent AS memory_used_percent, data.readings.uptime_seconds AS uptime_seconds ' +
  "FROM readings WHERE component_name = 'host' ORDER BY time_received DESC LIMIT 3";
