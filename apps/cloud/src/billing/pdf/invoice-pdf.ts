/** The PDF of an invoice: tagged, with embedded fonts. The same content and logo give the same bytes. */
import type { InvoiceContent, Row } from './invoice-content.ts';
import { openSheet, page, type Sheet, type Style } from './sheet.ts';

const small: Style = { size: 9, weight: 'regular' };
const strong: Style = { size: 9, weight: 'bold' };
const heading: Style = { size: 18, weight: 'bold' };
const name: Style = { size: 13, weight: 'bold' };
const muted: Style = { size: 8, weight: 'regular', color: '#555555' };
const stamp = 'TEST';

const inner = page.width - 2 * page.margin;
/** Left edge and width within the page, and alignment. */
const columns: readonly { readonly x: number; readonly width: number; readonly align?: 'right' }[] = [
  { x: 0, width: 195 },
  { x: 205, width: 115, align: 'right' },
  { x: 330, width: 80, align: 'right' },
  { x: 420, width: 75, align: 'right' },
];
const bottom = page.height - 70;
const [logoWidth, logoHeight] = [120, 48];
const gap = 5;

/** @param logo PNG or JPEG */
export async function invoicePdf(
  content: InvoiceContent,
  createdMs: number,
  logo: Uint8Array | undefined,
): Promise<Buffer> {
  const about = { title: content.title, author: content.branding, createdMs };
  const sheet = await openSheet(about, textsOf(content));
  const { document } = sheet;
  document.addPage();
  const root = document.struct('Document');
  document.addStructure(root);
  const write = writer(sheet, root);
  writeTop(write, sheet, root, content, logo);
  writeTable(write, sheet, root, content);
  writeEnd(write, sheet, content);
  root.end();
  writePageNumbers(sheet, content);
  return await sheet.finish();
}

interface Writer {
  /** Where the next line begins. */
  y: number;
  /** Writes text as a structure element and moves below it. */
  text(type: string, text: string, style: Style, x?: number, width?: number): void;
}

type Element = PDFKit.PDFStructureElement;

function writer(sheet: Sheet, root: Element): Writer {
  const write: Writer = {
    y: page.margin,
    text(type, text, style, x = page.margin, width = inner) {
      const element = sheet.document.struct(type);
      root.add(element);
      for (const line of sheet.lines(text, width, style)) {
        const height = sheet.heightOf([line], style);
        if (write.y + height > bottom) nextPage(write, sheet);
        element.add(() => sheet.draw([line], x, write.y, width, style));
        write.y += height;
      }
      element.end();
    },
  };
  return write;
}

function nextPage(write: Writer, sheet: Sheet): void {
  sheet.document.addPage();
  write.y = page.margin;
}

function artifact(sheet: Sheet, draw: () => void): void {
  sheet.document.markContent('Artifact', { type: 'Layout' });
  draw();
  sheet.document.endMarkedContent();
}

function writeTop(
  write: Writer,
  sheet: Sheet,
  root: Element,
  content: InvoiceContent,
  logo: Uint8Array | undefined,
): void {
  const { document } = sheet;
  const picture = logo === undefined ? undefined : openPicture(document, logo);
  if (picture !== undefined) {
    // The types lack the box, which figures need.
    const options: object = {
      alt: `Logo of ${content.branding}`,
      bbox: [page.margin, write.y, page.margin + logoWidth, write.y + logoHeight],
    };
    const draw = (): unknown => document.image(picture, page.margin, write.y, { fit: [logoWidth, logoHeight] });
    root.add(document.struct('Figure', options, () => void draw()));
    write.y += logoHeight + 6;
  }
  write.text('P', content.branding, name);
  write.y += 14;
  write.text('H1', content.title, heading);
  write.y += 10;
  const top = write.y;
  const third = inner / 3;
  const column = (nth: number, lines: readonly string[]): number => {
    write.y = top;
    for (const [at, line] of lines.entries())
      write.text('P', line, at === 0 ? strong : small, page.margin + nth * third, third - 15);
    return write.y;
  };
  const facts = content.facts.map(([key, value]) => `${key}: ${value}`);
  write.y = Math.max(
    column(0, ['From', ...content.from]),
    column(1, ['To', ...content.to]),
    column(2, ['Details', ...facts]),
  );
  write.y += 16;
  if (content.description === '') return;
  write.text('P', content.description, small);
  write.y += 10;
}

/** Undefined if it is damaged: an invoice without a logo is better than no invoice. */
function openPicture(document: PDFKit.PDFDocument, logo: Uint8Array): Buffer | undefined {
  const picture = Buffer.from(logo);
  try {
    // The types lack it.
    (document as PDFKit.PDFDocument & { openImage(image: Buffer): unknown }).openImage(picture);
    return picture;
  } catch {
    return undefined;
  }
}

