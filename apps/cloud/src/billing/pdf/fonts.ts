/**
 * The fonts of invoices: the Noto Sans family and Vazirmatn (SIL Open Font License 1.1) as npm packages, which split them into files by
 * ranges of characters. Only the files that a document needs are read, and only the characters used are embedded. Arabic uses Vazirmatn
 * because Noto draws many letters with shared shapes, from which text could not be copied.
 *
 * Latin, Greek, Cyrillic, Devanagari, Arabic, Hebrew, Thai, Chinese, Japanese and Korean. Characters shared by Chinese and Japanese have
 * their Chinese shapes. Characters of other scripts show as boxes.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { create, type Font } from 'fontkit';
import subsetFont from 'subset-font';

const require = createRequire(import.meta.url);

/** Which files contain which characters. If several contain one, the first is used. */
const lists = [
  require.resolve('@fontsource-variable/noto-sans/unicode.json'),
  require.resolve('@fontsource-variable/vazirmatn/unicode.json'),
  require.resolve('@fontsource-variable/noto-sans-hebrew/unicode.json'),
  require.resolve('@fontsource-variable/noto-sans-thai/unicode.json'),
  require.resolve('@fontsource-variable/noto-sans-sc/unicode.json'),
  require.resolve('@fontsource-variable/noto-sans-kr/unicode.json'),
];

export interface FontFiles {
  /** Name of the file that contains the character; the Latin file if none does. */
  fileOf(codePoint: number): string;
  /** A TrueType font with these characters. */
  subset(file: string, text: string, weight: number): Promise<Buffer>;
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly file: string;
}

interface Index {
  readonly paths: ReadonlyMap<string, string>;
  readonly ranges: readonly Range[];
}

const latin = 'noto-sans-latin';
let index: Promise<Index> | undefined;
/** The file of each character looked up so far. */
const known = new Map<number, string>();
const maxKnown = 100_000;

/** @param texts everything that will be written */
export async function openFonts(texts: readonly string[]): Promise<FontFiles> {
  index ??= readIndex();
  const { paths, ranges } = await index;
  if (known.size > maxKnown) known.clear();
  const files = new Map<string, Font>();
  const fileOf = new Map<number, string>();
  for (const codePoint of new Set([...texts.join('')].map((character) => character.codePointAt(0) ?? 0))) {
    const file = known.get(codePoint) ?? (await fileWith(codePoint, ranges, paths, files)) ?? latin;
    known.set(codePoint, file);
    fileOf.set(codePoint, file);
  }
  return {
    fileOf: (codePoint) => fileOf.get(codePoint) ?? latin,
    async subset(file, text, weight) {
      const font = await readFile(pathOf(file, paths));
      return await subsetFont(font, text, { targetFormat: 'sfnt', variationAxes: { wght: weight } });
    },
  };
}

/** The packages' lists name more characters than their files contain. */
async function fileWith(
  codePoint: number,
  ranges: readonly Range[],
  paths: Index['paths'],
  files: Map<string, Font>,
): Promise<string | undefined> {
  for (const { first, last, file } of ranges) {
    if (codePoint < first || last < codePoint) continue;
    const font = files.get(file) ?? (create(await readFile(pathOf(file, paths))) as Font);
    files.set(file, font);
    if (font.hasGlyphForCodePoint(codePoint)) return file;
  }
  return undefined;
}

function pathOf(file: string, paths: Index['paths']): string {
  const path = paths.get(file);
  if (path === undefined) throw new Error(`${file}: expected a font file, found none`);
  return path;
}

async function readIndex(): Promise<Index> {
  const paths = new Map<string, string>();
  const ranges: Range[] = [];
  for (const list of lists) {
    const folder = dirname(list);
    const family = basename(folder);
    const listed: Readonly<Record<string, string>> = JSON.parse(await readFile(list, 'utf8'));
    for (const [part, given] of Object.entries(listed)) {
      const file = `${family}-${part.replaceAll(/[[\]]/g, '')}`;
      paths.set(file, join(folder, 'files', `${file}-wght-normal.woff2`));
      for (const range of given.split(',')) {
        const [first = '', last = first] = range.replace('U+', '').split('-');
        ranges.push({ first: Number.parseInt(first, 16), last: Number.parseInt(last, 16), file });
      }
    }
  }
  return { paths, ranges };
}
