/** Converts a text from outside to the document of a reading. */
import { dataLoss, isRecord, jsonIn } from '@platform/base';
import type { Document } from '@platform/resources';
import { type JsonPath, valueAt } from './json-path.ts';

/** Longer texts are truncated in errors. */
const mostShown = 80;

/**
 * An object gives its keys, any other JSON value `value`; with paths, each name gives the value at its path.
 *
 * @param source names where the text comes from, for errors. @throws data_loss
 */
export function valuesOf(text: string, source: string, paths: ReadonlyMap<string, JsonPath>): Document {
  const json = jsonIn(text);
  if (json === undefined) throw dataLoss(`${source}: expected JSON, found ${shown(text)}`);
  if (paths.size === 0) return isRecord(json) ? json : { value: json };
  return Object.fromEntries([...paths].map(([name, path]) => [name, valueAt(json, path, source)]));
}

/** A text in quotes, truncated. */
export function shown(text: string): string {
  return JSON.stringify(text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);
}
