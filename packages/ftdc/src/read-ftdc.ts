/** Reads a file of diagnostics, whatever its state: damage is skipped and reported. */
import { inflateRawSync } from 'node:zlib';
import { crc32c } from '@platform/base';
import {
  blockHeaderBytes,
  blockMagic,
  fileHeaderBytes,
  fileMagic,
  formatVersion,
  kinds,
  maxPayloadBytes,
  type Sample,
} from './format.ts';
import { VarintReader } from './varint.ts';

/** Bytes of a file that hold no samples. */
export interface Skipped {
  readonly offset: number;
  readonly bytes: number;
  /** Why, for people. */
  readonly reason: string;
}

export interface FtdcFile {
  /** In file order. */
  readonly samples: readonly Sample[];
  readonly skipped: readonly Skipped[];
}

interface Schema {
  readonly id: number;
  readonly metrics: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export function readFtdc(bytes: Uint8Array): FtdcFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const skipped: Skipped[] = [];
  const samples: Sample[] = [];
  const header = headerProblem(file);
  if (header !== undefined) return { samples, skipped: [{ offset: 0, bytes: file.length, reason: header }] };
  const schemas = new Map<number, Schema>();
  let at = fileHeaderBytes;
  while (at < file.length) {
    const length = blockLength(file, at);
    if (length === undefined) {
      const next = nextBlock(file, at + 1);
      const reason =
        next === file.length
          ? 'the end is torn off, as after a crash, or damaged'
          : 'damaged: its checksum does not match';
      skipped.push({ offset: at, bytes: next - at, reason });
      at = next;
      continue;
    }
    const problem = readBlock(file.subarray(at, at + length), schemas, samples);
    if (problem !== undefined) skipped.push({ offset: at, bytes: length, reason: problem });
    at += length;
  }
  return { samples, skipped };
}

function headerProblem(file: Buffer): string | undefined {
  if (file.length < fileHeaderBytes)
    return `not a file of diagnostics: shorter than its header of ${fileHeaderBytes} bytes`;
  const magic = file.toString('latin1', 0, fileMagic.length);
  if (magic !== fileMagic) return `not a file of diagnostics: expected it to begin with "${fileMagic}"`;
  const version = file.readUInt32LE(fileMagic.length);
  return version === formatVersion ? undefined : `expected version ${formatVersion} of the format, found ${version}`;
}

/** The length of the block there, with its header; undefined if there is no block with a valid checksum. */
function blockLength(file: Buffer, at: number): number | undefined {
  if (at + blockHeaderBytes > file.length || file.toString('latin1', at, at + 4) !== blockMagic) return undefined;
  const length = file.readUInt32LE(at + 5);
  const end = at + blockHeaderBytes + length;
  if (length > maxPayloadBytes || end > file.length) return undefined;
  const crc = crc32c(file.subarray(at + blockHeaderBytes, end), crc32c(file.subarray(at + 4, at + 5)));
  return crc === file.readUInt32LE(at + 9) ? end - at : undefined;
}

function nextBlock(file: Buffer, from: number): number {
  for (let at = file.indexOf(blockMagic, from, 'latin1'); at !== -1; at = file.indexOf(blockMagic, at + 1, 'latin1'))
    if (blockLength(file, at) !== undefined) return at;
  return file.length;
}

/** @returns why it has no samples, if it should have some */
function readBlock(block: Buffer, schemas: Map<number, Schema>, samples: Sample[]): string | undefined {
  try {
    const content = inflateRawSync(block.subarray(blockHeaderBytes), { maxOutputLength: 8 * maxPayloadBytes });
    if (block[4] === kinds.schema) {
      const schema = parseSchema(content.toString());
      schemas.set(schema.id, schema);
      return undefined;
    }
    if (block[4] !== kinds.data) return `unknown kind of block ${block[4]}`;
    return readSamples(new VarintReader(content), schemas, samples);
  } catch (caught) {
    return `cannot be decoded: ${caught instanceof Error ? caught.message : String(caught)}`;
  }
}

function readSamples(reader: VarintReader, schemas: Map<number, Schema>, samples: Sample[]): string | undefined {
  const [id, count] = [reader.unsigned(), reader.unsigned()];
  const schema = schemas.get(id);
  if (schema === undefined)
    return `${count} samples without the names of their metrics: the block with the names is damaged`;
  if (count > reader.left) return `expected ${count} samples, found ${reader.left} bytes`;
  const times = reader.column(count);
  const columns = schema.metrics.map((name) => [name, reader.column(count)] as const);
  for (const [i, timeMs] of times.entries()) {
    const values = new Map(columns.map(([name, column]) => [name, column[i] ?? 0]));
    samples.push({ timeMs, labels: schema.labels, values });
  }
  return undefined;
}

function parseSchema(text: string): Schema {
  const { id, metrics, labels } = JSON.parse(text) as Partial<Record<keyof Schema, unknown>>;
  const isRecord = typeof labels === 'object' && labels !== null;
  if (typeof id !== 'number' || !Array.isArray(metrics) || !isRecord) throw new TypeError('its schema is incomplete');
  const entries = Object.entries(labels).map(([name, value]) => [name, String(value)] as const);
  return { id, metrics: metrics.map(String), labels: Object.fromEntries(entries) };
}
