/** Runs the files one after another, hands on every checked case. */

import { basename } from 'node:path';
import { type Case, readCase } from './case.ts';
import type { CheckedCase } from './check-case.ts';
import { checkLines } from './check-lines.ts';
import { operatorLabels, stageLabels } from './label.ts';
import type { RunnerOptions } from './options.ts';
import { readLines } from './read-lines.ts';

export interface CheckedFile {
  /** The file's name without folders. */
  readonly file: string;
  readonly cases: readonly CheckedCase[];
  /** For each case its line in the file, from 1. */
  readonly lineNumbers: readonly number[];
}

export async function* runFiles({ files, only, selfTest }: RunnerOptions): AsyncGenerator<CheckedFile> {
  for (const path of files) {
    const chosen = readLines(path)
      .map((line, index) => ({ line, number: index + 1 }))
      .filter(({ line }) => only === undefined || matches(readCase(line), only));
    const lines = chosen.map(({ line }) => line);
    const cases: CheckedCase[] = [];
    for await (const checked of checkLines(lines, { selfTest })) cases.push(checked);
    yield { file: basename(path), cases, lineNumbers: chosen.map(({ number }) => number) };
  }
}

function matches(given: Case, only: RegExp): boolean {
  const labels = [given.name, given.group, ...stageLabels(given), ...operatorLabels(given)];
  return labels.some((label) => only.test(label));
}
