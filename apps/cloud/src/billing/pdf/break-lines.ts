/** Breaks text into lines: after spaces, between Chinese, Japanese and Thai words, and within words that are longer than a line. */
import type { FontFiles } from './fonts.ts';
import { type Paragraph, paragraphOf, type Run, runsOf } from './split-runs.ts';

export interface Line {
  /** From left to right. */
  readonly runs: readonly Run[];
  /** Points. */
  readonly width: number;
  readonly isRightToLeft: boolean;
}

export interface Measure extends Pick<FontFiles, 'fileOf'> {
  /** Points. */
  widthOf(run: Run): number;
}

const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const breaksBefore = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Returns at least one line. Line feeds begin a new paragraph. @param width points */
export function breakLines(text: string, width: number, measure: Measure): Line[] {
  return text.split('\n').flatMap((part) => breakParagraph(paragraphOf(part), width, measure));
}

function breakParagraph(paragraph: Paragraph, width: number, measure: Measure): Line[] {
  const lines: Line[] = [];
  let [start, used] = [0, 0];
  const end = (at: number): void => {
    lines.push(lineOf(paragraph, start, at, measure));
    [start, used] = [at, 0];
  };
  for (const [from, to] of pieces(paragraph.text)) {
    const needed = widthOf(paragraph, from, withoutBlanks(paragraph.text, from, to), measure);
    if (used > 0 && used + needed > width) end(from);
    if (needed <= width) used += widthOf(paragraph, from, to, measure);
    else
      for (const { index, segment } of graphemes.segment(paragraph.text.slice(from, to))) {
        const wide = widthOf(paragraph, from + index, from + index + segment.length, measure);
        if (used > 0 && used + wide > width) end(from + index);
        used += wide;
      }
  }
  end(paragraph.text.length);
  return lines;
}

/** Parts that must not be broken, with the spaces that follow them. */
function pieces(text: string): readonly (readonly [from: number, to: number])[] {
  const starts = [0];
  let before = '';
  for (const { index, segment } of words.segment(text)) {
    const mayBreak = /\s$/u.test(before) || (breaksBefore.test(segment) && !/\p{Ps}$/u.test(before));
    if (index > 0 && mayBreak && !/^\s/u.test(segment)) starts.push(index);
    before = segment;
  }
  return starts.map((from, nth) => [from, starts[nth + 1] ?? text.length] as const);
}

function withoutBlanks(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}

function widthOf(paragraph: Paragraph, from: number, to: number, measure: Measure): number {
  return runsOf(paragraph, from, to, measure).reduce((sum, run) => sum + measure.widthOf(run), 0);
}

function lineOf(paragraph: Paragraph, from: number, to: number, measure: Measure): Line {
  const runs = runsOf(paragraph, from, withoutBlanks(paragraph.text, from, to), measure);
  const width = runs.reduce((sum, run) => sum + measure.widthOf(run), 0);
  return { runs, width, isRightToLeft: paragraph.isRightToLeft };
}
