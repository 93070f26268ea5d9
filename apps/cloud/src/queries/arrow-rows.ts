/** Rows as an Arrow stream, with a column for each field, for DataFrames and databases. */
import { type Batch, Binary, BsonDate, type BsonDocument, type BsonValue, documentsOf, Int32 } from '@platform/query';
import {
  Binary as ArrowBinary,
  Bool,
  type DataType,
  Field,
  Float64,
  Int64,
  makeBuilder,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
} from 'apache-arrow';
import { jsonText } from './json-rows.ts';

/** Rows per record batch. */
const batchRows = 10_000;

interface Column {
  readonly name: string;
  readonly type: () => DataType;
  /** Undefined and null: the cell is null. */
  readonly cell: (value: BsonValue | undefined) => unknown;
}

/**
 * A column has the type of all its values; integers mixed with other numbers become doubles. Columns with several types, documents or lists
 * become strings; values that are not strings are written by jsonText.
 */
export function arrowStream(rows: Batch): Uint8Array {
  const columns = columnsOf(rows);
  const schema = new Schema(columns.map(({ name, type }) => new Field(name, type(), true)));
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  for (const documents of inBatches(documentsOf(rows))) writer.write(batchOf(schema, columns, documents));
  writer.close();
  return writer.toUint8Array(true);
}

function* inBatches(documents: Iterable<BsonDocument>): Generator<BsonDocument[]> {
  let batch: BsonDocument[] = [];
  for (const document of documents) {
    if (batch.push(document) < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function batchOf(schema: Schema, columns: readonly Column[], documents: readonly BsonDocument[]): RecordBatch {
  const children = columns.map(({ name, type, cell }) => {
    const builder = makeBuilder({ type: type(), nullValues: [null] });
    for (const document of documents) builder.append(cell(document.get(name)));
    return builder.finish().flush();
  });
  const type = new Struct(schema.fields);
  return new RecordBatch(schema, makeData({ type, length: documents.length, nullCount: 0, children }));
}

type Kind = 'long' | 'double' | 'bool' | 'text' | 'time' | 'bytes' | 'json';

function columnsOf(rows: Batch): Column[] {
  const kinds = new Map<string, Kind | undefined>();
  for (const document of documentsOf(rows)) {
    for (const [name, value] of document) {
      const before = kinds.get(name);
      const kind = value === null ? before : kindOf(value);
      kinds.set(name, before === undefined || kind === undefined ? (kind ?? before) : common(before, kind));
    }
  }
  return [...kinds].map(([name, kind = 'json']) => ({ name, ...forms[kind] }));
}

function common(a: Kind, b: Kind): Kind {
  if (a === b) return a;
  return (a === 'long' && b === 'double') || (a === 'double' && b === 'long') ? 'double' : 'json';
}

function kindOf(value: BsonValue): Kind {
  if (typeof value === 'bigint' || value instanceof Int32) return 'long';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'text';
  if (value instanceof BsonDate) return 'time';
  return value instanceof Binary ? 'bytes' : 'json';
}

/** `cell` returns null for null and missing values. */
const forms: Readonly<Record<Kind, Omit<Column, 'name'>>> = {
  long: {
    type: () => new Int64(),
    cell: (value) => (value instanceof Int32 ? BigInt(value.value) : typeof value === 'bigint' ? value : null),
  },
  double: {
    type: () => new Float64(),
    cell: (value) =>
      typeof value === 'number'
        ? value
        : value instanceof Int32
          ? value.value
          : typeof value === 'bigint'
            ? Number(value)
            : null,
  },
  bool: { type: () => new Bool(), cell: (value) => value ?? null },
  text: { type: () => new Utf8(), cell: (value) => value ?? null },
  time: {
    type: () => new TimestampMillisecond('UTC'),
    cell: (value) => (value instanceof BsonDate ? value.ms : null),
  },
  bytes: { type: () => new ArrowBinary(), cell: (value) => (value instanceof Binary ? value.bytes : null) },
  json: {
    type: () => new Utf8(),
    cell: (value) =>
      value === undefined || value === null ? null : typeof value === 'string' ? value : jsonText(value),
  },
};
