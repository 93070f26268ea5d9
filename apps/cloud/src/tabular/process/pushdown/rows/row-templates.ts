/**
 * Encodes once what adjacent parts of a row share for all rows of a series. Writing a row is then one copy, into which values of eight
 * bytes or one are written. Parts of variable length come between these templates.
 */
import { writeInt32 } from '../../rows/bson-bytes.ts';
import type { OpenFile } from '../open-files.ts';
import { ByteWriter } from './byte-writer.ts';
import { type Fixed, noBytes, type Part, type WriteRow } from './row-parts.ts';

/** A section of a row with offsets relative to its start. */
export interface Template {
  readonly bytes: Uint8Array;
  /** Where values are written, and the numbers of their cells. */
  readonly holes: readonly { readonly at: number; readonly cell: number }[];
  /** Starts of objects that end in a later section. */
  readonly opens: readonly Edge[];
  /** Ends (last bytes) of objects that began in an earlier section. */
  readonly closes: readonly Edge[];
}

interface Edge {
  readonly at: number;
  readonly object: number;
}

/** A part of a section; cells and objects are numbered in order. */
type Piece =
  | { readonly k: 'open'; readonly head: Uint8Array; readonly object: number }
  | { readonly k: 'close'; readonly object: number }
  | Extract<Part, { k: 'bytes' | 'series' }>
  | { readonly k: 'hole'; readonly head: Uint8Array; readonly size: 1 | 8; readonly cell: number };

/** A section, or the number of a cell that is written separately. */
type Step = readonly Piece[] | number;

export class RowTemplates {
  readonly steps: readonly Step[];
  readonly #files: readonly OpenFile[];
  /** Rows come file by file; the templates of one file are cached. */
  #file = -1;
  #ofFile: (readonly (Template | undefined)[])[] = [];
  readonly #target = new ByteWriter();

  /** @param cells of the first chunk of this form: which are fixed, and their heads */
  constructor(parts: readonly Part[], cells: readonly (Fixed | WriteRow)[], files: readonly OpenFile[]) {
    this.steps = stepsOf(parts, cells);
    this.#files = files;
  }

  /** By step; undefined for a cell that is written separately. */
  of(file: number, number: number): readonly (Template | undefined)[] {
    if (file !== this.#file) {
      this.#file = file;
      this.#ofFile = [];
    }
    let templates = this.#ofFile[number];
    if (templates === undefined) {
      templates = this.steps.map((step) => (typeof step === 'number' ? undefined : this.#made(step, file, number)));
      this.#ofFile[number] = templates;
    }
    return templates;
  }

  #made(pieces: readonly Piece[], file: number, number: number): Template {
    const target = this.#target;
    target.at = 0;
    const holes: Template['holes'][number][] = [];
    const open: Edge[] = [];
    const closes: Edge[] = [];
    for (const piece of pieces) {
      switch (piece.k) {
        case 'open':
          target.copy(piece.head);
          open.push({ at: target.at, object: piece.object });
          target.at += 4;
          break;
        case 'close': {
          target.room(8);
          const begun = open.pop();
          if (begun === undefined) closes.push({ at: target.at, object: piece.object });
          else writeInt32(target.bytes, begun.at, target.at + 1 - begun.at);
          target.bytes[target.at++] = 0;
          break;
        }
        case 'bytes':
          target.copy(piece.bytes);
          break;
        case 'series':
          target.copy(piece.bytesOf(this.#files[file] as OpenFile, number));
          break;
        case 'hole':
          target.copy(piece.head);
          holes.push({ at: target.at, cell: piece.cell });
          target.at += piece.size;
      }
    }
    // Allocated from a pool: most templates are small, and there are thousands of them.
    const bytes = Buffer.allocUnsafe(target.at);
    bytes.set(target.bytes.subarray(0, target.at));
    return { bytes, holes, opens: open, closes };
  }
}

function stepsOf(parts: readonly Part[], cells: readonly (Fixed | WriteRow)[]): readonly Step[] {
  const steps: (Piece[] | number)[] = [];
  const add = (piece: Piece): void => {
    const last = steps.at(-1);
    if (typeof last === 'object') last.push(piece);
    else steps.push([piece]);
  };
  let [cell, objects] = [0, 0];
  const open: number[] = [];
  for (const part of parts) {
    if (part.k === 'open') {
      open.push(objects);
      add({ ...part, object: objects++ });
    } else if (part.k === 'close') add({ k: 'close', object: open.pop() ?? 0 });
    else if (part.k !== 'cell') add(part);
    else {
      const found = cells[cell] as Fixed | WriteRow;
      if (typeof found === 'function') steps.push(cell);
      else add({ k: 'hole', head: found.head, size: found.size, cell });
      cell++;
    }
  }
  return steps;
}

/** The document with its fields inside. */
export function documentParts(fields: readonly Part[]): readonly Part[] {
  return [{ k: 'open', head: noBytes }, ...fields, { k: 'close' }];
}
