/** The position of the SQL parser: looks at tokens, takes them, and reports what was expected instead. */

import { maxDepth } from '../../bson/decode.ts';
import { malformed, type QueryError } from '../../query-error.ts';
import type { Query } from './ast.ts';
import { dialectHintFor } from './dialect-hints.ts';
import { nearest, reserved } from './keywords.ts';
import type { Token } from './lex.ts';

export class Cursor {
  readonly #tokens: readonly Token[];
  readonly #parseQuery: (cursor: Cursor) => Query;
  #at = 0;
  #depth = 0;

  /** @param parseQuery parses a whole query, because expressions and FROM may contain queries. */
  constructor(tokens: readonly Token[], parseQuery: (cursor: Cursor) => Query) {
    this.#tokens = tokens;
    this.#parseQuery = parseQuery;
  }

  query(): Query {
    return this.#parseQuery(this);
  }

  /** The next token, or one further ahead. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  /** The token this many positions before the next one; undefined before the first. */
  before(back: number): Token | undefined {
    return this.#tokens[this.#at - back];
  }

  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    if (token.kind === 'symbol') return token.text === text;
    return token.kind === 'word' && token.text.toUpperCase() === text;
  }

  /** Takes the words or symbols if all of them come next. */
  take(...texts: string[]): boolean {
    if (!texts.every((text, index) => this.is(text, index))) return false;
    this.#at += texts.length;
    return true;
  }

  /** Runs the parser of a nested part: nesting of queries, tables and expressions counts together. @throws QueryError if it is too deep */
  nested<T>(read: () => T): T {
    if (this.#depth >= maxDepth) {
      const found = this.peek().kind === 'end' ? 'the end of the text' : `'${this.peek().text.slice(0, 80)}'`;
      throw fault(
        this.peek(),
        `queries and expressions can be nested at most ${maxDepth} levels deep, found ${found} at level ${maxDepth + 1}`,
        'name inner queries with WITH, or use IN for lists',
      );
    }
    this.#depth++;
    const value = read();
    this.#depth--;
    return value;
  }

  expect(text: string, where: string): Token {
    if (this.is(text)) return this.next();
    throw this.unexpected(`${text} ${where}`, [text]);
  }

  /** A name: quoted, or a bare word that is not reserved. */
  name(what: string): string {
    const token = this.peek();
    if (token.kind === 'quoted') return this.next().text;
    if (token.kind === 'word' && !reserved.has(token.text.toUpperCase())) return this.next().text;
    if (token.kind === 'word') {
      throw fault(
        token,
        `expected ${what}, found the keyword ${token.text}`,
        `to use it as a name, write \`${token.text}\``,
      );
    }
    throw this.unexpected(what);
  }

  /** @param hint precedes any hint derived from the token. */
  unexpected(expected: string, words: Iterable<string> = reserved, hint?: string): QueryError {
    const token = this.peek();
    const found =
      token.kind === 'end'
        ? 'the end of the text'
        : token.kind === 'string'
          ? `the string '${token.text}'`
          : `'${token.text}'`;
    const meant = token.kind === 'word' ? nearest(token.text, words) : undefined;
    const same = meant !== undefined && meant === token.text.toUpperCase();
    const reason = `expected ${expected}, found ${found}`;
    return fault(
      token,
      reason,
      hint ?? dialectHintFor(this) ?? (meant === undefined || same ? undefined : `did you mean ${meant}?`),
    );
  }
}

/** Parses items separated by commas. Long lists are refused before they are compared with each other. */
export function listed<T>(cursor: Cursor, what: string, most: number, read: () => T): T[] {
  const items: T[] = [];
  do {
    if (items.length >= most) throw fault(cursor.peek(), `${what} can have at most ${most} items`);
    items.push(read());
  } while (cursor.take(','));
  return items;
}

export function fault(token: Token, reason: string, hint?: string): QueryError {
  const { line, column } = token;
  return malformed(reason, hint === undefined ? { line, column } : { line, column, hint });
}
