/** Splits text into runs of one font and one direction, and puts the runs of a line into drawing order. */
import bidiFactory from 'bidi-js';
import type { FontFiles } from './fonts.ts';

export interface Run {
  readonly file: string;
  /** The text as passed to the font. */
  readonly text: string;
  /** Level of the Unicode bidirectional algorithm: odd levels run right to left. */
  readonly level: number;
}

export interface Paragraph {
  /** In reading order. */
  readonly text: string;
  readonly levels: Uint8Array;
  readonly isRightToLeft: boolean;
}

const bidi = bidiFactory();
/** Control characters that are not drawn, except the joiners that words of some scripts need. */
const unseen = /[\p{Cc}\p{Cf}]/gu;

export function paragraphOf(given: string): Paragraph {
  const text = given
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(unseen, (one) => (one === '\u200c' || one === '\u200d' ? one : ''));
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text);
  return { text, levels, isRightToLeft: (paragraphs[0]?.level ?? 0) % 2 === 1 };
}

/** The runs from one UTF-16 unit to another, from left to right. */
export function runsOf(
  { text, levels }: Paragraph,
  start: number,
  end: number,
  fonts: Pick<FontFiles, 'fileOf'>,
): Run[] {
  const runs: { file: string; level: number; text: string }[] = [];
  let at = start;
  for (const character of text.slice(start, end)) {
    const level = levels[at] ?? 0;
    at += character.length;
    const last = runs.at(-1);
    // A mark is drawn onto the preceding character, in the same font.
    const file =
      last !== undefined && /[\p{M}\u200c\u200d]/u.test(character)
        ? last.file
        : fonts.fileOf(character.codePointAt(0) ?? 0);
    if (last?.file === file && last.level === level) last.text += character;
    else runs.push({ file, level, text: character });
  }
  return inDrawingOrder(runs.map((run) => (run.level % 2 === 1 ? reversed(run) : run)));
}

/** Fonts reverse words of right-to-left scripts themselves; punctuation and spaces between them must be reversed here. */
function reversed(run: Run): Run {
  const isTurnedByFont = /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(run.text);
  const mirrored = [...run.text].map((one) => bidi.getMirroredCharacter(one) ?? one);
  return { ...run, text: (isTurnedByFont ? mirrored : mirrored.reverse()).join('') };
}

/** Rule L2: from the highest level down to the lowest odd one, reverses everything at that level or above. */
function inDrawingOrder(given: readonly Run[]): Run[] {
  const runs = [...given];
  const levels = runs.map(({ level }) => level);
  for (let level = Math.max(0, ...levels); level > 0; level--)
    for (let from = 0; from < runs.length; from++) {
      if ((runs[from]?.level ?? 0) < level) continue;
      let to = from;
      while (to < runs.length && (runs[to]?.level ?? 0) >= level) to++;
      runs.splice(from, to - from, ...runs.slice(from, to).reverse());
      from = to;
    }
  return runs;
}
