/** $sample: so many rows by chance. */

import { chunks } from '@platform/base';
import type { Stage } from '../../plan/stage.ts';
import type { Budget } from '../limits/budget.ts';
import { sizeOf } from '../limits/size.ts';
import type { Row } from '../row.ts';

/** Each row gets a place by chance among those before it; only the wanted number is kept at any time. */
export async function* runSample(
  stage: Stage & { k: 'sample' },
  input: AsyncIterable<Row[]>,
  budget: Budget,
  random: () => number = Math.random,
): AsyncIterable<Row[]> {
  const kept: Row[] = [];
  let seen = 0;
  for await (const rows of input) {
    for (const row of rows) {
      seen++;
      const place = Math.floor(random() * seen);
      if (kept.length < stage.size) {
        budget.hold(bytesOf(row), '$sample');
        kept.push(kept[place] ?? row);
        kept[place] = row;
      } else if (place < stage.size) {
        budget.hold(bytesOf(row) - bytesOf(kept[place]!), '$sample');
        kept[place] = row;
      }
    }
  }
  yield* chunks(kept, 1000);
}

function bytesOf(row: Row): number {
  return (row.bytes?.length ?? 0) + sizeOf(row.document);
}
