/** Places in bundles, as those of the sources. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { originalPlaces, type SourceMap } from './original-places.ts';

/** Bundles and their maps are in one folder, which has nothing else. */
const folder = new URL('.', import.meta.url).href;
const inBundle = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/;

/** What places read as that were looked up. */
const known = new Map<string, string>();
const maxKnown = 2_000;

/** @param frames of a stack trace, each with at most one place `file:///…/cloud.js:line:column` */
export function inSources(frames: readonly string[]): string[] {
  const places = frames.flatMap((frame) => {
    const [place = '', file = '', line, column] = inBundle.exec(frame) ?? [];
    if (!file.startsWith(folder) || known.has(place)) return [];
    return [{ place, file, line: Number(line), column: Number(column) }];
  });
  if (known.size > maxKnown) known.clear();
  for (const [file, some] of Map.groupBy(places, (one) => one.file)) {
    const found = originalPlaces(mapOf(file), some);
    for (const [at, { place }] of some.entries()) known.set(place, found[at] ?? place);
  }
  return frames.map((frame) => frame.replace(inBundle, (place) => known.get(place) ?? place));
}

/** Without its map, a trace names the bundle. */
function mapOf(file: string): SourceMap {
  try {
    return JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMap;
  } catch {
    return { sources: [], mappings: '' };
  }
}
