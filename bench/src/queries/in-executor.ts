/** $match and $group without push-down, on one core, compared with decoding and a hand-written loop over the same bytes. */
import { type Batch, BsonDate, BsonDocument, batchOf, documentsOf, encodeBson, execute } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { type Line, timeOf } from './line.ts';
import { componentName, documentOf, readingAt } from './readings.ts';

const batchRows = 2_048;
const above = 20;

export async function inExecutor(readings: number, repetitions: number): Promise<Line> {
  const batches: Batch[] = [];
  for (let from = 0; from < readings; from += batchRows)
    batches.push(batchOf(Array.from({ length: batchRows }, (_, i) => rowAt(from + i))));
  const { stages } = parseMql([
    encodeBson(
      BsonDocument.of({ $match: BsonDocument.of({ 'data.readings.temperature': BsonDocument.of({ $gt: above }) }) }),
    ),
    encodeBson(
      BsonDocument.of({
        $group: BsonDocument.of({
          _id: '$component_name',
          average: BsonDocument.of({ $avg: '$data.readings.humidity' }),
        }),
      }),
    ),
  ]);
  let rows = 0;
  const ours = async (): Promise<void> => {
    rows = 0;
    for await (const batch of execute(stages, batches)) rows += batch.count;
  };
  const ms = await timeOf(repetitions, ours);
  const limitMs = await timeOf(repetitions, () => decodeAndLoop(batches, above));
  const counted = batches.length * batchRows;
  const more = { 'speed of the limit': limitMs / ms, 'readings/s': (counted * 1_000) / ms };
  return {
    name: 'match + group, not pushed, one core',
    rows,
    ms,
    limitMs,
    requirement: 'speed ≥ 0.6 of the limit',
    more,
  };
}

/** A stored row with the columns of `readings`. */
function rowAt(n: number): BsonDocument {
  const component = n % 1_000;
  const reading = readingAt(component, Math.floor(n / 1_000), 60_000);
  const at = new BsonDate(reading.receivedMs);
  return BsonDocument.of({
    organization_id: 'org-1',
    location_id: `loc-${component % 5}`,
    robot_id: `robot-${component % 50}`,
    part_id: `part of robot-${component % 50}`,
    component_type: 'core:component:sensor',
    component_name: componentName(component),
    method_name: 'Readings',
    capture_day: '2026-05-10',
    time_requested: at,
    time_received: at,
    time_synced: at,
    tags: [],
    additional_parameters: new BsonDocument(),
    data: documentOf(reading),
  });
}

/**
 * The limit for a query without push-down: rows decoded from BSON, then a hand-written loop. One core. Average humidity above a
 * temperature, by component. @returns the number of components.
 */
function decodeAndLoop(batches: readonly Batch[], above: number): number {
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