function writeTable(write: Writer, sheet: Sheet, root: Element, content: InvoiceContent): void {
  const { head, rows } = content;
  const totals = totalsWithCurrency(content);
  const { document } = sheet;
  const table = document.struct('Table');
  root.add(table);
  const headHeight = heightOfRow(sheet, head, strong);
  if (write.y + headHeight + 30 > bottom) nextPage(write, sheet);
  row(write, sheet, table, head, strong, 'TH');
  for (const cells of rows) {
    const lines = cells.map((text, nth) => sheet.lines(text, columns[nth]?.width ?? 0, small));
    const height = Math.max(...lines.map((of) => sheet.heightOf(of, small))) + gap;
    if (write.y + height > bottom) {
      nextPage(write, sheet);
      // The heading again, for sighted readers only.
      artifact(sheet, () => {
        for (const [nth, text] of head.entries()) drawCell(sheet, nth, text, strong, write.y);
      });
      write.y += headHeight;
    }
    row(write, sheet, table, cells, small, 'TD');
  }
  const needed = totals.length * (small.size * 1.35 + gap) + 10;
  if (write.y + needed > bottom) nextPage(write, sheet);
  for (const [nth, [key, value]] of totals.entries())
    row(write, sheet, table, [key, '', '', value], nth === totals.length - 1 ? strong : small, 'TD');
  table.end();
  write.y += 16;
}

/** All amounts of the totals name their currency. */
function totalsWithCurrency({ totals, currency }: InvoiceContent): [string, string][] {
  return totals.map(([key, value]) => [key, `${value} ${currency}`]);
}

function row(write: Writer, sheet: Sheet, table: Element, cells: Row, style: Style, type: 'TH' | 'TD'): void {
  const { document } = sheet;
  const tr = document.struct('TR');
  table.add(tr);
  for (const [nth, text] of cells.entries()) {
    const options = type === 'TH' ? { scope: 'Column' } : {};
    tr.add(document.struct(type, options as object, () => drawCell(sheet, nth, text, style, write.y)));
  }
  tr.end();
  write.y += heightOfRow(sheet, cells, style);
  artifact(sheet, () => rule(sheet, write.y - gap / 2));
}

function drawCell(sheet: Sheet, nth: number, text: string, style: Style, y: number): void {
  const { x, width, align } = columns[nth] ?? { x: 0, width: inner };
  const lines = sheet.lines(text, width, style);
  sheet.draw(lines, page.margin + x, y, width, align === undefined ? style : { ...style, align });
}

function heightOfRow(sheet: Sheet, cells: Row, style: Style): number {
  const heights = cells.map((text, nth) => sheet.heightOf(sheet.lines(text, columns[nth]?.width ?? 0, style), style));
  return Math.max(...heights) + gap;
}

function rule({ document }: Sheet, y: number): void {
  document
    .moveTo(page.margin, y)
    .lineTo(page.margin + inner, y)
    .lineWidth(0.5)
    .stroke('#bbbbbb');
}

function writeEnd(write: Writer, sheet: Sheet, { payment, support }: InvoiceContent): void {
  if (payment.length > 0) {
    // Payment instructions are kept on one page.
    const height = ['Payment', ...payment].reduce(
      (sum, text) => sum + sheet.heightOf(sheet.lines(text, inner, small), small),
      0,
    );
    if (write.y + height > bottom && page.margin + height <= bottom) nextPage(write, sheet);
    write.text('H2', 'Payment', strong);
    for (const text of payment) write.text('P', text, small);
    write.y += 8;
  }
  if (support !== '') write.text('P', support, small);
}

function writePageNumbers(sheet: Sheet, { title, isTest }: InvoiceContent): void {
  const { document } = sheet;
  const { count } = document.bufferedPageRange();
  for (let nth = 0; nth < count; nth++) {
    document.switchToPage(nth);
    artifact(sheet, () => {
      const text = `${title} · page ${nth + 1} of ${count}`;
      sheet.draw(sheet.lines(text, inner, muted), page.margin, page.height - 45, inner, { ...muted, align: 'right' });
      if (isTest) drawStamp(sheet);
    });
  }
}

/** Diagonally across the page, light enough to keep the text below it readable. */
function drawStamp(sheet: Sheet): void {
  const { document } = sheet;
  const style: Style = { size: 150, weight: 'bold', color: '#cc0000', align: 'left' };
  const [line] = sheet.lines(stamp, page.width, style);
  if (line === undefined) return;
  document
    .save()
    .rotate(-45, { origin: [page.width / 2, page.height / 2] })
    .opacity(0.12);
  sheet.draw([line], (page.width - line.width) / 2, page.height / 2 - 100, line.width, style);
  document.restore();
}

/** All text that is written, by weight. */
function textsOf(content: InvoiceContent): { regular: string[]; bold: string[] } {
  const { title, branding, from, to, facts, description, head, rows, payment, support } = content;
  const totals = totalsWithCurrency(content);
  return {
    regular: [
      ...[...from, ...to, description, ...payment, support, ...facts.map(([key, value]) => `${key}: ${value}`)],
      ...[...rows.flat(), ...totals.flat(), `${title} · page of 0123456789`],
    ],
    bold: [branding, title, stamp, 'From', 'To', 'Details', 'Payment', ...head, ...totals.flat()],
  };
}
