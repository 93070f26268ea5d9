/** Writes tar archives (POSIX ustar) in memory: regular files and relative symbolic links, all owned by root. */

export type TarEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly isExecutable?: boolean }
  | { readonly path: string; readonly linkTo: string };

const blockBytes = 512;

/** @throws RangeError for a path too long for the format: more than 100 bytes after a directory of at most 155 */
export function tar(entries: readonly TarEntry[]): Buffer {
  const blocks: Uint8Array[] = [];
  for (const entry of entries) {
    const content = 'content' in entry ? entry.content : new Uint8Array();
    blocks.push(
      header(entry, content.length),
      content,
      new Uint8Array((blockBytes - (content.length % blockBytes)) % blockBytes),
    );
  }
  blocks.push(new Uint8Array(2 * blockBytes));
  return Buffer.concat(blocks);
}

function header(entry: TarEntry, bytes: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const { prefix, name } = split(entry.path);
  const octal = (value: number, at: number, width: number): void => {
    block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
  };
  block.write(name, 0);
  octal('linkTo' in entry ? 0o777 : entry.isExecutable ? 0o755 : 0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  // The same content makes the same archive.
  octal(0, 136, 12);
  block.write('        ', 148, 'latin1');
  block.write('linkTo' in entry ? '2' : '0', 156, 'latin1');
  if ('linkTo' in entry) block.write(entry.linkTo, 157);
  block.write('ustar\0' + '00', 257, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function split(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new RangeError(`expected a path that a tar archive can hold, found ${path}`);
}
