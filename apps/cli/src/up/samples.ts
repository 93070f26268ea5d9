/** The README's sample queries; `platform up` shows them with their rows. */

/** One document: how many readings came from each component since `since`, and when the last was received. */
export function sampleMql(since: Date): Readonly<Record<string, unknown>>[] {
  return [
    { $match: { time_received: { $gte: since } } },
    { $group: { _id: '$component_name', readings: { $sum: 1 }, last: { $max: '$time_received' } } },
    { $sort: { _id: 1 } },
  ];
}

/** The three newest readings. */
export const sampleSql: string =
  'SELECT time_received, component_name, data FROM readings ORDER BY time_received DESC LIMIT 3';
