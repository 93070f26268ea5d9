import { median } from '../figures/statistics.ts';
import { short, table } from '../figures/table.ts';

/** A line of the table: the measurement, its limit and its alternative. */
export interface Line {
  readonly name: string;
  readonly rows?: number;
  readonly ms: number;
  /** The limit, measured in the same run. */
  readonly limitMs?: number;
  readonly alternativeMs?: number;
  /** The requirement from issue and design. */
  readonly requirement?: string;
  /** Any other figures, by name with unit. */
  readonly more?: Readonly<Record<string, number>>;
}

export function tableOf(lines: readonly Line[]): string {
  const head = ['query', 'rows', 'ms', 'limit ms', '× limit', 'mingo ms', 'requirement'];
  const cells = lines.map(({ name, rows, ms, limitMs, alternativeMs, requirement, more }) => [
    name,
    rows === undefined ? '' : String(rows),
    short(ms),
    short(limitMs),
    limitMs === undefined ? '' : (ms / limitMs).toFixed(2),
    short(alternativeMs),
    [requirement ?? '', ...Object.entries(more ?? {}).map(([unit, value]) => `${unit} ${short(value)}`)]
      .filter(Boolean)
      .join('; '),
  ]);
  return table(head, cells, [1, 2, 3, 4, 5]);
}

type Work = () => Promise<unknown> | unknown;

/** Median time of the work, ms. Runs it once before, so that files and code are warm. */
export async function timeOf(repetitions: number, work: Work): Promise<number> {
  const [time = 0] = await timesInTurns(repetitions, [work], 1);
  return time;
}

/**
 * The same for several kinds of work in turns, so that other load on the computer affects all of them. @param warmUp turns that do not
 * count. Default: as many as count, because a long-running process has its code compiled.
 */
export async function timesInTurns(
  repetitions: number,
  works: readonly Work[],
  warmUp = repetitions,
): Promise<readonly number[]> {
  const times = works.map((): number[] => []);
  for (let turn = -warmUp; turn < repetitions; turn++) {
    for (const [at, work] of works.entries()) {
      const started = performance.now();
      await work();
      if (turn >= 0) times[at]?.push(performance.now() - started);
    }
  }
  return times.map(median);
}
