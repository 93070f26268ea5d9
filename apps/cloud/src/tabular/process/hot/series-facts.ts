/** Facts about the series of a hot file, computed from the rows being written. */
import type { NewestRow, SeriesFacts, TimeFacts } from '../files/file-facts.ts';
import { noTime, type RowBuffer } from '../rows/row-buffer.ts';
import { compareWords, type SortedRows, words } from './sort-rows.ts';

/** Size limits of the newest rows' documents in facts: per row and per file. */
export const newestLimits: { readonly rowBytes: number; readonly fileBytes: number } = {
  rowBytes: 4 << 10,
  fileBytes: 4 << 20,
};

export function seriesFactsOf(rows: RowBuffer, { order, series }: SortedRows): SeriesFacts[] {
  let newestBytes = 0;
  return series.map(({ series: own, from, to }) => {
    let dataBytes = 0;
    for (let place = from; place < to; place++) dataBytes += (rows.data[order[place] as number] as Uint8Array).length;
    const newest = newestRow(rows, order.subarray(from, to));
    if (newest !== undefined) newestBytes += newest.data.length;
    return {
      ...own,
      rows: to - from,
      dataBytes,
      firstRow: from,
      received: timeFacts(rows.timeReceived, order, from, to),
      requested: timeFacts(rows.timeRequested, order, from, to),
      synced: timeFacts(rows.timeSynced, order, from, to),
      ...(newest !== undefined && newestBytes <= newestLimits.fileBytes && { newest }),
    };
  });
}

const missingHigh = Number(BigInt.asIntN(32, noTime >> 32n));

function timeFacts(times: BigInt64Array, order: Int32Array, from: number, to: number): TimeFacts {
  const pairs = words(times);
  let missing = 0;
  let min = -1;
  let max = -1;
  for (let place = from; place < to; place++) {
    const row = order[place] as number;
    if (pairs[row * 2 + 1] === missingHigh && pairs[row * 2] === 0) {
      missing++;
      continue;
    }
    if (min < 0 || compareWords(pairs, row, min) < 0) min = row;
    if (max < 0 || compareWords(pairs, row, max) > 0) max = row;
  }
  return { min: min < 0 ? null : (times[min] as bigint), max: max < 0 ? null : (times[max] as bigint), missing };
}

/**
 * @param places rows of a series sorted by time. Returns the first row of the latest millisecond, because queries see whole milliseconds.
 */
function newestRow(rows: RowBuffer, places: Int32Array): NewestRow | undefined {
  const latest = rows.timeReceived[places.at(-1) as number] as bigint;
  if (latest === noTime) return undefined;
  const least = startOfMs(latest);
  let at = places.length - 1;
  while (at > 0 && (rows.timeReceived[places[at - 1] as number] as bigint) >= least) at--;
  const row = places[at] as number;
  const data = rows.data[row] as Uint8Array;
  if (data.length > newestLimits.rowBytes) return undefined;
  return {
    position: Number(rows.position[row]),
    index: rows.index[row] as number,
    timeRequested: rows.timeRequested[row] as bigint,
    timeReceived: rows.timeReceived[row] as bigint,
    timeSynced: rows.timeSynced[row] as bigint,
    // Copied, because the surrounding block holds many documents.
    data: new Uint8Array(data),
  };
}

/** Rounds down to the millisecond, even before 1970. */
export function startOfMs(microseconds: bigint): bigint {
  const rest = microseconds % 1_000n;
  return microseconds - (rest < 0n ? rest + 1_000n : rest);
}
