/**
 * Sends a download of bytes that never change: supports HEAD and one range (RFC 9110), and stops as soon as the right to the bytes ends.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@platform/base';
import { type ByteRange, byteRangeOf } from './byte-range.ts';
import { type HttpRequest, type HttpResponse, writeHead } from './route.ts';

export interface StoredBytes {
  /** Identifies the bytes, which never change. */
  readonly id: string;
  readonly sizeBytes: number;
  /** In addition to those of every download. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** @param range undefined: everything. @throws the error to send instead */
  readonly open: (range: ByteRange | undefined) => Promise<AsyncIterable<Uint8Array>>;
  /** Called again during the download. @throws once it is no longer allowed */
  readonly admit: () => Promise<unknown>;
}

/** Content of others is never interpreted as ours: its type is not guessed, and nothing in it may run. */
const downloadHeaders = {
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
};

/** How often a running download checks that it is still allowed. */
const recheckMs = 2_000;

export async function sendStoredBytes(
  request: HttpRequest,
  response: HttpResponse,
  { id, sizeBytes, headers: given, open, admit }: StoredBytes,
  clock: Clock,
): Promise<void> {
  const etag = `"${id}"`;
  const asked = [undefined, etag].includes(textOf(request.headers['if-range'])) ? textOf(request.headers.range) : '';
  const range = byteRangeOf(asked ?? '', sizeBytes);
  const headers = { ...downloadHeaders, ...given, etag };
  if (range === 'unsatisfiable') {
    writeHead(response, 416, { ...headers, 'content-range': `bytes */${sizeBytes}` }).end();
    return;
  }
  const chunks = await open(range);
  const plain = writeHead(response, range === undefined ? 200 : 206, { ...headers, ...lengthOf(sizeBytes, range) });
  if (request.method === 'HEAD') {
    plain.end();
    return;
  }
  const stop = new AbortController();
  let isChecking = false;
  using _recheck = clock.every(recheckMs, () => {
    if (isChecking) return;
    isChecking = true;
    admit().then(
      () => {
        isChecking = false;
      },
      (caught: unknown) => stop.abort(caught),
    );
  });
  // The client detects an incomplete download by its length; no other report is possible.
  await pipeline(Readable.from(chunks, { objectMode: false }), plain, { signal: stop.signal }).catch(() => {});
}

function lengthOf(sizeBytes: number, range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return { 'content-length': `${sizeBytes}` };
  const { start, end } = range;
  return { 'content-length': `${end - start + 1}`, 'content-range': `bytes ${start}-${end}/${sizeBytes}` };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
