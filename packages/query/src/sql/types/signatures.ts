/** What functions of the plan take from SQL, and what they give: as far as it can be told before data is read. */

import type { TypeName } from '../../bson/type.ts';
import {
  anything,
  booleans,
  either,
  isWhole,
  type Kind,
  kindOf,
  maybeMissing,
  numbers,
  wholeNumbers,
  widest,
} from './kind.ts';

interface Signature {
  /** Types by argument; the last holds for those after it. Absent: any. */
  readonly takes?: readonly (readonly TypeName[])[];
  readonly gives: Kind;
}

const number = kindOf(...numbers, 'null');
const text = kindOf('string', 'null');
const int = kindOf('int', 'null');
const truth: readonly TypeName[] = ['bool'];
const numeric: Signature = { takes: [numbers], gives: number };
const texts: Signature = { takes: [['string']], gives: text };
const compared: Signature = { gives: booleans };
const dated: readonly TypeName[] = ['date'];
const units: readonly TypeName[] = ['string'];

const families: readonly (readonly [names: string, Signature])[] = [
  ['sql.eq sql.ne sql.gt sql.gte sql.lt sql.lte sql.in', compared],
  ['sql.isNull sql.isMissing sql.isType', { gives: kindOf('bool') }],
  ['sql.and sql.or sql.not', { takes: [truth], gives: booleans }],
  ['agg.add agg.subtract agg.multiply sql.divide sql.negate agg.abs agg.ceil agg.floor agg.round', numeric],
  ['sql.mod agg.pow sql.sqrt sql.log sql.sin sql.cos sql.tan agg.degreesToRadians agg.radiansToDegrees', numeric],
  ['sql.round', { takes: [numbers, wholeNumbers], gives: number }],
  ['sql.like', { takes: [['string']], gives: booleans }],
  ['sql.concat sql.upper sql.lower sql.trim sql.trimStart sql.trimEnd sql.replace', texts],
  ['sql.length sql.octets sql.bits sql.position', { takes: [['string']], gives: kindOf('int', 'null') }],
  ['sql.substring', { takes: [['string'], wholeNumbers], gives: text }],
  ['sql.split', { takes: [['string'], ['string'], wholeNumbers], gives: text }],
  ['sql.field', { takes: [['object'], ['string']], gives: anything }],
  ['agg.arrayElemAt', { takes: [['array'], wholeNumbers], gives: anything }],
  ['sql.size', { takes: [['array']], gives: kindOf('int', 'null') }],
  ['sql.slice', { takes: [['array'], wholeNumbers], gives: kindOf('array', 'null') }],
  ['agg.array', { gives: kindOf('array') }],
  ['agg.year agg.month agg.dayOfMonth agg.hour agg.minute agg.second agg.millisecond', { takes: [dated], gives: int }],
  ['agg.week agg.dayOfYear agg.dayOfWeek agg.isoWeek agg.isoDayOfWeek sql.quarter', { takes: [dated], gives: int }],
  ['agg.dateTrunc', { takes: [dated, units, numbers, units, units], gives: kindOf('date', 'null') }],
  ['agg.dateAdd', { takes: [dated, units, wholeNumbers, units], gives: kindOf('date', 'null') }],
  ['agg.dateDiff', { takes: [dated, dated, units, units, units], gives: kindOf('long', 'null') }],
  ['sql.castNull', { gives: kindOf('null') }],
  ['sql.castDouble', { gives: kindOf('double', 'null') }],
  ['sql.castInt', { gives: kindOf('int', 'null') }],
  ['sql.castLong', { gives: kindOf('long', 'null') }],
  ['sql.castDecimal', { gives: kindOf('decimal', 'null') }],
  ['sql.castString', { gives: text }],
  ['sql.castBool', { gives: booleans }],
  ['sql.castTimestamp now', { gives: kindOf('date', 'null') }],
  ['sql.castObjectId', { gives: kindOf('objectId', 'null') }],
  ['sql.castDocument', { gives: { types: new Set(['object', 'null']), open: true } }],
  ['sql.castArray', { gives: kindOf('array', 'null') }],
];

const signatures: ReadonlyMap<string, Signature> = new Map(
  families.flatMap(([names, signature]) => names.split(' ').map((name) => [name, signature] as const)),
);

/** Whose value is of the widest type of their arguments: of whole numbers a whole one. */
const keepsType = /^(agg\.(add|subtract|multiply|abs|ceil|floor|round)|sql\.negate)$/;

/** @param count how many arguments there are. */
export function takes(fn: string, index: number, count: number): readonly TypeName[] | undefined {
  // When, then, when, then, …, else.
  if (fn === 'sql.case') return index % 2 === 0 && index < count - 1 ? truth : undefined;
  const types = signatures.get(fn)?.takes;
  return types?.[Math.min(index, types.length - 1)];
}

export function gives(fn: string, args: readonly Kind[]): Kind {
  if (fn === 'sql.divide' && args.every(isWhole))
    return kindOf(args.some((arg) => arg.types?.has('long')) ? 'long' : 'int', 'null');
  if (keepsType.test(fn)) return widest(args);
  if (fn === 'sql.round') return widest(args.slice(0, 1));
  if (fn === 'sql.case') return args.filter((_, index) => index % 2 === 1 || index === args.length - 1).reduce(either);
  if (fn === 'agg.ifNull') return args.reduce(either);
  if (fn === 'sql.nullIf') return either(args[0]!, kindOf('null'));
  if (fn === 'agg.array') return { types: new Set(['array']), ...(args.length > 0 && { items: args.reduce(either) }) };
  if (fn === 'agg.arrayElemAt') return args[0]?.items === undefined ? anything : maybeMissing(args[0].items);
  return signatures.get(fn)?.gives ?? anything;
}

/** Its arguments are compared with each other. */
export function compares(fn: string): boolean {
  return /^sql\.(eq|ne|gt|gte|lt|lte|in|nullIf)$/.test(fn);
}
