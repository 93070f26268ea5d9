/** The rows of a tail (hot/tail.ts) as columns (arrived-rows.ts), with whole documents. */
import type { Batch } from '@platform/query';
import { type ArrivalsAsked, encodeArrived } from '../../arrivals/arrived-rows.ts';
import { seriesNames } from '../../arrivals/series-names.ts';
import type { TailRows } from '../hot/tail.ts';
import { noTime } from '../rows/row-buffer.ts';
import { blockOf } from './emit-arrivals.ts';

const batchRows = 2_048;

export function* tailArrivals(tails: readonly TailRows[], { after, upTo, paths }: ArrivalsAsked): Generator<Batch> {
  for (const { tail, rows: wanted } of tails) {
    const { rows, series } = tail;
    const [first, last] = [BigInt(after), BigInt(upTo)];
    const within = wanted.filter((row) => {
      const position = rows.position[row] as bigint;
      return position > first && position <= last;
    });
    for (let from = 0; from < within.length; from += batchRows) {
      const some = within.slice(from, from + batchRows);
      const names = seriesNames();
      const documents = some.map((row) => rows.data[row] as Uint8Array);
      let end = 0;
      const ends = Uint32Array.from(documents, ({ length }) => (end += length));
      yield blockOf(
        encodeArrived({
          rows: some.length,
          seriesOf: Int32Array.from(some, (row) => names.of(series[rows.series[row] as number])),
          series: names.list,
          position: Float64Array.from(some, (row) => Number(rows.position[row])),
          index: Int32Array.from(some, (row) => rows.index[row] as number),
          syncedMs: Float64Array.from(some, (row) => millisecond(rows.timeSynced[row] as bigint)),
          receivedMs: Float64Array.from(some, (row) => millisecond(rows.timeReceived[row] as bigint)),
          ...((paths === 'all' || paths.length > 0) && {
            data: { shape: 'bson', columns: [{ k: 'bytes', ends, values: Buffer.concat(documents) }] },
          }),
        }),
      );
    }
  }
}

/** Also rounded down before 1970. */
function millisecond(microseconds: bigint): number {
  return microseconds === noTime ? Number.NaN : Math.floor(Number(microseconds) / 1_000);
}
