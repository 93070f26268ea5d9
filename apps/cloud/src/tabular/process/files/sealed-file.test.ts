import { join } from 'node:path';
import { BsonDocument, type BsonValue, decodeBson, encodeBson } from '@platform/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { childrenOf, randomReading, valueAt } from '../../testing/random-readings.ts';
import { openTestSealer, type RowToSeal, type SealedRows } from '../../testing/seal-rows.ts';
import { noTime } from '../rows/row-buffer.ts';
import { type FileFacts, kind, type LeafFacts, leafColumns } from './file-facts.ts';

const noonUs = 1_779_019_200_000_000n;

const time = fc.oneof(
  fc.constant(noTime),
  fc.integer({ min: -3, max: 3 }).map((ms) => noonUs + 700n * BigInt(ms)),
  fc.constantFrom(-1n, -1_000n, 0n, 253_402_300_799_999_999n),
);
const row = fc.record({
  component: fc.constantFrom('s1', 's2', 's3'),
  document: randomReading,
  received: time,
  requested: time,
});

/** Represents a value that the columns and facts of a file do not contain. */
const unknown: unique symbol = Symbol('only the document has it');
type Rebuilt = BsonValue | undefined | typeof unknown;

function rebuilt(row: Record<string, unknown>, facts: FileFacts, leaf: LeafFacts): Rebuilt {
  if (leaf.column === undefined) return unknown;
  const columns = leafColumns(leaf);
  const value = (column: string | undefined): unknown => (column === undefined ? null : row[column]);
  const double = value(columns.number) ?? null;
  const string = value(columns.text) ?? null;
  const bool = value(columns.bool) ?? null;
  const stored = columns.kind === undefined ? null : (row[columns.kind] as number | null);
  const of = stored ?? (double !== null ? kind.double : string !== null ? kind.string : bool !== null ? kind.bool : 0);
  // A row without a value in any column has the one kind without values, or the leaf is missing.
  const valueless = leaf.kinds & (kind.null | kind.object | kind.array);
  const bit = of !== 0 ? of : columns.kind === undefined && valueless !== 0 ? valueless : kind.missing;
  if (bit === kind.missing) return undefined;
  if (bit === kind.double) return double === 0 && leaf.number?.negativeZero === true ? unknown : (double as number);
  if (bit === kind.string) return string as string;
  if (bit === kind.bool) return bool as boolean;
  if (bit === kind.null) return null;
  if (bit === kind.array || leaf.complete !== true || leaf.ordered !== true) return unknown;
  const fields: [string, BsonValue][] = [];
  for (const child of childrenOf(facts, leaf)) {
    const member = rebuilt(row, facts, child);
    if (member === unknown) return unknown;
    if (member !== undefined) fields.push([child.path.at(-1) as string, member]);
  }
  return new BsonDocument(fields);
}

const bytesOf = (value: BsonValue | undefined): string =>
  value === undefined ? 'missing' : Buffer.from(encodeBson(new BsonDocument([['v', value]]))).toString('hex');

function dataOf(row: Record<string, unknown>): Uint8Array {
  return new Uint8Array((row['data'] as { readonly bytes: Uint8Array }).bytes);
}

function expectSeriesFacts(
  { facts }: SealedRows,
  rows: readonly Record<string, unknown>[],
  expected: readonly RowToSeal[],
): void {
  expect(facts.rows).toBe(expected.length);
  const inFile = rows.map((each) => ({ row: expected[Number(each['position'])] as RowToSeal, number: each['series'] }));
  let firstRow = 0;
  facts.series.forEach((series, number) => {
    const own = inFile.filter((each) => each.number === number).map((each) => each.row);
    expect(own.length).toBeGreaterThan(0);
    expect(new Set(own.map(({ component }) => component))).toEqual(new Set([series.path.component_name]));
    expect(inFile.slice(firstRow, firstRow + own.length).map((each) => each.row)).toEqual(own);
    const times = own.map(({ received }) => received).filter((each) => each !== noTime);
    expect(series).toMatchObject({
      rows: own.length,
      firstRow,
      dataBytes: own.reduce((sum, { data }) => sum + data.length, 0),
      received: {
        min: times.reduce<bigint | null>((a, b) => (a === null || b < a ? b : a), null),
        max: times.reduce<bigint | null>((a, b) => (a === null || b > a ? b : a), null),
        missing: own.length - times.length,
      },
      requested: { missing: own.filter(({ requested }) => requested === noTime).length },
      synced: { missing: 0 },
    });
    const ms = (us: bigint): number => Math.floor(Number(us) / 1_000);
    const [newest] = own
      .filter(({ received }) => received !== noTime)
      .toSorted((a, b) => ms(b.received) - ms(a.received));
    expect(series.newest?.position).toBe(newest && expected.indexOf(newest));
    expect(series.newest?.data).toEqual(newest?.data);
    expect(series.newest?.timeRequested).toEqual(newest?.requested);
    firstRow += own.length;
  });
}

