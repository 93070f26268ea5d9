/** Reads a tar archive (ustar, with the extensions of pax and GNU for long names) entry by entry. */
import { dataLoss } from '@platform/base';

export interface TarEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'link';
  /** Whether its owner may execute it. */
  readonly isExecutable: boolean;
  /** Target of a link. */
  readonly target: string;
  readonly size: number;
}

const block = 512;
const maxHeaderBytes = 1024 * 1024;
const kinds: Readonly<Record<string, TarEntry['kind']>> = {
  '': 'file',
  0: 'file',
  1: 'link',
  2: 'symlink',
  5: 'directory',
  7: 'file',
};

/** Calls `visit` for each entry, which must read `content` to its end. @throws data_loss for an incomplete or invalid archive */
export async function readTar(
  source: AsyncIterable<Uint8Array>,
  visit: (entry: TarEntry, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const bytes = new ByteReader(source);
  let names: Readonly<Record<string, string>> = {};
  for (;;) {
    const header = await bytes.take(block);
    if (header === undefined || header.every((byte) => byte === 0)) return;
    const entry = headerOf(header);
    const type = textAt(header, 156, 1);
    const padding = (block - (entry.size % block)) % block;
    if (type === 'x' || type === 'L' || type === 'K' || type === 'g') {
      const text = Buffer.from(await bytes.whole(entry.size)).toString('utf8');
      await bytes.whole(padding);
      if (type === 'x') names = { ...names, ...paxOf(text) };
      if (type === 'L') names = { ...names, path: text.replace(/\0.*$/s, '') };
      if (type === 'K') names = { ...names, linkpath: text.replace(/\0.*$/s, '') };
      continue;
    }
    const kind = kinds[type];
    if (kind === undefined)
      throw dataLoss(`expected files, folders and links, found an entry of type "${type}": ${entry.path}`);
    const size = kind === 'file' ? Number(names['size'] ?? entry.size) : 0;
    const named = {
      ...entry,
      kind,
      size,
      path: names['path'] ?? entry.path,
      target: names['linkpath'] ?? entry.target,
    };
    names = {};
    await visit(named, bytes.content(size));
    await bytes.whole((block - (size % block)) % block);
  }
}

function headerOf(header: Buffer): Omit<TarEntry, 'kind'> {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (numberAt(header, 148, 8) !== sum) throw dataLoss('expected a tar archive, found a header with a wrong checksum');
  const isUstar = textAt(header, 257, 5) === 'ustar';
  const prefix = isUstar ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    isExecutable: (numberAt(header, 100, 8) & 0o100) !== 0,
    target: textAt(header, 157, 100),
    size: numberAt(header, 124, 12),
  };
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

/** Octal text, or binary for larger numbers. */
function numberAt(header: Buffer, at: number, length: number): number {
  if (((header[at] ?? 0) & 0x80) !== 0) return header.readUIntBE(at + length - 6, 6);
  const number = Number.parseInt(textAt(header, at, length).trim() || '0', 8);
  if (!(number >= 0)) throw dataLoss('expected a tar archive, found a header without numbers');
  return number;
}

/** Records `<length> <key>=<value>\n`. */
function paxOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const length = Number.parseInt(rest.toString('utf8', 0, 20), 10);
    if (!(length > 0) || length > rest.length) throw dataLoss('expected records of pax, found something else');
    const record = rest.toString('utf8', 0, length - 1);
    const [, key = '', value = ''] = /^\d+ ([^=]+)=(.*)$/s.exec(record) ?? [];
    found[key] = value;
    rest = rest.subarray(length);
  }
  return found;
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Undefined at the end. */
  async take(length: number): Promise<Buffer | undefined> {
    while (this.#rest.length < length) {
      const next = await this.#source.next();
      if (next.done === true && this.#rest.length === 0) return undefined;
      if (next.done === true) throw dataLoss('expected a complete archive, found its end in the middle of an entry');
      this.#rest = Buffer.concat([this.#rest, next.value]);
    }
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  async whole(length: number): Promise<Buffer> {
    if (length > maxHeaderBytes) throw dataLoss(`expected names of at most ${maxHeaderBytes} bytes, found ${length}`);
    if (length === 0) return Buffer.alloc(0);
    const taken = await this.take(length);
    if (taken === undefined) throw dataLoss('expected a complete archive, found its end in the middle of an entry');
    return taken;
  }

  async *content(length: number): AsyncGenerator<Uint8Array, void> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) throw dataLoss('expected a complete archive, found its end in the middle of a file');
        this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
}
