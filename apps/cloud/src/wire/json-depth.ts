/** Limits the nesting of JSON that users save to what every public client can read back. */
import { invalidArgument } from '@platform/base';

/**
 * In a message, each level of JSON takes three messages (Struct, its entry, Value), and decoders stop at 100. This many levels fit
 * together with the surrounding messages.
 */
export const maxJsonDepth = 30;

/**
 * @param what names the value, for the error. @throws invalid_argument, with the path, if objects and lists are nested too deeply. Never
 * recurses.
 */
export function requireJsonDepth(value: unknown, what: string): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxJsonDepth) {
      throw invalidArgument(
        `${what}: ${pathTo(value, maxJsonDepth)}: expected objects and lists nested at most ${maxJsonDepth} levels deep, found more: public clients could not read it`,
      );
    }
    level = level.flatMap((one) => (isNested(one) ? Object.values(one) : []));
  }
}

/** Whether the objects and lists of a JSON text are nested more deeply than this. Reads the text only that far, and never recurses. */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) isText = !isText;
    else if (isText && code === backslash) at++;
    else if (isText) continue;
    else if (code === openBrace || code === openBracket) {
      if (++depth > levels) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [34, 92, 123, 125, 91, 93];

/** The path of the first value at this depth. */
function pathTo(value: unknown, depth: number): string {
  const open: { readonly value: unknown; readonly depth: number; readonly path: string }[] = [
    { value, depth: 0, path: '$' },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: one, depth: found, path } = next;
    if (found === depth) return path;
    if (!isNested(one)) continue;
    for (const [key, inner] of Object.entries(one).toReversed())
      if (isNested(inner))
        open.push({ value: inner, depth: found + 1, path: Array.isArray(one) ? `${path}[${key}]` : `${path}.${key}` });
  }
  return '$';
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