test('columns and facts reproduce the values of random documents of mixed kinds, and no value is lost', async () => {
  await using sealer = await openTestSealer();
  let values = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
      const toSeal = rows.map(({ document: each, ...rest }) => ({ ...rest, data: encodeBson(each) }));
      const [sealed] = (await sealer.seal(toSeal)) as [SealedRows];
      const read = await sealed.readRows();
      expect(read.length).toBe(rows.length);
      for (const each of read) {
        const data = dataOf(each);
        expect(data).toEqual(toSeal[Number(each['position'])]?.data);
        expect(each['size']).toBe(data.length);
        const original = decodeBson(data);
        for (const leaf of sealed.facts.leaves) {
          const value = rebuilt(each, sealed.facts, leaf);
          if (value === unknown) continue;
          expect(bytesOf(value)).toBe(bytesOf(valueAt(original, leaf.path)));
          values++;
        }
      }
      expectSeriesFacts(sealed, read, toSeal);
    }),
    { numRuns: 30 },
  );
  // Enough values were known.
  expect(values).toBeGreaterThan(500);
});

test('I9 rows spread over several files and chunks occur exactly once, with columns that match their documents', async () => {
  await using sealer = await openTestSealer();
  const rows = Array.from({ length: 7_000 }, (_, i): RowToSeal => {
    // Leaves come and go; short and long texts alternate.
    const fields: [string, BsonValue][] = [['i', i]];
    if (i % 5 === 0) fields.push(['text', 'x'.repeat(i % 40)]);
    if (i > 3_000) fields.push(['late', i % 3 === 0 ? i % 2 === 0 : null]);
    const data = encodeBson(new BsonDocument(fields));
    return { component: `s${i % 3}`, data, received: noonUs + BigInt((i * 7_919) % 50_000), requested: noTime };
  });
  const bytes = rows.reduce((sum, { data }) => sum + data.length, 0);
  const sealed = await sealer.seal(rows, Math.ceil(bytes / 3));
  expect(sealed.length).toBe(3);
  const seen = new Set<number>();
  for (const { file, facts, readRows } of sealed) {
    const read = await readRows();
    expect(file.rows).toBe(read.length);
    for (const [number, each] of read.entries()) {
      expect(Number(each['file_row_number'])).toBe(number);
      const position = Number(each['position']);
      seen.add(position);
      const data = dataOf(each);
      expect(data).toEqual(rows[position]?.data);
      expect(bytesOf(rebuilt(each, facts, facts.leaves[0] as LeafFacts) as BsonValue)).toBe(bytesOf(decodeBson(data)));
    }
  }
  expect(seen.size).toBe(rows.length);
});

test('I9 a file of many rows is complete to its end', async () => {
  await using sealer = await openTestSealer();
  const rows = Array.from({ length: 40_000 }, (_, i): RowToSeal => {
    const data = encodeBson(new BsonDocument([['i', i]]));
    return { component: 's1', data, received: noonUs + BigInt(i), requested: noTime };
  });
  const [sealed] = (await sealer.seal(rows)) as [SealedRows];
  expect(sealed.facts.leaves[1]).toMatchObject({ path: ['i'], rows: rows.length, kinds: kind.double });
  const column = leafColumns(sealed.facts.leaves[1] as LeafFacts).number;
  const read = await sealer.connection.runAndReadAll(
    `SELECT count(*), sum(${column}), max(size) FROM read_parquet($1)`,
    [join(sealer.parquetDir, sealed.file.file)],
  );
  expect(read.getRows()).toEqual([[BigInt(rows.length), (rows.length * (rows.length - 1)) / 2, 16]]);
});
