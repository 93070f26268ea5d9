/**
 * `GET /packages/<id>/<file name>`: downloads an archive, with a signed address or with the credentials of an RPC.
 *
 * An archive is served exactly as stored, or not at all (SHA-256, D33). The headers are those that public machine servers expect: they send
 * HEAD first, compare `x-goog-hash` with the received bytes, and unpack only `application/x-gzip`.
 */
import { asPlatformError, dataLoss } from '@platform/base';
import type { Authenticator } from '../../access/authenticate.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import { idOf } from '../../access/signed-address.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { ByteRange } from '../../wire/byte-range.ts';
import type { HttpRequest, Route } from '../../wire/route.ts';
import { type StoredBytes, sendStoredBytes } from '../../wire/send-stored-bytes.ts';
import { packageId, servedVersion } from '../find-packages.ts';
import type { PackagesDeps } from '../packages-deps.ts';
import { type PackageRow, packages } from '../store.ts';
import { packagePath, readPackageLink } from './package-link.ts';

export interface PackageRouteDeps extends PackagesDeps {
  readonly standing: Authenticator['standing'];
  /** Authenticates the request by its headers. @throws unauthenticated */
  readonly principalOf: (request: HttpRequest) => Promise<Principal>;
}

export function packageRoute(deps: PackageRouteDeps): Route {
  const { db, blobs, access, instanceKey, clock, log, standing, principalOf } = deps;

  const callerOf = async (request: HttpRequest, id: string, query: URLSearchParams): Promise<Principal | undefined> => {
    const link = readPackageLink(instanceKey, id, query, clock.now());
    if (link === undefined) return principalOf(request);
    if (link.by.kind !== 'part') return standing({ kind: link.by.kind, id: link.by.id }, link.madeMs);
    const principal = await principalOf(request);
    return idOf(principal) === link.by.id ? principal : undefined;
  };
  /** The package, if the request may read it now. */
  const admit = async (request: HttpRequest, id: string, query: URLSearchParams): Promise<PackageRow> => {
    const principal = await callerOf(request, id, query);
    const row = await db.selectFrom('packages').selectAll().where('id', '=', id).executeTakeFirst();
    if (principal === undefined || row === undefined || !access.allows(principal, 'package.read', row.organization_id))
      throw notVisible('package', id);
    requireRight(packages, [row]);
    return row;
  };
  const open = (row: PackageRow, range: ByteRange | undefined): Promise<AsyncIterable<Uint8Array>> =>
    blobs.get(row.blob_path, { sizeBytes: row.size_bytes, sha256: row.sha256 }, range).catch((caught: unknown) => {
      const { message } = asPlatformError(caught);
      log.error('a stored package is damaged; it is not served until platform admin repair --from BACKUP restores it', {
        ...{ package: packageId(row), version: servedVersion(row), payload: `blobs/${row.blob_path}` },
        reason: message,
      });
      const what = `package ${packageId(row)} version ${servedVersion(row)}`;
      throw dataLoss(`${what}: its stored archive is damaged: ${message}`, caught);
    });

  return async (request, response, url) => {
    if (!url.pathname.startsWith(packagePath)) return false;
    const [id = ''] = url.pathname.slice(packagePath.length).split('/');
    const row = await admit(request, id, url.searchParams);
    const stored: StoredBytes = {
      id: row.id,
      sizeBytes: row.size_bytes,
      headers: headersOf(row),
      open: (range) => open(row, range),
      admit: () => admit(request, id, url.searchParams),
    };
    await sendStoredBytes(request, response, stored, clock);
    return true;
  };
}

function headersOf(row: PackageRow): Record<string, string | string[]> {
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(row.crc32c);
  return {
    'content-type': 'application/x-gzip',
    'content-disposition': `attachment; filename="${fileName(row)}"`,
    'x-goog-hash': [`crc32c=${crc.toString('base64')}`],
    'repr-digest': `sha-256=:${Buffer.from(row.sha256, 'hex').toString('base64')}:`,
  };
}

export function fileName(row: Pick<PackageRow, 'name' | 'version' | 'platform'>): string {
  return `${row.name}-${servedVersion(row)}.tar.gz`;
}
