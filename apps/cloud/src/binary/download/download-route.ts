/**
 * `GET /binary-data/<id>`: the bytes of a file, for callers that have a signed address or authenticate as for an RPC.
 *
 * Uploaded content is never interpreted as ours: it is sent as an attachment, its type is not guessed, and nothing in it may run. The
 * caller's right is checked again during the transfer, so that a download ends within 5 s of the right.
 */
import type { Authenticator } from '../../access/authenticate.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import type { HttpRequest, Route } from '../../wire/route.ts';
import { type StoredBytes, sendStoredBytes } from '../../wire/send-stored-bytes.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { type FileRow, filesNamed } from '../find/find-files.ts';
import { scopesOf } from '../scopes.ts';
import { downloadPath } from './download-path.ts';
import type { OpenFile } from './open-file.ts';
import { readLink } from './signed-link.ts';

export interface DownloadDeps
  extends Pick<BinaryOperationDeps, 'db' | 'rows' | 'access' | 'instanceKey' | 'caughtUp' | 'clock'> {
  readonly openFile: OpenFile;
  readonly standing: Authenticator['standing'];
  /** The caller of a request without a signed address. @throws unauthenticated */
  readonly principalOf: (request: HttpRequest) => Promise<Principal>;
}

export function downloadRoute(deps: DownloadDeps): Route {
  const { access, instanceKey, openFile, caughtUp, clock, standing, principalOf } = deps;

  /** The file, if the caller may read it now. */
  const admit = async (request: HttpRequest, id: string, query: URLSearchParams): Promise<FileRow> => {
    const link = readLink(instanceKey, id, query, clock.now());
    const principal = link === undefined ? await principalOf(request) : await standing(link.by, link.madeMs);
    if (principal === undefined) throw notVisible('binary data', id);
    const named = [{ id, organizationId: '', locationId: '' }];
    const [file] = await filesNamed(deps, named, scopesOf(access, principal, 'operator'), clock.now());
    if (file === undefined) throw notVisible('binary data', id);
    return file;
  };

  return async (request, response, url) => {
    if (!url.pathname.startsWith(downloadPath)) return false;
    const id = url.pathname.slice(downloadPath.length);
    const isSigned = url.searchParams.has('signature');
    await caughtUp(AbortSignal.timeout(10_000));
    const file = await admit(request, id, url.searchParams);
    const stored: StoredBytes = {
      id: file.id,
      sizeBytes: file.size_bytes,
      headers: headersOf(file, isSigned),
      async open(range) {
        const chunks = await openFile(file, range);
        if (chunks === undefined) throw notVisible('binary data', id);
        return chunks;
      },
      admit: () => admit(request, id, url.searchParams),
    };
    await sendStoredBytes(request, response, stored, clock);
    return true;
  };
}

function headersOf(file: FileRow, isSigned: boolean): Record<string, string> {
  return {
    'content-type': file.mime_type,
    'content-disposition': dispositionOf(file),
    // Pages of other origins may show files by signed address; files opened by a session are only for our own pages.
    ...(isSigned
      ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
      : { 'cross-origin-resource-policy': 'same-origin' }),
  };
}

/** RFC 6266: the name in UTF-8, and one in ASCII for clients that do not support UTF-8. */
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
