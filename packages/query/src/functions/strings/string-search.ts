/** $indexOfBytes, $indexOfCP, $split, $replaceOne, $replaceAll. */

import { compileRegexSearch, type RegexMatch } from '../../bson/compile-regex.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { Int32, type Maybe, Regex } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions } from '../definition.ts';
import { type Fields, fieldsInOrder } from '../named-fields.ts';
import { requirePlace } from '../numbers/number.ts';
import { afterCodePoints, countCodePoints, unitsAt, utf8Length } from './code-points.ts';
import { indexOf, searcher } from './index-of.ts';

const replaceFields: Fields = {
  required: { input: 51749, find: 51748, replacement: 51747 },
  notObject: 51751,
  unknown: 51750,
};

export const stringSearch: Functions = {
  'agg.indexOfBytes': eager({ mql: [2, 4] }, (...args) => {
    const [text, sought] = args;
    if (isNullish(text)) return null;
    if (typeof text !== 'string') throw notText(40091, '$indexOfBytes', 'first', text);
    if (typeof sought !== 'string') throw notText(40092, '$indexOfBytes', 'second', sought);
    const start = args.length > 2 ? requirePlace(args[2], 'the starting index of $indexOfBytes', 40096, 40097) : 0;
    const end = Math.min(
      args.length > 3 ? requirePlace(args[3], 'the ending index of $indexOfBytes', 40096, 40097) : text.length * 3,
      utf8Length(text),
    );
    if (start > end) return new Int32(-1);
    // A text with one character per byte can find a position inside a character.
    const found = indexOf(binaryText(text).slice(0, end), binaryText(sought), start);
    return new Int32(found);
  }),
  /** A match must begin before the end, but may extend beyond it, as in MongoDB. */
  'agg.indexOfCP': eager({ mql: [2, 4] }, (...args) => {
    const [text, sought] = args;
    if (isNullish(text)) return null;
    if (typeof text !== 'string') throw notText(40093, '$indexOfCP', 'first', text);
    if (typeof sought !== 'string') throw notText(40094, '$indexOfCP', 'second', sought);
    const start = args.length > 2 ? requirePlace(args[2], 'the starting index of $indexOfCP', 40096, 40097) : 0;
    const end =
      args.length > 3
        ? requirePlace(args[3], 'the ending index of $indexOfCP', 40096, 40097)
        : Number.POSITIVE_INFINITY;
    if (text === '' && sought === '') return new Int32(0);
    const from = afterCodePoints(text, 0, start);
    if (from >= text.length) return new Int32(-1);
    const found = indexOf(text, sought, from);
    if (found < 0) return new Int32(-1);
    const place = start + countCodePoints(text, from, found);
    return new Int32(place < end ? place : -1);
  }),
  'agg.split': eager({ mql: 2, size: 'grows', numberTypes: 'none' }, (text, delimiter) => {
    if (isNullish(text) || isNullish(delimiter)) return null;
    if (typeof text !== 'string') throw notText(40085, '$split', 'first', text);
    if (typeof delimiter !== 'string' && !(delimiter instanceof Regex))
      throw notText(10503900, '$split', 'second', delimiter);
    if (delimiter === '') throw new QueryError(40087, '$split requires a separator that is not empty');
    const pieces: string[] = [];
    let at = 0;
    for (const { start, end, groups } of matches(text, delimiter)) {
      pieces.push(text.slice(at, start), ...groups.map((group) => group ?? ''));
      at = end;
      if (pieces.length * 24 > maxValueBytes) throw tooLarge();
    }
    return [...pieces, text.slice(at)];
  }),
  'agg.replaceOne': eager(
    {
      mql: fieldsInOrder('agg.replaceOne', replaceFields),
      size: 'grows',
      numberTypes: 'none',
    },
    (...args) => replace('$replaceOne', args, 1),
  ),
  'agg.replaceAll': eager(
    {
      mql: fieldsInOrder('agg.replaceAll', replaceFields),
      size: 'grows',
      numberTypes: 'none',
    },
    (...args) => replace('$replaceAll', args, Number.POSITIVE_INFINITY),
  ),
};

function replace(name: string, [text, find, replacement]: readonly Maybe[], most: number): Maybe {
  if (!isNullish(text) && typeof text !== 'string')
    throw new QueryError(10503904, `${name} requires 'input' to be a string, found: ${typeName(text)}`);
  if (!isNullish(find) && typeof find !== 'string' && !(find instanceof Regex))
    throw new QueryError(10503901, `${name} requires 'find' to be a string or a regex, found: ${typeName(find)}`);
  if (!isNullish(replacement) && typeof replacement !== 'string')
    throw new QueryError(10503902, `${name} requires 'replacement' to be a string, found: ${typeName(replacement)}`);
  if (typeof text !== 'string' || typeof replacement !== 'string') return null;
  if (typeof find !== 'string' && !(find instanceof Regex)) return null;
  let result = '';
  let at = 0;
  let count = 0;
  for (const { start, end } of matches(text, find)) {
    result += text.slice(at, start) + replacement;
    at = end;
    if (result.length > maxValueBytes) throw tooLarge();
    if (++count >= most) break;
  }
  return result + text.slice(at);
}

/** From left to right, without overlaps; an empty text is found before each code point and at the end. */
function* matches(text: string, sought: string | Regex): Generator<RegexMatch> {
  const next = typeof sought === 'string' ? textSearch(sought) : compileRegexSearch(sought);
  for (let at = 0; at <= text.length; ) {
    const found = next(text, at);
    if (found === undefined) return;
    yield found;
    at = found.end > found.start ? found.end : found.end + unitsAt(text, found.end);
  }
}

function textSearch(sought: string): (text: string, from: number) => RegexMatch | undefined {
  const search = searcher(sought);
  return (text, from) => {
    const start = search(text, from);
    return start < 0 ? undefined : { start, end: start + sought.length, groups: [] };
  };
}

function binaryText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: tests for ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return new TextDecoder('latin1').decode(new TextEncoder().encode(text));
}

function notText(code: number, name: string, which: string, value: Maybe): QueryError {
  return new QueryError(code, `${name} requires a string as the ${which} argument, found: ${typeName(value)}`);
}
