/**
 * Runs case files (.jsonl, .jsonl.gz) through parser and executor and compares exactly: types, field order, NaN, −0.
 *
 *   npm run conformance -- FILE… [--only REGEX] [--show N] [--list] [--emit OUT] [--self-test] [--pushdown] [--json]
 *   node --conditions=@platform/source conformance/src/cases/main.ts FILE… …     the same without npm
 *
 * `--pushdown` also runs the queries in the real store, with the documents as readings, and compares with the executor alone.
 * `--only` matches name, group, operator (`$abs`) or stage (`$match`); `--show` prints the first N failures.
 * Exit code 0: every rate of pass-rates.json is met; 1: one is not, or the self-test missed something; 2: usage.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import type { Case } from './case.ts';
import type { CheckedCase } from './check-case.ts';
import { type RunnerOptions, readOptions, UsageFault, usage } from './options.ts';
import { belowRates, readPassRates } from './pass-rates.ts';
import { type CheckedFile, runFiles } from './run-files.ts';
import { selfTest } from './self-test.ts';
import { apartSource, detailLines, failureLines, Tally, tallyLines } from './tally.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    return await runAll(readOptions(args));
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error;
    process.stderr.write(`conformance: ${error.message}\n\n${usage}\n`);
    return 2;
  }
}

async function runAll(options: RunnerOptions): Promise<number> {
  const counted = new Tally();
  const all: CheckedCase[] = [];
  const given: Case[] = [];
  const figures: Record<string, object> = {};
  const output = options.emit === undefined ? undefined : openSync(options.emit, 'w');
  for await (const checked of runFiles(options)) {
    figures[checked.file] = report(checked, options, all.filter((each) => each.verdict === 'failed').length);
    if (output !== undefined) emit(output, checked);
    all.push(...checked.cases);
    given.push(...checked.given);
    for (const each of checked.cases) if (each.source !== apartSource) counted.add(each);
  }
  if (output !== undefined) closeSync(output);
  const faults = [
    ...(options.only === undefined ? belowRates(counted, readPassRates()) : []),
    ...(options.selfTest ? selfTestFaults(all) : []),
    ...(options.pushDown ? await pushDownFaults(given, options) : []),
  ];
  for (const fault of faults) say(fault);
  if (options.json) say(JSON.stringify(figures));
  return faults.length === 0 ? 0 : 1;
}

/** Prints a file's rates and failures. @returns its figures for `--json`. */
function report({ file, cases }: CheckedFile, { show, list }: RunnerOptions, failedBefore: number): object {
  const tally = new Tally();
  const apart = new Tally();
  for (const each of cases) (each.source === apartSource ? apart : tally).add(each);
  const failed = cases.filter((each) => each.verdict === 'failed');
  const lines = [
    ...tallyLines(file, tally),
    ...(apart.all.cases > 0 ? tallyLines(`${file}, reported apart`, apart) : []),
    ...failureLines(failed, list),
    ...failed.slice(0, Math.max(0, show - failedBefore)).flatMap(detailLines),
  ];
  say(lines.join('\n'));
  return { lines: cases.length, ...figuresOf(tally), ...(apart.all.cases > 0 ? { apart: figuresOf(apart) } : {}) };
}

function figuresOf({ all, excluded, byStage, byOperator, byKind, byGroup }: Tally): object {
  const counts = { byStage, byOperator, byKind, byGroup };
  const plain = Object.entries(counts).map(([name, count]) => [name, Object.fromEntries(count)]);
  return { ...all, excluded: Object.fromEntries(excluded), ...Object.fromEntries(plain) };
}

function selfTestFaults(cases: readonly CheckedCase[]): string[] {
  const { tried, noticed, missed, byAlteration } = selfTest(cases);
  const each = [...byAlteration].map(([alteration, count]) => `${count} ${alteration}`).join(', ');
  say(`self-test: ${noticed} of ${tried} altered expectations failed, as they must (${each})`);
  if (tried === 0) return ['self-test: there was no passed case to alter'];
  return missed.map((name) => `self-test: not noticed: ${name}`);
}

async function pushDownFaults(cases: readonly Case[], { show, list }: RunnerOptions): Promise<string[]> {
  const { runStoredCases } = await import('./pushdown/stored-cases.ts');
  const { asTheyAre, asReadings, notRun, different } = await runStoredCases(cases);
  say(
    `push-down: ${asTheyAre + asReadings} of ${cases.length} cases through store and DuckDB, ${different.length} differ`,
  );
  say(`  ${asTheyAre} with their documents, ${asReadings} with their documents as machines could send them`);
  for (const [reason, count] of notRun) say(`  not run ${count}: ${reason}`);
  for (const each of different.slice(0, list ? different.length : show)) say(each);
  return different.length === 0
    ? []
    : [`push-down: ${different.length} cases answer something else than the executor alone`];
}

function emit(output: number, { file, cases, lineNumbers }: CheckedFile): void {
  const lines = cases.map(({ name, actualJson }, index) => {
    const place = JSON.stringify({ file, line: lineNumbers[index], name }).slice(0, -1);
    return `${place},${actualJson}}\n`;
  });
  writeSync(output, lines.join(''));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
