/** Runs the files one after another and yields every checked case. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Case, readCase } from './case.ts';
import type { CheckedCase } from './check-case.ts';
import { checkLines } from './check-lines.ts';
import { operatorLabels, stageLabels } from './label.ts';
import { type RunnerOptions, UsageFault } from './options.ts';

export interface CheckedFile {
  /** As given on the command line. */
  readonly file: string;
  readonly cases: readonly CheckedCase[];
  readonly given: readonly Case[];
  /** The line of each case in the file, from 1. */
  readonly lineNumbers: readonly number[];
}

/** @throws UsageFault for a file that cannot be read or contains an invalid line. */
export async function* runFiles({ files, only, selfTest }: RunnerOptions): AsyncGenerator<CheckedFile> {
  for (const file of files) {
    const chosen = casesOf(file).filter(({ given }) => only === undefined || matches(given, only));
    const lines = chosen.map(({ line }) => line);
    const cases: CheckedCase[] = [];
    for await (const checked of checkLines(lines, { selfTest })) cases.push(checked);
    yield { file, cases, given: chosen.map(({ given }) => given), lineNumbers: chosen.map(({ number }) => number) };
  }
}

interface CaseLine {
  readonly line: string;
  readonly number: number;
  readonly given: Case;
}

function casesOf(file: string): CaseLine[] {
  return readLines(file).map((line, index) => {
    try {
      return { line, number: index + 1, given: readCase(line) };
    } catch (error) {
      throw new UsageFault(
        `${file}, line ${index + 1} is not a case: ${error instanceof Error ? error.message : error}`,
      );
    }
  });
}

function matches(given: Case, only: RegExp): boolean {
  const labels = [given.name, given.group, ...stageLabels(given), ...operatorLabels(given)];
  return labels.some((label) => only.test(label));
}

/** A larger file (unpacked) is not a case file. */
const maxBytes = 512 * 1024 * 1024;

/** The lines of a case file, plain or gzipped. Skips empty lines. @throws UsageFault if the file cannot be read or unpacked. */
function readLines(file: string): string[] {
  try {
    const bytes = readFileSync(file);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const text = (isPacked ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes).toString('utf8');
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch (error) {
    throw new UsageFault(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
