/** The limit for a query without push-down: rows decoded from BSON, then a hand-written loop. One core. */
import { type Batch, type BsonDocument, documentsOf } from '@platform/query';

/** Average humidity above a temperature, by component. @returns the number of components. */
export function decodeAndLoop(batches: readonly Batch[], above: number): number {
  const groups = new Map<string, { sum: number; count: number }>();
  for (const batch of batches) {
    for (const row of documentsOf(batch)) {
      const readings = (row.get('data') as BsonDocument).get('readings') as BsonDocument;
      if ((readings.get('temperature') as number) <= above) continue;
      const name = row.get('component_name') as string;
      const humidity = readings.get('humidity') as number;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, { sum: humidity, count: 1 });
      else {
        group.sum += humidity;
        group.count++;
      }
    }
  }
  return groups.size;
}
