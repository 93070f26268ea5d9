/**
 * `PUT /uploads/<part>/<key>?offset=N`: a long piece of a staged upload as a plain body, which is written as it arrives. Otherwise it does
 * the same as WriteUpload, and answers `{"offset": …}`.
 */
import { type Clock, invalidArgument, PlatformError } from '@platform/base';
import { readLongBody } from '@platform/rpc/server';
import { type HttpRequest, type HttpResponse, writeHead } from '../../wire/route.ts';
import { spaceChecked } from '../disk/space-checked.ts';
import type { UploadRpcDeps } from '../rpc.ts';
import type { StagedUploads } from './staged-uploads.ts';

/**
 * A sender that breaks off loses nothing that has arrived. The limit ensures that its access and the disk are checked now and then: each
 * body starts with these checks.
 */
export const maxBodyBytes: number = 64 * 1024 * 1024;

/** Each holds some pieces in memory while it arrives. */
const maxBodies = 64;
const busyMs = 2_000;

/** Returns true if it handled the request. @throws the error to send to the caller */
export type UploadRoute<P> = (
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
  principalOf: (request: HttpRequest) => Promise<P>,
) => Promise<boolean>;

export function uploadRoute<P>(
  { authorizeUpload, heard, space }: Pick<UploadRpcDeps<P>, 'authorizeUpload' | 'heard' | 'space'>,
  staged: StagedUploads,
  clock: Clock,
): UploadRoute<P> {
  let bodies = 0;
  return async (request, response, url, principalOf) => {
    const [, part = '', hex = ''] = /^\/uploads\/([^/]+)\/([^/]+)$/.exec(url.pathname) ?? [];
    if (part === '' || request.method !== 'PUT') return false;
    const principal = await principalOf(request);
    const partId = decoded(part);
    const { organizationId } = await authorizeUpload(principal, partId);
    if (!/^[0-9a-f]{64}$/.test(hex))
      throw invalidArgument('expected a key of 32 bytes in hexadecimal as the end of the path');
    const [offset, length] = [url.searchParams.get('offset') ?? '', request.headers['content-length'] ?? ''];
    const bytes = wholeNumber('content-length', length, maxBodyBytes);
    const at = wholeNumber('offset', offset, Number.MAX_SAFE_INTEGER - maxBodyBytes);
    await space.require();
    if (bodies >= maxBodies)
      throw new PlatformError('resource_exhausted', `${bodies} pieces are arriving already: send it again`, undefined, {
        retryAfterMs: busyMs,
      });
    bodies++;
    try {
      const key = { organizationId, partId, key: Buffer.from(hex, 'hex') };
      const chunks = freed(readLongBody(request, response, { path: '/uploads', clock }));
      const body = spaceChecked(space, chunks, () => heard(principal, partId));
      answer(response, { offset: await staged.receive(key, at, bytes, body) });
    } finally {
      bodies--;
    }
    return true;
  };
}

/**
 * Frees each chunk as soon as the next one is requested. Left to the garbage collector, which sees only small objects, chunks would take a
 * hundred megabytes before it runs.
 */
async function* freed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    yield chunk;
    const { buffer, length } = chunk;
    // Memory that others may share is kept.
    if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
  }
}

/** Returned unchanged if it is not encoded properly: no part has such an id. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @throws invalid_argument */
function wholeNumber(name: string, text: string, most: number): number {
  if (/^\d{1,16}$/.test(text) && Number(text) <= most) return Number(text);
  throw invalidArgument(`${name}: expected a whole number up to ${most}, found ${JSON.stringify(text.slice(0, 100))}`);
}

function answer(response: HttpResponse, content: object): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  writeHead(response, 200, headers).end(`${JSON.stringify(content)}\n`);
}
