/** Records two runs of a program on one directory: in the first a sync fails, and the second reads back what the first left. */
import { type CutImage, cutImages, recordSyscalls, type Syscall, temporaryDirectory } from '@platform/testkit';

export interface TwoRuns {
  /** Of both runs. */
  readonly calls: readonly Syscall[];
  /** The file whose sync failed. */
  readonly failed: string;
  /** What the disk may contain after a power cut during the second run or at its end. */
  images(random: () => number): Iterable<CutImage>;
  /** The objects that both runs had written to stdout before a call. */
  said(before: number): readonly Record<string, unknown>[];
}

/** @param argsOf arguments of node; called when the first run is over, with what it said */
export async function recordFailedSync(
  directory: string,
  failedSync: number,
  argsOf: (said: readonly Record<string, unknown>[]) => readonly string[],
): Promise<TwoRuns> {
  await using trace = await temporaryDirectory();
  const run = (args: readonly string[], name: string, failing?: number): Promise<Syscall[]> =>
    recordSyscalls({
      command: process.execPath,
      args: ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', ...args],
      ...{ directory, traceFile: trace.file(name) },
      ...(failing !== undefined && { failedSync: failing }),
    });
  const first = await run(argsOf([]), 'first', failedSync);
  const failed = first.find(({ kind }) => kind === 'failed-sync')?.path ?? 'none';
  const second = await run(argsOf(linesOf(first)), 'second');
  const secondFrom = first.length;
  const calls = [
    ...first,
    ...second.map((call) => (call.kind === 'sync' ? { ...call, startedAt: call.startedAt + secondFrom } : call)),
  ];
  return {
    ...{ calls, failed },
    images: (random) =>
      cutImages(calls, {
        ...{ random, from: secondFrom, randomInstants: 40, everyBoundary: 2, atEnd: 3 },
        ignore: (path) => path.endsWith('-shm'),
      }),
    said: (before) => linesOf(calls.slice(0, before)),
  };
}

function linesOf(calls: readonly Syscall[]): readonly Record<string, unknown>[] {
  return calls.flatMap((call) =>
    call.kind === 'write' && call.path === 'stdout' ? [JSON.parse(Buffer.from(call.bytes).toString('utf8'))] : [],
  );
}
