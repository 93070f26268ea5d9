/** $trim, $ltrim, $rtrim. Arguments: the text, and the characters to cut off if they are given. */

import { isNullish, typeName } from '../../../bson/type.ts';
import type { Maybe } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import type { Eager } from '../registry.ts';

/** What counts as white space: the null byte and the spaces of Unicode up to the hair space. */
const whiteSpace = new Set(
  '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
);

export const stringTrim: Readonly<Record<string, Eager>> = {
  'agg.trim': (...args) => trim('$trim', args, true, true),
  'agg.ltrim': (...args) => trim('$ltrim', args, true, false),
  'agg.rtrim': (...args) => trim('$rtrim', args, false, true),
};

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
