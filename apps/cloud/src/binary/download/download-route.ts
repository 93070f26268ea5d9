/**
 * `GET /binary-data/<id>`: the bytes of a file, for who has a signed address of it, or signs in as for a call.
 *
 * Whatever someone uploaded is never interpreted as ours: it goes out as an attachment, its type is not guessed, and nothing
 * in it may run. While it goes out, the right to it is asked for again, so that a download ends with it within 5 s.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Authenticator } from '../../access/authenticate.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import { type ByteRange, byteRangeOf } from '../../wire/byte-range.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { type FileRow, filesNamed } from '../find/find-files.ts';
import { scopesOf } from '../scopes.ts';
import { downloadPath } from './download-path.ts';
import type { OpenFile } from './open-file.ts';
import { readLink } from './signed-link.ts';

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

export interface DownloadDeps
  extends Pick<BinaryOperationDeps, 'db' | 'access' | 'instanceKey' | 'caughtUp' | 'clock'> {
  readonly openFile: OpenFile;
  readonly standing: Authenticator['standing'];
  /** Who asks without a signed address. @throws unauthenticated */
  readonly principalOf: (request: Request) => Promise<Principal>;
}

/** Answers true when it handled the request. @throws what the caller is told instead of the file */
export type DownloadRoute = (request: Request, response: Response, url: URL) => Promise<boolean>;

/** A download that continues asks this often whether it may. */
const recheckMs = 2_000;

export function downloadRoute(deps: DownloadDeps): DownloadRoute {
  const { db, access, instanceKey, openFile, caughtUp, clock, standing, principalOf } = deps;

  /** The file, if it may be had now. */
  const admit = async (request: Request, id: string, query: URLSearchParams): Promise<FileRow> => {
    const link = readLink(instanceKey, id, query, clock.now());
    const principal = link === undefined ? await principalOf(request) : await standing(link.by, link.madeMs);
    if (principal === undefined) throw notVisible('binary data', id);
    const named = [{ id, organizationId: '', locationId: '' }];
    const [file] = await filesNamed(db, named, scopesOf(access, principal, 'operator'), clock.now());
    if (file === undefined) throw notVisible('binary data', id);
    return file;
  };

  return async (request, response, url) => {
    if (!url.pathname.startsWith(downloadPath)) return false;
    const id = url.pathname.slice(downloadPath.length);
    const isSigned = url.searchParams.has('signature');
    await caughtUp(AbortSignal.timeout(10_000));
    const file = await admit(request, id, url.searchParams);
    // The file does not change, so its id tells one state of it.
    const etag = `"${file.id}"`;
    const asked = [undefined, etag].includes(textOf(request.headers['if-range'])) ? textOf(request.headers.range) : '';
    const range = byteRangeOf(asked ?? '', file.size_bytes);
    const headers = { ...headersOf(file, isSigned), etag };
    // The two response classes agree on what is called here, but not in their overloads.
    const plain = response as ServerResponse;
    if (range === 'unsatisfiable') {
      plain.writeHead(416, { ...headers, 'content-range': `bytes */${file.size_bytes}` });
      plain.end();
      return true;
    }
    const chunks = await openFile(file, range);
    if (chunks === undefined) throw notVisible('binary data', id);
    plain.writeHead(range === undefined ? 200 : 206, { ...headers, ...lengthOf(file, range) });
    if (request.method === 'HEAD') {
      plain.end();
      return true;
    }
    const stop = new AbortController();
    let isChecking = false;
    using _recheck = clock.every(recheckMs, () => {
      if (isChecking) return;
      isChecking = true;
      admit(request, id, url.searchParams).then(
        () => {
          isChecking = false;
        },
        (caught: unknown) => stop.abort(caught),
      );
    });
    // What it could not get all of, the client sees by the length; there is no one left to tell more.
    await pipeline(Readable.from(chunks, { objectMode: false }), plain, { signal: stop.signal }).catch(() => {});
    return true;
  };
}

function lengthOf({ size_bytes }: FileRow, range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return { 'content-length': `${size_bytes}` };
  const { start, end } = range;
  return { 'content-length': `${end - start + 1}`, 'content-range': `bytes ${start}-${end}/${size_bytes}` };
}

function headersOf(file: FileRow, isSigned: boolean): Record<string, string> {
  return {
    'content-type': file.mime_type,
    'content-disposition': dispositionOf(file),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
    // Pages elsewhere may show what they have a signed address of; what a session opens is for pages of ours.
    ...(isSigned
      ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
      : { 'cross-origin-resource-policy': 'same-origin' }),
  };
}

/** RFC 6266: the name in UTF-8, and one in ASCII for who does not read that. */
function dispositionOf({ id, file_name, file_ext }: FileRow): string {
  const last = file_name.split(/[/\\]/).at(-1) ?? '';
  const name = last === '' ? `${id}${file_ext}` : last.endsWith(file_ext) ? last : `${last}${file_ext}`;
  const short = name.slice(0, 200).toWellFormed();
  const ascii = short.replace(/[^A-Za-z0-9._ -]/g, '_');
  const utf8 = encodeURIComponent(short).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
