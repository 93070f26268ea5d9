/** $trim, $ltrim, $rtrim. Arguments: the text, and optionally the characters to trim. */

import { isNullish, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { call } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import type { FunctionDefinition, Functions } from '../definition.ts';
import { type Fields, namedFields } from '../named-fields.ts';

/** What counts as white space: the null byte and the spaces of Unicode up to the hair space. */
const whiteSpace = new Set(
  '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
);

const trimFields: Fields = {
  required: { input: 50695 },
  optional: ['chars'],
  notObject: 50696,
  unknown: 50694,
};

export const stringTrim: Functions = {
  'agg.trim': trimming('$trim', true, true),
  'agg.ltrim': trimming('$ltrim', true, false),
  'agg.rtrim': trimming('$rtrim', false, true),
};

function trimming(name: string, left: boolean, right: boolean): FunctionDefinition {
  return {
    mql: (operand, { at, parse }) => {
      const given = namedFields(operand, trimFields);
      const chars = given.get('chars');
      const args = [parse(given.get('input')!), ...(chars === undefined ? [] : [parse(chars)])];
      return call(`agg.${name.slice(1)}`, args, at);
    },
    size: 'grows',
    numberTypes: 'none',
    eager: (...args) => trim(name, args, left, right),
  };
}

function trim(name: string, args: readonly Maybe[], left: boolean, right: boolean): Maybe {
  const [text, chars] = args;
  if (isNullish(text)) return null;
  if (typeof text !== 'string')
    throw new QueryError(50699, `${name} requires its input to be a string, found: ${typeName(text)}`);
  let cut: ReadonlySet<string> = whiteSpace;
  if (args.length > 1) {
    if (isNullish(chars)) return null;
    if (typeof chars !== 'string')
      throw new QueryError(50700, `${name} requires 'chars' to be a string, found: ${typeName(chars)}`);
    cut = new Set(chars);
  }
  let start = 0;
  let end = text.length;
  while (left && start < end) {
    const char = String.fromCodePoint(text.codePointAt(start)!);
    if (!cut.has(char)) break;
    start += char.length;
  }
  while (right && end > start) {
    const pair = end - start > 1 ? String.fromCodePoint(text.codePointAt(end - 2)!) : '';
    const char = pair.length === 2 ? pair : text[end - 1]!;
    if (!cut.has(char)) break;
    end -= char.length;
  }
  return text.slice(start, end);
}
