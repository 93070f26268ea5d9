/** $regexMatch, $regexFind, $regexFindAll. Arguments: the text, the pattern, the options (a missing literal if not given). */

import { compileRegexSearch, type RegexMatch } from '../../bson/compile-regex.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, Int32, type Maybe, Regex } from '../../bson/value.ts';
import { constantOf } from '../../execute/expressions/constant.ts';
import { type Evaluate, type Frame, step } from '../../execute/expressions/scope.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { type Functions, lazy } from '../definition.ts';
import { type Fields, fieldsInOrder } from '../named-fields.ts';
import { countCodePoints, unitsAt, utf8Length } from './code-points.ts';

/** MongoDB's limit, lower than in $match. */
const maxPatternBytes = 16_384;

type Search = ReturnType<typeof compileRegexSearch>;

const regexFields: Fields = {
  required: { input: 31022, regex: 31023 },
  optional: ['options'],
  notObject: 51103,
  unknown: 31024,
};

export const regex: Functions = {
  'agg.regexMatch': lazy({ mql: fieldsInOrder('agg.regexMatch', regexFields), numberTypes: 'none' }, (args) => {
    const prepare = prepared('$regexMatch', args);
    return (frame) => {
      const [text, search] = prepare(frame);
      return text !== undefined && search !== undefined && search(text, 0) !== undefined;
    };
  }),
  'agg.regexFind': lazy({ mql: fieldsInOrder('agg.regexFind', regexFields), size: 'grows' }, (args) => {
    const prepare = prepared('$regexFind', args);
    return (frame) => {
      const [text, search] = prepare(frame);
      const match = text === undefined ? undefined : search?.(text, 0);
      return match === undefined ? null : describeMatch(text!, match, countCodePoints(text!, 0, match.start));
    };
  }),
  'agg.regexFindAll': lazy({ mql: fieldsInOrder('agg.regexFindAll', regexFields), size: 'grows' }, (args) => {
    const prepare = prepared('$regexFindAll', args);
    return (frame) => {
      const [text, search] = prepare(frame);
      return text === undefined || search === undefined ? [] : findAll(frame, text, search);
    };
  }),
};

/** Minimum bytes of a match and of each of its groups, counted as they are found. */
const bytesOfMatch = 200;
const bytesOfGroup = 24;

function findAll(frame: Frame, text: string, search: Search): BsonDocument[] {
  const found: BsonDocument[] = [];
  let at = 0;
  let [counted, index, bytes] = [0, 0, 0];
  do {
    step(frame);
    const match = search(text, at);
    if (match === undefined) break;
    index += countCodePoints(text, counted, match.start);
    counted = match.start;
    found.push(describeMatch(text, match, index));
    bytes += bytesOfMatch + match.groups.length * bytesOfGroup;
    if (bytes > maxValueBytes) throw tooLarge();
    at = match.end > match.start ? match.end : match.end + unitsAt(text, match.end);
  } while (at < text.length);
  return found;
}

/** @param index of the match, in code points. */
function describeMatch(text: string, { start, end, groups }: RegexMatch, index: number): BsonDocument {
  const captures = groups.map((group) => group ?? null);
  return BsonDocument.of({ match: text.slice(start, end), idx: new Int32(index), captures });
}

/** The text and the search; undefined if either is null or missing. */
function prepared(
  name: string,
  [input, pattern, options]: readonly Evaluate[],
): (frame: Frame) => readonly [string | undefined, Search | undefined] {
  const [knownPattern, knownOptions] = [constantOf(pattern!), constantOf(options!)];
  const known =
    knownPattern === undefined || knownOptions === undefined
      ? undefined
      : { search: searchOf(name, knownPattern.value, knownOptions.value) };
  return (frame) => {
    const text = input!(frame);
    const search = known === undefined ? searchOf(name, pattern!(frame), options!(frame)) : known.search;
    if (typeof text === 'string') return [text, search];
    if (isNullish(text)) return [undefined, search];
    throw new QueryError(51104, `${name} needs 'input' to be of type string, found ${typeName(text)}`);
  };
}

function searchOf(name: string, pattern: Maybe, options: Maybe): Search | undefined {
  if (!isNullish(pattern) && typeof pattern !== 'string' && !(pattern instanceof Regex))
    throw new QueryError(51105, `${name} needs 'regex' to be of type string or regex, found ${typeName(pattern)}`);
  if (!isNullish(options) && typeof options !== 'string')
    throw new QueryError(51106, `${name} needs 'options' to be of type string, found ${typeName(options)}`);
  if (pattern instanceof Regex && pattern.options !== '' && typeof options === 'string')
    throw new QueryError(51107, `${name} found regex options in both 'regex' and 'options'`);
  if (isNullish(pattern)) return undefined;
  const source = pattern instanceof Regex ? pattern.pattern : String(pattern);
  const flags = typeof options === 'string' ? options : pattern instanceof Regex ? pattern.options : '';
  if (source.includes('\0')) throw new QueryError(51109, `${name}: a pattern must not contain a null byte`);
  if (flags.includes('\0')) throw new QueryError(51110, `${name}: options must not contain a null byte`);
  if (utf8Length(source) > maxPatternBytes)
    throw new QueryError(51111, `${name}: a pattern can have at most ${maxPatternBytes} bytes`);
  try {
    return compileRegexSearch(new Regex(source, flags));
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 51091) throw error;
    throw new QueryError(51111, error.reason, error.hint === undefined ? {} : { hint: error.hint });
  }
}
