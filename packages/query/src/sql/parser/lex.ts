/** Splits SQL text into tokens with positions. */

import { malformed, QueryError } from '../../query-error.ts';

export interface Token {
  /** `word` is a bare identifier or keyword, `quoted` an identifier in backticks or double quotes. */
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'end';
  /** Without quotes and with escapes resolved. */
  readonly text: string;
  /** For a quoted name: a name in backticks cannot be a string of another dialect. */
  readonly quote?: '`' | '"';
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** A statement with more is refused: reading takes about 2 µs for each. */
export const maxTokens: number = 50_000;

const symbols: RegExp = /<>|<=|>=|=>|==|!=|\|\||&&|->>|->|@>|::!|::|[-+*/%(),.=<>[\]{}:;~]/y;
const word: RegExp = /[A-Za-z_$][\w$]*/y;
const number: RegExp = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const space: RegExp = /(?:\s+|--[^\n\r]*)+/y;
const commentMark: RegExp = /\/\*|\*\//g;

export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const advance = (length: number): void => {
    for (const end = at + length; at < end; at++) {
      if (text[at] !== '\n') continue;
      line++;
      lineStart = at + 1;
    }
  };
  for (;;) {
    advance(match(space)?.length ?? 0);
    const place = { line, column: at - lineStart + 1 };
    const char = text[at];
    if (tokens.length === maxTokens && char !== undefined)
      throw new QueryError(
        'BSONObjectTooLarge',
        `a statement can have at most ${maxTokens} words, values and symbols`,
        place,
      );
    if (text.startsWith('/*', at)) {
      advance(commentLength(text, at, place));
      continue;
    }
    if (char === undefined) return [...tokens, { kind: 'end', text: '', ...place }];
    if (char === "'" || char === '"' || char === '`') {
      const { content, length } = quoted(text, at, place);
      tokens.push(
        char === "'"
          ? { kind: 'string', text: content, ...place }
          : { kind: 'quoted', text: content, quote: char, ...place },
      );
      advance(length);
      continue;
    }
    const found = match(number) ?? match(word) ?? match(symbols);
    if (found === undefined) {
      const hint = 'wrap names with special characters in backticks';
      throw malformed(`unexpected character '${char}'`, { ...place, hint });
    }
    const kind = /^\.?\d/.test(found) ? 'number' : /^[\w$]/.test(found) ? 'word' : 'symbol';
    advance(found.length);
    if (kind === 'number' && /[A-Za-z_]/.test(text[at] ?? '')) {
      throw malformed(`a number is followed by '${text[at]}'`, {
        ...place,
        hint: 'a name that starts with a digit must be wrapped in backticks or double quotes',
      });
    }
    tokens.push({ kind, text: found, ...place });
  }
}

/** Comments may be nested. */
function commentLength(text: string, start: number, place: { line: number; column: number }): number {
  let depth = 0;
  let isNested = false;
  commentMark.lastIndex = start;
  for (let mark = commentMark.exec(text); mark !== null; mark = commentMark.exec(text)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return commentMark.lastIndex - start;
    isNested ||= depth > 1;
  }
  const hint = isNested ? 'comments may be nested: close each with */' : 'close the comment with */';
  throw malformed('the comment that starts here does not end', { ...place, hint });
}

/** A quote inside is doubled. */
function quoted(
  text: string,
  start: number,
  place: { line: number; column: number },
): { content: string; length: number } {
  const quote = text[start]!;
  let content = '';
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== quote) content += text[at];
    else if (text[at + 1] === quote) {
      content += quote;
      at++;
    } else return { content, length: at + 1 - start };
  }
  const hint = quote === "'" ? "write a quote inside a string twice: ''" : `close it with ${quote}`;
  throw malformed(`the ${quote === "'" ? 'string' : 'name'} that starts here does not end`, {
    ...place,
    hint,
  });
}
