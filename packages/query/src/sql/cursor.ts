/** Where the parser of SQL is: looking at tokens, taking them, and saying what was expected instead. */

import { QueryError } from '../query-error.ts';
import { nearest, reserved } from './keywords.ts';
import type { Token } from './lex.ts';

export class Cursor {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The token that comes next, or one further on. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
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

  unexpected(expected: string, words: Iterable<string> = reserved): QueryError {
    const token = this.peek();
    const found =
      token.kind === 'end'
        ? 'the end of the text'
        : token.kind === 'string'
          ? `the string '${token.text}'`
          : `'${token.text}'`;
    const meant = token.kind === 'word' ? nearest(token.text, words) : undefined;
    const same = meant !== undefined && meant === token.text.toUpperCase();
    return fault(
      token,
      `expected ${expected}, found ${found}`,
      meant === undefined || same ? undefined : `did you mean ${meant}?`,
    );
  }
}

/** Reads items between commas. Long lists are refused before they are compared with each other. */
export function listed<T>(cursor: Cursor, what: string, most: number, read: () => T): T[] {
  const items: T[] = [];
  do {
    if (items.length >= most) throw fault(cursor.peek(), `${what} may have ${most} items`);
    items.push(read());
  } while (cursor.take(','));
  return items;
}

export function fault(token: Token, reason: string, hint?: string): QueryError {
  const { line, column } = token;
  return new QueryError('FailedToParse', reason, hint === undefined ? { line, column } : { line, column, hint });
}
