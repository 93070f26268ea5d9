/** A tagged PDF of A4 pages with lines of text in any script. All lengths are in points. */
import { getOrInsert } from '@platform/base';
import PDFDocument from 'pdfkit';
import { breakLines, type Line, type Measure } from './break-lines.ts';
import { type FontFiles, openFonts } from './fonts.ts';
import { paragraphOf, type Run, runsOf } from './split-runs.ts';

export type Weight = 'regular' | 'bold';

export interface Style {
  readonly size: number;
  readonly weight: Weight;
  readonly color?: string;
  /** Default: where the text begins. */
  readonly align?: 'left' | 'right';
}

export interface Sheet {
  readonly document: PDFKit.PDFDocument;
  lines(text: string, width: number, style: Style): Line[];
  /** Draws lines below each other. */
  draw(lines: readonly Line[], x: number, top: number, width: number, style: Style): void;
  heightOf(lines: readonly Line[], style: Style): number;
  /** The bytes, once everything is written. */
  finish(): Promise<Buffer>;
}

export const page: { readonly width: number; readonly height: number; readonly margin: number } = {
  width: 595,
  height: 842,
  margin: 50,
};

const weights: Readonly<Record<Weight, number>> = { regular: 400, bold: 700 };
const lineHeight = 1.35;
/** From the top of a line to its baseline. */
const ascent = 1.05;

export interface About {
  readonly title: string;
  readonly author: string;
  readonly createdMs: number;
}

/** @param texts everything that will be written, by weight: only these characters are embedded */
export async function openSheet(about: About, texts: Readonly<Record<Weight, readonly string[]>>): Promise<Sheet> {
  const fonts = await openFonts([...texts.regular, ...texts.bold].map((text) => text.normalize('NFC')));
  const document = new PDFDocument({
    ...{ size: [page.width, page.height], margin: 0, autoFirstPage: false, bufferPages: true },
    ...{ pdfVersion: '1.7', tagged: true, lang: 'en', displayTitle: true },
    info: { Title: about.title, Author: about.author, CreationDate: new Date(about.createdMs) },
  });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => document.once('end', resolve).once('error', reject));
  for (const weight of ['regular', 'bold'] as const) {
    const used = charactersByFile(texts[weight], fonts);
    for (const [file, characters] of used)
      document.registerFont(`${file} ${weight}`, await fonts.subset(file, characters, weights[weight]));
  }
  const widths = new Map<string, number>();
  const measure = ({ size, weight }: Style): Measure => ({
    fileOf: (codePoint) => fonts.fileOf(codePoint),
    widthOf({ file, text }) {
      const font = `${file} ${weight}`;
      const key = `${font} ${text}`;
      // With a feature list, text is laid out as one run, so that spaces do not change the order of right-to-left words.
      const perPoint = widths.get(key) ?? document.font(font).fontSize(1).widthOfString(text, { features: [] });
      widths.set(key, perPoint);
      return perPoint * size;
    },
  });
  return {
    document,
    lines: (text, width, style) => breakLines(text, width, measure(style)),
    heightOf: (lines, { size }) => lines.length * size * lineHeight,
    draw(lines, x, top, width, style) {
      const { widthOf } = measure(style);
      const { size, weight, color = '#111111' } = style;
      document.fillColor(color);
      for (const [nth, line] of lines.entries()) {
        const isRight = style.align === undefined ? line.isRightToLeft : style.align === 'right';
        let at = x + (isRight ? width - line.width : 0);
        const baseline = top + nth * size * lineHeight + size * ascent;
        for (const run of line.runs) {
          const wide = widthOf(run);
          document.font(`${run.file} ${weight}`).fontSize(size);
          document.text(run.text, at, baseline, { lineBreak: false, features: [], baseline: 'alphabetic' });
          at += wide;
        }
      }
    },
    async finish() {
      document.end();
      await ended;
      return Buffer.concat(chunks);
    },
  };
}

function charactersByFile(texts: readonly string[], fonts: FontFiles): ReadonlyMap<string, string> {
  const used = new Map<string, Set<string>>();
  for (const part of texts.flatMap((text) => text.split('\n'))) {
    const paragraph = paragraphOf(part);
    for (const run of runsOf(paragraph, 0, paragraph.text.length, fonts)) addRun(used, run);
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, set]) => [file, [...set].sort().join('')]));
}

function addRun(used: Map<string, Set<string>>, { file, text }: Run): void {
  const characters = getOrInsert(used, file, () => new Set());
  for (const character of text) characters.add(character);
}
