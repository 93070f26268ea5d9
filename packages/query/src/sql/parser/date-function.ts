/** EXTRACT, DATEADD, DATEDIFF and DATETRUNC: the unit is a bare word or a string. */

import { Int32 } from '../../bson/value.ts';
import type { SqlNode } from './ast.ts';
import { type Cursor, fault } from './cursor.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

const parts: Readonly<Record<string, string>> = {
  ...{ YEAR: 'agg.year', MONTH: 'agg.month', DAY: 'agg.dayOfMonth', HOUR: 'agg.hour', MINUTE: 'agg.minute' },
  ...{ SECOND: 'agg.second', MILLISECOND: 'agg.millisecond', WEEK: 'agg.week', DAY_OF_YEAR: 'agg.dayOfYear' },
  ...{
    DAYOFYEAR: 'agg.dayOfYear',
    DAY_OF_WEEK: 'agg.dayOfWeek',
    DAYOFWEEK: 'agg.dayOfWeek',
    DAYOFMONTH: 'agg.dayOfMonth',
  },
  ...{
    ISO_WEEK: 'agg.isoWeek',
    ISOWEEK: 'agg.isoWeek',
    ISO_WEEKDAY: 'agg.isoDayOfWeek',
    ISOWEEKDAY: 'agg.isoDayOfWeek',
  },
  QUARTER: 'sql.quarter',
};
const units: readonly string[] = 'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND'.split(' ');

export const dateFunctions: Readonly<Record<string, (at: Token, args: readonly SqlNode[]) => SqlNode>> = {
  DATETRUNC: (at, args) => {
    const [unit, date, startOfWeek = text(weekStart(args[0]), at)] = counted(at, args, 'DATETRUNC', 2, 3);
    const rest = [
      text(unitOf(unit!), at),
      { k: 'literal', value: new Int32(1), at } as const,
      text('UTC', at),
      startOfWeek,
    ];
    return { k: 'call', fn: 'agg.dateTrunc', args: [date!, ...rest], at };
  },
  DATEADD: (at, args) => {
    const [unit, amount, date] = counted(at, args, 'DATEADD', 3, 3);
    return { k: 'call', fn: 'agg.dateAdd', args: [date!, text(unitOf(unit!), at), amount!, text('UTC', at)], at };
  },
  DATEDIFF: (at, args) => {
    const [unit, start, end, startOfWeek = text(weekStart(args[0]), at)] = counted(at, args, 'DATEDIFF', 3, 4);
    return {
      k: 'call',
      fn: 'agg.dateDiff',
      args: [start!, end!, text(unitOf(unit!), at), text('UTC', at), startOfWeek],
      at,
    };
  },
};

/** ODBC's names. */
export const dateAliases: Readonly<Record<string, string>> = {
  ...{ TIMESTAMPADD: 'DATEADD', TIMESTAMPDIFF: 'DATEDIFF', TIMESTAMPTRUNC: 'DATETRUNC' },
};

/** After `EXTRACT(`. EXTRACT(YEAR FROM x) is YEAR(x). */
export function parseExtract(cursor: Cursor, at: Token, below: () => SqlNode): SqlNode {
  const unit = cursor.next();
  const name = plainUnit(unit.text);
  const fn = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (fn === undefined)
    throw fault(unit, `EXTRACT does not know the unit ${unit.text}`, `the units are ${Object.keys(parts).join(', ')}`);
  cursor.expect('FROM', 'after the unit of EXTRACT');
  const value = below();
  cursor.expect(')', 'to close EXTRACT');
  return { k: 'call', fn, args: [value], at };
}

function counted(at: Token, args: readonly SqlNode[], name: string, least: number, most: number): readonly SqlNode[] {
  if (args.length >= least && args.length <= most) return args;
  throw fault(at, `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, found ${args.length}`);
}

/** Weeks begin on Sunday, those of ISO 8601 on Monday. */
function weekStart(unit: SqlNode | undefined): string {
  return unit !== undefined && wordOf(unit) === 'ISO_WEEK' ? 'monday' : 'sunday';
}

function wordOf(node: SqlNode): string {
  const word = node.k === 'column' && node.path.length === 1 ? node.path[0]! : node.k === 'literal' ? node.value : '';
  return typeof word === 'string' ? plainUnit(word) : '';
}

/** ODBC units have a prefix. */
function plainUnit(word: string): string {
  const name = word.toUpperCase().replace(/^SQL_TSI_/, '');
  return name === 'FRAC_SECOND' ? 'MILLISECOND' : name;
}

function unitOf(node: SqlNode): string {
  const name = wordOf(node);
  if (name === 'ISO_WEEK') return 'week';
  if (units.includes(name)) return name.toLowerCase();
  const meant = nearest(name, units);
  throw fault(
    node.at,
    'a unit of time is expected',
    meant ? `did you mean ${meant}?` : `the units are ${units.join(', ')}`,
  );
}

function text(value: string, at: Token): SqlNode {
  return { k: 'literal', value, at };
}
