/**
 * Saves bytes as a file, completely or not at all: writes a temporary file in the same folder and finally renames it. In a browser, the
 * file becomes a download with the last part of its name.
 */
import { alreadyExists, invalidArgument, type PlatformError, permissionDenied, unavailable } from '@platform/base';

export interface SaveOptions {
  /** Replaces an existing file, which is otherwise refused. */
  readonly overwrite?: boolean;
  /** Called after each part with the number of bytes received so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** @throws already_exists, invalid_argument if `dest` is a directory or has no folder, permission_denied */
export async function saveFile(
  chunks: AsyncIterable<Uint8Array>,
  dest: string,
  options: SaveOptions = {},
): Promise<number> {
  const browser = browserOf(globalThis);
  if (browser !== undefined) return await download(browser, chunks, dest, options);
  const { link, mkdtemp, open, rename, rm, stat } = await import('node:fs/promises');
  const { dirname, join } = await import('node:path');
  const there = await stat(dest).catch(() => undefined);
  if (there?.isDirectory() === true)
    throw invalidArgument(`dest: expected the name of a file, found the directory ${dest}`);
  if (there !== undefined && options.overwrite !== true) throw exists(dest);
  const folder = await mkdtemp(join(dirname(dest), '.download-')).catch((caught) => {
    throw refused(dest, caught);
  });
  try {
    const part = join(folder, 'part');
    let bytes = 0;
    {
      await using file = await open(part, 'wx', 0o644);
      for await (const chunk of chunks) {
        await file.writeFile(chunk).catch((caught) => {
          throw refused(dest, caught);
        });
        bytes += chunk.byteLength;
        options.onProgress?.(bytes);
      }
      await file.sync();
    }
    // A link fails if the file has appeared meanwhile; a rename would replace it.
    if (options.overwrite === true) await rename(part, dest);
    else
      await link(part, dest).catch((caught) => {
        if (codeOf(caught) === 'EEXIST') throw exists(dest);
        // Some file systems do not support links.
        return rename(part, dest);
      });
    return bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function exists(dest: string): PlatformError {
  return alreadyExists(`dest: expected a file that does not exist, found ${dest}`);
}

function codeOf(caught: unknown): unknown {
  return Reflect.get(Object(caught), 'code');
}

function refused(dest: string, caught: unknown): PlatformError {
  const code = codeOf(caught);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return invalidArgument(`dest: expected a file in a folder that exists, found ${dest}`, caught);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return permissionDenied(`dest: expected a writable folder, found that of ${dest}`, caught);
  return unavailable(`dest: expected to write ${dest}, found ${String(code ?? caught)}`, caught);
}

/** The browser features that a download needs. */
interface Browser {
  readonly document: {
    createElement(tag: 'a'): { href: string; download: string; click(): void };
  };
}

function browserOf(scope: object): Browser | undefined {
  const document: unknown = Reflect.get(scope, 'document');
  return typeof document === 'object' && document !== null ? (scope as Browser) : undefined;
}

async function download(
  { document }: Browser,
  chunks: AsyncIterable<Uint8Array>,
  dest: string,
  { onProgress }: SaveOptions,
): Promise<number> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(new Uint8Array(chunk));
    bytes += chunk.byteLength;
    onProgress?.(bytes);
  }
  const href = URL.createObjectURL(new Blob(parts, { type: 'application/pdf' }));
  const link = document.createElement('a');
  link.href = href;
  link.download = dest.split(/[/\\]/).at(-1) || 'invoice.pdf';
  link.click();
  // Never revoked while the page is open: it is unknown when the browser reads the bytes.
  return bytes;
}
