/**
 * Queries over readings in the real store compared with their limits, in one run, as one table. The store is queried in this process, as
 * the cloud's services do; only ingest with queries uses the network.
 */
import { openTabular } from '../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { scratch } from './cloud/scratch.ts';
import { coldStart } from './queries/cold-start.ts';
import { fill, sizesOf } from './queries/fill.ts';
import { inExecutor } from './queries/in-executor.ts';
import { type Line, tableOf, timeOf } from './queries/line.ts';
import { overColumns } from './queries/over-columns.ts';
import { drawShapes } from './queries/shapes.ts';
import { together } from './queries/together.ts';

export interface QueryLoad {
  readonly readings: number;
  /** Number of sealed files for the cold start. */
  readonly files: number;
  readonly seed: number;
  readonly repetitions: number;
}

export async function measureQueries({ readings, files, seed, repetitions }: QueryLoad): Promise<Line[]> {
  using folder = scratch();
  const lines: Line[] = [];
  {
    await using store = await openTabular({}, { folder: folder.path });
    const started = performance.now();
    await fill(store, readings);
    const filledMs = performance.now() - started;
    const { fileBytes, bsonBytes, files: sealedFiles } = await sizesOf(store);
    lines.push({
      name: `${readings} readings loaded and sealed`,
      ms: filledMs,
      requirement: 'sealed ≤ 0.25 of the BSON',
      more: { files: sealedFiles, 'sealed MB': fileBytes / 1e6, 'sealed / BSON': fileBytes / bsonBytes },
    });
    lines.push(...(await overColumns(store, { folder: folder.path, readings, repetitions })));
    for (const { name, stages } of drawShapes(seed)) {
      const rows = (await store.mql(stages)).length;
      lines.push({ name: `shape: ${name}`, rows, ms: await timeOf(repetitions, () => store.ask(stages)) });
    }
  }
  lines.push(await inExecutor(Math.min(readings, 400_000), repetitions));
  using coldFolder = scratch();
  lines.push(...(await coldStart(coldFolder.path, files)));
  lines.push(...(await together(Math.max(20, Math.round(readings / 2_500)))));
  return lines;
}

export function printLines(lines: readonly Line[], json: boolean): void {
  if (!json) console.log(tableOf(lines));
  else for (const line of lines) console.log(JSON.stringify({ bench: 'queries', ...line }));
}
