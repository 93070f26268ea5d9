/** Finds duplicate keys in an object of a JSON text: only the last one would be used, and the loss of the others would go unnoticed. */
import { invalidArgument, type Problem } from '@platform/base';
import { readJson } from '@platform/machine-config/read-json';

const shownKeys = 20;
const [quote, backslash, colon] = [34, 92, 58];

/** The repeated keys, each with its path and position. @param parsed the result of JSON.parse for the text */
export function repeatedKeys(text: string, parsed: unknown): readonly Problem[] {
  // Rare: reading the text to name them takes ten times as long as JSON.parse.
  if (keysIn(text) === keysOf(parsed)) return [];
  const read = readJson(text);
  return read.kind === 'read' ? read.problems : [];
}

/** @param what names the text, for the error. @throws invalid_argument naming the repeated keys */
export function requireEachKeyOnce(text: string, parsed: unknown, what: string): void {
  const repeated = repeatedKeys(text, parsed);
  if (repeated.length === 0) return;
  const told = repeated.slice(0, shownKeys).map(({ path, message }) => `${path}: ${message}`);
  if (repeated.length > shownKeys) told.push(`… and ${repeated.length - shownKeys} more`);
  throw invalidArgument(`${what}: repeated keys, nothing was saved\n${told.join('\n')}`);
}

/** Number of keys in a JSON text: each is followed by the only colons outside of strings. */
function keysIn(text: string): number {
  let keys = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) isText = !isText;
    else if (isText && code === backslash) at++;
    else if (!isText && code === colon) keys++;
  }
  return keys;
}

/** Number of keys in all objects of a value. Never recurses. */
function keysOf(value: unknown): number {
  let keys = 0;
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    const items = Object.values(one);
    if (!Array.isArray(one)) keys += items.length;
    for (const item of items) if (typeof item === 'object' && item !== null) open.push(item);
  }
  return keys;
}
