/** The command line of the runner. */

import { parseArgs } from 'node:util';

export interface RunnerOptions {
  readonly files: readonly string[];
  readonly only: RegExp | undefined;
  /** How many failures are shown with query, expectation and outcome. */
  readonly show: number;
  /** Whether to list every failure instead of the first few. */
  readonly list: boolean;
  readonly selfTest: boolean;
  readonly json: boolean;
  readonly emit: string | undefined;
  /** Also run the cases through store and DuckDB. */
  readonly pushDown: boolean;
}

/** An error in the command line, with a message for the user. */
export class UsageFault extends Error {}

export const usage: string = `npm run conformance -- FILE… [options]     case files: .jsonl or .jsonl.gz
  --only REGEX   only cases whose name, group, operators ($abs) or stages ($match; SQL: clause) match
  --show N       the first N failures with documents, query, expected and actual
  --list         the names of all failures
  --emit OUT     every actual result in canonical Extended JSON, one line a case
  --self-test    alters 200 expectations of passed cases; all must then fail
  --pushdown     the cases' documents also as readings in store and DuckDB; answers must be those of the executor
  --json         the last line is one JSON object with the counts of each file`;

/** @throws UsageFault */
export function readOptions(args: readonly string[]): RunnerOptions {
  const { values, positionals } = parsed(args);
  if (positionals.length === 0) throw new UsageFault('expected at least one case file');
  const show = Number(values.show);
  if (!Number.isInteger(show) || show < 0) throw new UsageFault(`--show expects a whole number, found ${values.show}`);
  return {
    files: positionals,
    only: values.only === undefined ? undefined : pattern(values.only),
    show,
    list: values.list,
    selfTest: values['self-test'],
    json: values.json,
    emit: values.emit,
    pushDown: values.pushdown,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        show: { type: 'string', default: '0' },
        list: { type: 'boolean', default: false },
        emit: { type: 'string' },
        'self-test': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        pushdown: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

/** A name such as `$abs` is taken literally: a leading `$` would never match. */
function pattern(text: string): RegExp {
  try {
    return new RegExp(text.replace(/(^|\||\()\$(?=[a-zA-Z])/g, '$1\\$'));
  } catch (error) {
    throw new UsageFault(`--only expects a regular expression: ${String(error)}`);
  }
}
