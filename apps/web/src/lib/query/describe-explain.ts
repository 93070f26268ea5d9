/** How a query was executed, in sentences. Pure. */
import { bytesText } from '../ui/bytes.ts';
import type { Row } from './pipeline.ts';

const asNumber = (value: unknown): number => Number(value ?? 0);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const many = (count: number, one: string, more = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

/** Ways of reading. */
const ways: Readonly<Record<string, string>> = {
  group: 'Groups computed in the files',
  top: 'First rows found in the files',
  documents: 'Whole rows from the files',
  columns: 'Single columns from the files',
  rows: 'Rows from the files',
  newest: 'Newest rows from the files',
  facts: 'Counts stored in the files',
  known: 'Groups kept from an earlier query',
  hot: 'Readings that have just arrived',
};

/** @param row the answer to a query with `platform-explain` */
export function explainWords(row: Row): readonly string[] {
  const [listed, skipped, read] = ['files_listed', 'files_skipped', 'files_read'].map((name) =>
    asNumber(row[name]),
  ) as [number, number, number];
  const files =
    listed === 0
      ? 'There are no stored files yet; everything comes from readings that have just arrived.'
      : `Of ${many(listed, 'stored file')}, ${skipped.toLocaleString('en')} were skipped, since their names and times rule out matching rows; the rows of ${read.toLocaleString('en')} were read.`;
  const sources = asList(row['sources']).flatMap((given) => {
    const source = given as Row;
    const pushed = asList(source['pushed']).map(String);
    const what =
      pushed.length === 0 ? 'no part of the query ran while reading' : `${pushed.join(', ')} ran while reading`;
    const kept = asList(source['not_pushed']).map(reasonOf);
    return [
      `${ways[String(source['does'])] ?? 'Rows'}: ${many(asNumber(source['files']), 'file')}, ${many(asNumber(source['rows']), 'row')} returned; ${what}.`,
      ...kept,
    ];
  });
  return [
    files,
    ...sources,
    ...asList(row['later']).map(reasonOf),
    `The answer has ${many(asNumber(row['rows']), 'row')}. ${bytesText(asNumber(row['scanned_bytes']))} count toward the month; it took ${asNumber(row['elapsed_ms']).toFixed(0)} ms.`,
    ...asList(row['notices']).map((notice) => `Note: ${String(notice)}.`),
  ];
}

function reasonOf(given: unknown): string {
  const { part, why } = given as Row;
  return `${String(part)} ran afterwards, on single rows: ${String(why)}.`;
}
