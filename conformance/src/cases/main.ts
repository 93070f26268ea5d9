/**
 * Runs case files (.jsonl, .jsonl.gz) through parser and executor and compares exactly.
 *
 *   node --conditions=@platform/source conformance/src/cases/main.ts FILE… [--only REGEX] [--show N]
 *
 * `--only` matches name, group, or an operator or stage of the pipeline (as `$unwind`); `--show` prints the first N failures.
 */

import { parseArgs } from 'node:util';
import { readCase } from './case.ts';
import { judge } from './judge.ts';
import { readLines } from './read-lines.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, show: { type: 'string', default: '0' } },
});

const only = new RegExp(values.only);
let toShow = Number(values.show);
for (const file of positionals) {
  const counts = new Map<string, [number, number]>();
  for (const line of readLines(file)) {
    const given = readCase(line);
    const text = line.slice(line.indexOf('"pipeline"')).match(/\$[a-zA-Z]+/g) ?? [];
    if (![given.name, given.group, ...text].some((each) => only.test(each))) continue;
    const { verdict, kind, expected, actual } = await judge(given);
    for (const key of ['all', verdict, kind, ...(given.k === 'mql' ? new Set(given.stages) : [])]) {
      const count = counts.get(key) ?? [0, 0];
      counts.set(key, [count[0] + Number(verdict === 'passed'), count[1] + 1]);
    }
    if (verdict !== 'failed' || toShow-- <= 0) continue;
    const query = given.k === 'sql' ? given.sql : line.slice(line.indexOf('"docs"'), line.indexOf('"ordered"'));
    const cut = (each: string): string => (each.length > 1500 ? `${each.slice(0, 1500)} …` : each);
    process.stdout.write(
      `\n${given.name}\n  ${given.msg}\n  ${cut(query)}\n  expected ${cut(expected)}\n  actual   ${cut(actual)}\n`,
    );
  }
  process.stdout.write(`${file}\n`);
  for (const [key, [passed, all]] of counts) process.stdout.write(`  ${key}: ${passed}/${all}\n`);
}
