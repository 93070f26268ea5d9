/** Turns samples into the bytes of one file, piece by piece. */
import { deflateRawSync } from 'node:zlib';
import { concatBytes, crc32c } from '@platform/base';
import {
  blockHeaderBytes,
  blockMagic,
  fileHeaderBytes,
  fileMagic,
  formatVersion,
  kinds,
  type Sample,
} from './format.ts';
import { VarintWriter } from './varint.ts';

export class FtdcEncoder {
  /** The content of the last schema block of the file; empty before the first one. */
  #schema = '';
  #id = 0;

  /** Begins a file. */
  header(): Uint8Array {
    this.#schema = '';
    this.#id = 0;
    const bytes = Buffer.alloc(fileHeaderBytes);
    bytes.write(fileMagic, 'latin1');
    bytes.writeUInt32LE(formatVersion, fileMagic.length);
    return bytes;
  }

  /** The blocks of these samples, to be appended to the file. Metrics and labels may change from one sample to the next. */
  blocks(samples: readonly Sample[]): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let from = 0; from < samples.length; ) {
      const schema = schemaOf(samples[from]);
      let to = from + 1;
      while (to < samples.length && schemaOf(samples[to]) === schema) to++;
      if (schema !== this.#schema) {
        this.#schema = schema;
        this.#id++;
        parts.push(block(kinds.schema, Buffer.from(`{"id":${this.#id},${schema.slice(1)}`)));
      }
      parts.push(block(kinds.data, dataOf(this.#id, samples.slice(from, to))));
      from = to;
    }
    return concatBytes(parts);
  }
}

function schemaOf(sample: Sample | undefined): string {
  return JSON.stringify({ metrics: [...(sample?.values.keys() ?? [])], labels: sample?.labels ?? {} });
}

function dataOf(id: number, samples: readonly Sample[]): Uint8Array {
  const writer = new VarintWriter();
  writer.unsigned(id);
  writer.unsigned(samples.length);
  writer.column(samples.map(({ timeMs }) => timeMs));
  for (const name of samples[0]?.values.keys() ?? []) writer.column(samples.map(({ values }) => values.get(name) ?? 0));
  return writer.bytes;
}

function block(kind: number, content: Uint8Array): Uint8Array {
  const payload = deflateRawSync(content);
  const header = Buffer.alloc(blockHeaderBytes);
  header.write(blockMagic, 'latin1');
  header.writeUInt8(kind, 4);
  header.writeUInt32LE(payload.length, 5);
  header.writeUInt32LE(crc32c(payload, crc32c(Uint8Array.of(kind))), 9);
  return concatBytes([header, payload]);
}
