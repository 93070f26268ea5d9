import { BsonDate, BsonDocument, type BsonValue, encodeBson, Int32, ObjectId } from '@platform/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { needsSurrogates, withSurrogates } from './surrogate-text.ts';

/** Decodes text like the reader of those clients: uses three bytes for every character longer than two. */
function asTheyRead(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const size = a < 128 ? 1 : a > 191 && a < 224 ? 2 : 3;
    text += String.fromCharCode(
      size === 1 ? a : size === 2 ? ((a & 31) << 6) | (b & 63) : ((a & 15) << 12) | ((b & 63) << 6) | (c & 63),
    );
    at += size;
  }
  return text;
}

/** Reads names and texts of a document, using its length fields. */
function textsIn(row: Uint8Array, at = 0, found: string[] = []): string[] {
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  const end = at + view.getInt32(at, true) - 1;
  expect(row[end]).toBe(0);
  for (at += 4; at < end; ) {
    const type = row[at] ?? 0;
    const nameEnd = row.indexOf(0, at + 1);
    found.push(asTheyRead(row.subarray(at + 1, nameEnd)));
    at = nameEnd + 1;
    if (type === 2) {
      const size = view.getInt32(at, true);
      found.push(asTheyRead(row.subarray(at + 4, at + 3 + size)));
      at += 4 + size;
    } else if (type === 3 || type === 4) {
      textsIn(row, at, found);
      at += view.getInt32(at, true);
    } else at += { 1: 8, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 18: 8 }[type] ?? Number.NaN;
  }
  expect(at).toBe(end);
  return found;
}

test('D7 texts and names with four-byte characters arrive unchanged, at any depth', () => {
  const text = fc.string({ unit: 'binary', maxLength: 8 });
  const name = text.filter((one) => !one.includes('\0'));
  const { row } = fc.letrec<{ row: BsonDocument; value: BsonValue }>((tie) => ({
    row: fc.dictionary(name, tie('value'), { maxKeys: 4 }).map((fields) => BsonDocument.of(fields)),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      fc.double(),
      fc.constantFrom<BsonValue>(
        true,
        null,
        new Int32(1),
        5n,
        new BsonDate(1),
        new ObjectId(new Uint8Array(12).fill(0xf0)),
      ),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('row'),
    ),
  }));
  const texts = (value: BsonValue): string[] => {
    if (typeof value === 'string') return [value];
    if (Array.isArray(value)) return value.flatMap((item, at) => [String(at), ...texts(item)]);
    return value instanceof BsonDocument ? [...value].flatMap(([key, field]) => [key, ...texts(field)]) : [];
  };
  fc.assert(
    fc.property(row, (document) => {
      expect(textsIn(withSurrogates(encodeBson(document)))).toEqual(texts(document));
    }),
  );
});

test('a row without such characters is returned unchanged', () => {
  const row = encodeBson(BsonDocument.of({ a: 1.5, 'ü€': 'ü€', list: ['x'] }));
  expect(withSurrogates(row)).toBe(row);
});

test('D7 only clients known to need surrogates get them', () => {
  const client = (text: string): boolean => needsSurrogates(new Headers({ viam_client: text }));
  expect(client('typescript;v0.61.1;v0.1.512')).toBe(true);
  expect(client('typescript;v0.62.0;v0.1.600')).toBe(false);
  expect(client('typescript;v1.0.0;v0.1.600')).toBe(false);
  expect(client('python;v0.80.0;vv0.1.577')).toBe(false);
  expect(needsSurrogates(new Headers())).toBe(false);
});
