/** Writes rows as BSON documents from columns: constant parts of a series are copied at once, the rest is written in place. */
import { getOrInsert } from '@platform/base';
import type { Batch } from '@platform/query';
import { writeInt32 } from '../../rows/bson-bytes.ts';
import { checkScope } from '../check-scope.ts';
import type { OpenFile } from '../open-files.ts';
import { ByteWriter } from './byte-writer.ts';
import type { Chunk } from './chunk.ts';
import type { Fixed, Part, WriteRow } from './row-parts.ts';
import { documentParts, RowTemplates } from './row-templates.ts';

/** Larger rows are checked by `check`. */
const checkedBytes = 512 << 10;

/**
 * @param fields of the rows in order; their cells follow the file and the series in the chunks
 * @param check called with each large row; throws where the executor would have refused it
 */
export function rowWriter(
  fields: readonly Part[],
  check?: (document: Uint8Array) => void,
): (files: readonly OpenFile[]) => (chunk: Chunk) => Batch {
  const parts = documentParts(fields);
  const openers = parts.flatMap((part) => (part.k === 'cell' ? [part.open] : []));
  const objects = parts.filter(({ k }) => k === 'open').length;
  return (files) => {
    // Templates, by the set of cells present in every row of a chunk.
    const forms = new Map<string, RowTemplates>();
    const target = new ByteWriter();
    const starts = new Int32Array(objects);
    return (chunk) => {
      checkScope(chunk, files);
      const cells = openers.map((open) => open(chunk));
      const templates = getOrInsert(forms, formOf(cells), () => new RowTemplates(parts, cells, files));
      const ends = writeRows(chunk, templates, cells, target, starts, check);
      return { count: chunk.rows, bytes: target.bytes.slice(0, target.at), ends };
    };
  };
}

function formOf(cells: readonly (Fixed | WriteRow)[]): string {
  return cells.map((cell) => (typeof cell === 'function' ? '-' : '+')).join('');
}

function writeRows(
  chunk: Chunk,
  templates: RowTemplates,
  cells: readonly (Fixed | WriteRow)[],
  target: ByteWriter,
  starts: Int32Array,
  check: ((document: Uint8Array) => void) | undefined,
): Uint32Array {
  const { steps } = templates;
  const [file, series] = [chunk.int32(0), chunk.int32(1)];
  const ends = new Uint32Array(chunk.rows);
  target.at = 0;
  for (let row = 0; row < chunk.rows; row++) {
    const begin = target.at;
    const ofSeries = templates.of(file[row] as number, series[row] as number);
    for (let step = 0; step < steps.length; step++) {
      const template = ofSeries[step];
      if (template === undefined) {
        (cells[steps[step] as number] as WriteRow)(row, target);
        continue;
      }
      const from = target.at;
      target.copy(template.bytes);
      for (const { at, cell } of template.holes) {
        const { bytes, size } = cells[cell] as Fixed;
        target.item(bytes, row * size, size, from + at);
      }
      for (const { at, object } of template.opens) starts[object] = from + at;
      for (const { at, object } of template.closes) {
        const start = starts[object] as number;
        writeInt32(target.bytes, start, from + at + 1 - start);
      }
    }
    ends[row] = target.at;
    if (check !== undefined && target.at - begin > checkedBytes) check(target.bytes.subarray(begin, target.at));
  }
  return ends;
}
