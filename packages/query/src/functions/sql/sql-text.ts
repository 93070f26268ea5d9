/** SQL texts. Null or missing arguments give null; positions count characters from 0, as in the reference dialect. */

import { compileRegex } from '../../bson/compile-regex.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { Int32, type Maybe, Regex } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { booleans, wholeNumbers } from '../../sql/types/kind.ts';
import { measuring, named, stringType, textOrNull, textual } from '../../sql/types/signature.ts';
import { type Eager, eager, type Functions } from '../definition.ts';
import { plainNumber } from '../numbers/number.ts';
import { lower, upper } from '../strings/string.ts';
import { textOf } from '../strings/value-text.ts';

export const sqlText: Functions = {
  'sql.like': eager({ sql: { takes: [stringType], gives: booleans }, numberTypes: 'none' }, like),
  'sql.concat': eager(
    { sql: textual, size: 'grows', folding: 'early', numberTypes: 'none' },
    known('||', (...texts) => {
      let text = '';
      for (const each of texts) {
        text += each;
        if (text.length > maxValueBytes) throw tooLarge();
      }
      return text;
    }),
  ),
  'sql.upper': eager(
    { sql: named(textual, ['UPPER', 1, 1], ['UCASE', 1, 1]), size: 'grows', numberTypes: 'none' },
    known('UPPER', upper),
  ),
  'sql.lower': eager(
    { sql: named(textual, ['LOWER', 1, 1], ['LCASE', 1, 1]), size: 'grows', numberTypes: 'none' },
    known('LOWER', lower),
  ),
  'sql.length': eager(
    { sql: named(measuring, ['CHAR_LENGTH', 1, 1], ['CHARACTER_LENGTH', 1, 1], ['LENGTH', 1, 1]), size: 'bounded' },
    known('CHAR_LENGTH', (text) => new Int32(Array.from(text).length)),
  ),
  'sql.octets': eager(
    { sql: named(measuring, ['OCTET_LENGTH', 1, 1]) },
    known('OCTET_LENGTH', (text) => new Int32(byteLength(text))),
  ),
  'sql.bits': eager(
    { sql: named(measuring, ['BIT_LENGTH', 1, 1]) },
    known('BIT_LENGTH', (text) => new Int32(8 * byteLength(text))),
  ),
  'sql.replace': eager(
    { sql: named(textual, ['REPLACE', 3, 3]), numberTypes: 'none' },
    known('REPLACE', (text, from, to) => {
      if (from === '') return text;
      const parts = text.split(from);
      if (text.length + (parts.length - 1) * to.length > maxValueBytes) throw tooLarge();
      return parts.join(to);
    }),
  ),
  'sql.position': eager(
    { sql: measuring },
    known('POSITION', (part, text) => {
      const at = text.indexOf(part);
      return new Int32(at < 0 ? -1 : Array.from(text.slice(0, at)).length);
    }),
  ),
  'sql.trim': eager(
    { sql: textual, numberTypes: 'none' },
    known('TRIM', (text, chars) => trimmed(text, chars, true, true)),
  ),
  'sql.trimStart': eager(
    { sql: textual, numberTypes: 'none' },
    known('TRIM', (text, chars) => trimmed(text, chars, true, false)),
  ),
  'sql.trimEnd': eager(
    { sql: textual, numberTypes: 'none' },
    known('TRIM', (text, chars) => trimmed(text, chars, false, true)),
  ),
  'sql.split': eager(
    {
      sql: { names: [['SPLIT', 3, 3]], takes: [stringType, stringType, wholeNumbers], gives: textOrNull },
      numberTypes: 'none',
    },
    split,
  ),
  'sql.substring': {
    sql: {
      names: [
        ['SUBSTRING', 2, 2, new Int32(-1)],
        ['SUBSTRING', 3, 3],
      ],
      takes: [stringType, wholeNumbers],
      gives: textOrNull,
    },
    size: 'grows',
    numberTypes: 'none',
    eager: substring,
  },
};

function known(name: string, apply: (...texts: string[]) => Maybe): Eager {
  return (...values) => (values.some(isNullish) ? null : apply(...values.map((value) => checkedText(value, name))));
}

function checkedText(value: Maybe, name: string): string {
  const found = textOf(value);
  if (found === undefined) throw new QueryError('TypeMismatch', `${name} takes a string, found ${typeName(value)}`);
  return found;
}

function byteLength(value: string): number {
  return new TextEncoder().encode(value).length;
}

function trimmed(value: string, chars: string, start: boolean, end: boolean): string {
  const dropped = new Set(Array.from(chars));
  const letters = Array.from(value);
  let from = 0;
  let to = letters.length;
  while (start && from < to && dropped.has(letters[from]!)) from++;
  while (end && to > from && dropped.has(letters[to - 1]!)) to--;
  return letters.slice(from, to).join('');
}

/** A negative length means the rest of the text. */
function substring(value: Maybe, start: Maybe, length: Maybe): Maybe {
  if (isNullish(value) || isNullish(start) || isNullish(length)) return null;
  const from = Number(plainNumber(start, 'SUBSTRING', 34450));
  const count = Number(plainNumber(length, 'SUBSTRING', 34452));
  const letters = Array.from(checkedText(value, 'SUBSTRING'));
  const end = count < 0 ? letters.length : from + count;
  return letters.slice(Math.max(0, from), Math.max(0, end)).join('');
}

/** The part with this number; parts count from 0 at the start, from -1 at the end. An empty delimiter splits nothing. */
function split(value: Maybe, delimiter: Maybe, number: Maybe): Maybe {
  if (isNullish(value) || isNullish(delimiter) || isNullish(number)) return null;
  const at = Number(plainNumber(number, 'SPLIT', 28690));
  const between = checkedText(delimiter, 'SPLIT');
  return between === '' ? null : (checkedText(value, 'SPLIT').split(between).at(at) ?? '');
}

/** `%` is any text, `_` one character; the third argument is the escape character. */
function like(value: Maybe, pattern: Maybe, escaping: Maybe): Maybe {
  if (isNullish(value) || isNullish(pattern)) return null;
  const escaped = typeof escaping === 'string' ? escaping : '';
  let source = '';
  const chars = Array.from(checkedText(pattern, 'LIKE'));
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index]!;
    const literal = char === escaped && index + 1 < chars.length;
    if (!literal && char === '%') source += '.*';
    else if (!literal && char === '_') source += '.';
    else source += (literal ? chars[++index]! : char).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  }
  // Ignores case, as in the reference dialect.
  return compileRegex(new Regex(`^${source}$`, 'is'))(checkedText(value, 'LIKE'));
}
