import { median } from './statistics.ts';

/** Prints `{"bench","figure","median","runs"}` for each figure that the runs measured. */
export function printFigures(bench: string, runs: readonly Readonly<Record<string, number>>[]): void {
  for (const figure of Object.keys(runs[0] ?? {})) {
    const values = runs.map((run) => round(run[figure] ?? Number.NaN));
    console.log(JSON.stringify({ bench, figure, median: median(values), runs: values }));
  }
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}
