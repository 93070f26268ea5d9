/** Documents of stored rows, rebuilt from columns or decoded, in the form in which triggers see documents of the log. */
import { BsonDocument, type BsonValue, decodeBson } from '@platform/query';
import { type Document, newDocument } from '../../reading-codec/read-document.ts';
import type { ArrivedColumn, ArrivedRows, ArrivedShape } from '../../tabular/arrivals/arrived-rows.ts';

/** Undefined: the rows were read without documents. */
export type DocumentOf = (row: number) => Document | undefined;

export function storedDocuments({ data }: ArrivedRows): DocumentOf {
  if (data === undefined) return () => undefined;
  const { shape, columns } = data;
  if (shape === 'bson') {
    const [column] = columns;
    if (column?.k !== 'bytes') throw new Error('expected one column of documents, found others');
    const { ends, values } = column;
    return (row) => plainDocument(decodeBson(values.subarray(row === 0 ? 0 : ends[row - 1], ends[row])));
  }
  return objectReader(shape, columns);
}

function plainDocument(document: BsonDocument): Document {
  const plain = newDocument();
  for (const [name, value] of document) plain[name] = plainValue(value);
  return plain;
}

/** Readings arrive as Structs, so other types do not occur. */
function plainValue(value: BsonValue): unknown {
  if (value instanceof BsonDocument) return plainDocument(value);
  return Array.isArray(value) ? value.map(plainValue) : value;
}

type ReadValue = (row: number) => unknown;

/** Bits of the tabular store's kinds (docs/specs/tabular-store.md). */
const kinds = { null: 2, double: 4, string: 8, bool: 16, object: 32 } as const;

function objectReader({ children }: ArrivedShape, columns: readonly ArrivedColumn[]): (row: number) => Document {
  const names = children.map(({ name }) => name);
  const readers = children.map((child) => valueReader(child, columns));
  return (row) => {
    const document = newDocument();
    for (let i = 0; i < names.length; i++) {
      const value = (readers[i] as ReadValue)(row);
      if (value !== undefined) document[names[i] as string] = value;
    }
    return document;
  };
}

function valueReader(shape: ArrivedShape, columns: readonly ArrivedColumn[]): ReadValue {
  const readObject = objectReader(shape, columns);
  const number = columnReader(columns, shape.number);
  const text = columnReader(columns, shape.text);
  const bool = columnReader(columns, shape.bool, (byte) => byte !== 0);
  const others: ReadValue =
    shape.otherwise === 'object' ? readObject : shape.otherwise === 'null' ? () => null : () => undefined;
  if (shape.kind !== undefined) {
    const kindOf = columnReader(columns, shape.kind) as ReadValue;
    const byKind = new Map<unknown, ReadValue | undefined>([
      [kinds.null, () => null],
      [kinds.double, number],
      [kinds.string, text],
      [kinds.bool, bool],
      [kinds.object, readObject],
    ]);
    return (row) => byKind.get(kindOf(row))?.(row);
  }
  const readers = [number, text, bool].filter((reader) => reader !== undefined);
  const [only] = readers;
  if (only === undefined) return others;
  if (readers.length === 1) return only;
  return (row) => {
    for (const read of readers) {
      const value = read(row);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

function columnReader(
  columns: readonly ArrivedColumn[],
  index: number | undefined,
  convert?: (value: number) => unknown,
): ReadValue | undefined {
  const column = index === undefined ? undefined : columns[index];
  if (column === undefined) return undefined;
  const { present } = column;
  const read = cellReader(column, convert);
  return present === undefined ? read : (row) => (present[row] === 1 ? read(row) : undefined);
}

function cellReader(column: ArrivedColumn, convert: ((value: number) => unknown) | undefined): ReadValue {
  if (column.k === 'bytes') {
    const { ends } = column;
    const bytes = Buffer.from(column.values.buffer, column.values.byteOffset, column.values.byteLength);
    return (row) => bytes.toString('utf8', row === 0 ? 0 : ends[row - 1], ends[row]);
  }
  const { values } = column;
  return convert === undefined ? (row) => values[row] : (row) => convert(values[row] as number);
}
