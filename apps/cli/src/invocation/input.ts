/** The input of a command: a named file, or `-` for standard input. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { invalidArgument } from '@platform/base/refusals';
import { asPlatformError, type JsonObject, type JsonValue, readJson } from '@platform/sdk/cloud';
import type { Invocation } from '../settings.ts';

type Input = Pick<Invocation, 'stdin'>;

/** Text without the byte order mark that some editors write. @throws invalid_argument with the reason: unreadable, or not UTF-8 */
export async function readInput(file: string, input: Input): Promise<string> {
  return textOf(await readBytes(file, input), file);
}

/** The same for a file that is never standard input. */
export async function readTextFile(file: string): Promise<string> {
  return textOf(await unlessUnreadable(file, readFile(file)), file);
}

function textOf(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (caught) {
    throw invalidArgument(
      `${file === '-' ? 'standard input' : file}: expected text in UTF-8, found other bytes: save it as UTF-8`,
      caught,
    );
  }
}

/** Unchanged. @throws invalid_argument if the file cannot be read */
export function readBytes(file: string, { stdin }: Input): Promise<Buffer> {
  // Not /dev/stdin: it cannot be opened if standard input is a socket.
  return unlessUnreadable(file, file === '-' ? buffer(stdin) : readFile(file));
}

async function unlessUnreadable(file: string, bytes: Promise<Buffer>): Promise<Buffer> {
  try {
    return await bytes;
  } catch (caught) {
    throw invalidArgument(
      `expected a file that can be read (- for standard input), found ${file}: ${(caught as Error).message}`,
      caught,
    );
  }
}

/** @param where for the message. @throws invalid_argument with line and column of the mistake */
export function parseJson(text: string, where: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (caught) {
    throw invalidArgument(`${where}: expected JSON, found a mistake: ${mistakeIn(text, caught)}`);
  }
}

/** Our reader reports the line and column, which most messages of JSON.parse lack. */
function mistakeIn(text: string, caught: unknown): string {
  try {
    readJson(text);
    return asPlatformError(caught).message;
  } catch (placed) {
    return asPlatformError(placed).message;
  }
}

/** The JSON object in a file that is to be saved; see `parseSaved`. */
export async function readSaved(file: string, input: Input): Promise<JsonObject> {
  return parseSaved(await readInput(file, input), file === '-' ? 'standard input' : file);
}

/** @throws invalid_argument unless it is a JSON object in which each key appears once */
export function parseSaved(text: string, where: string): JsonObject {
  const object = parseObject(text, where);
  try {
    // JSON.parse silently takes the last of two equal keys.
    readJson(text);
  } catch (caught) {
    throw invalidArgument(`${where}: ${asPlatformError(caught).message}`, caught);
  }
  return object;
}

/** @throws invalid_argument unless it is a JSON object */
export function parseObject(text: string, where: string): JsonObject {
  const value = parseJson(text, where);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidArgument(`${where}: expected a JSON object, found ${text.trim().slice(0, 40)}`);
}
