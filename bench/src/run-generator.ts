import { fileURLToPath } from 'node:url';
import { startProcess } from './server-process.ts';
import type { BenchCloud } from './start-cloud.ts';

export interface GeneratorOptions {
  readonly url: string;
  readonly partId: string;
  readonly partSecret: string;
  readonly batches: number;
  readonly readingsEach: number;
  readonly inFlight: number;
  /** Absent: closed loop. */
  readonly batchesPerSecond?: number;
}

export interface GeneratorResult {
  readonly readings: number;
  readonly bytes: number;
  /** From the first upload to the last acknowledgement. */
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** By batch; wall clock, ms with fractions. */
  readonly acknowledgedAt: readonly number[];
}

/** Runs a generator process against the cloud and returns what it measured. */
export async function runGenerator(
  { url, partId, partSecret }: BenchCloud,
  load: Pick<GeneratorOptions, 'batches' | 'readingsEach' | 'inFlight' | 'batchesPerSecond'>,
): Promise<GeneratorResult> {
  const options: GeneratorOptions = { url, partId, partSecret, ...load };
  const entry = fileURLToPath(new URL('./processes/generator.ts', import.meta.url));
  await using generator = startProcess(process.execPath, [...process.execArgv, entry, JSON.stringify(options)]);
  return (await generator.event('done')) as unknown as GeneratorResult;
}
