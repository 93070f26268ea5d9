import { fileURLToPath } from 'node:url';
import { startProcess } from '../cloud/server-process.ts';

/** Many parts with one uploading key: the batches rotate among their sensors. */
export interface GeneratedFleet {
  readonly partIds: readonly string[];
  readonly keyId: string;
  readonly key: string;
  /** Capture time of each sensor's first reading; the others follow at intervals of a second. */
  readonly startMs: number;
  /** Number of batches uploaded before. */
  readonly firstBatch: number;
}

/** The source of the readings: one part or a fleet. */
export type GeneratorTarget =
  | { readonly url: string; readonly partId: string; readonly partSecret: string }
  | { readonly url: string; readonly fleet: GeneratedFleet };

export type GeneratorOptions = GeneratorTarget & GeneratorLoad;

export interface GeneratorLoad {
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
  /** Acknowledgement time of each batch; wall clock, ms with fractions. */
  readonly acknowledgedAt: readonly number[];
}

/**
 * Runs a generator process against the cloud and returns its measurements.
 *
 * @param onStarted called when everything is encoded and the first upload begins
 */
export async function runGenerator(
  target: GeneratorTarget,
  load: GeneratorLoad,
  onStarted: () => void = () => {},
): Promise<GeneratorResult> {
  const { url } = target;
  const whose = 'fleet' in target ? { fleet: target.fleet } : { partId: target.partId, partSecret: target.partSecret };
  const options: GeneratorOptions = { url, ...whose, ...load };
  const entry = fileURLToPath(new URL('../processes/generator.ts', import.meta.url));
  await using generator = startProcess(process.execPath, [...process.execArgv, entry, JSON.stringify(options)]);
  await generator.event('encoded');
  onStarted();
  return (await generator.event('done')) as unknown as GeneratorResult;
}
