/** Stores a package: first its archive, durably, then its row. */
import { alreadyExists, crc32c, invalidArgument, newId, type PlatformError, resourceExhausted } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import type { CheckedInfo } from './check-info.ts';
import { packageId, packagesOf, requireType, servedVersion } from './find-packages.ts';
import { maxPackageBytes, maxPackagesOfOrganization } from './limits.ts';
import type { PackagesDeps } from './packages-deps.ts';
import type { NewPackageRow, PackageRow } from './store.ts';

/** Bytes between two checks of the disk's free space. */
const spaceCheckBytes = 16 * 1024 * 1024;

/**
 * An existing version is never replaced. Uploading the same bytes again is a retry and gets the same answer.
 *
 * @param action the operation, for the audit trail
 * @throws already_exists, failed_precondition, invalid_argument, resource_exhausted
 */
export async function createPackage(
  deps: PackagesDeps,
  by: Caller,
  info: CheckedInfo,
  contents: AsyncIterable<Uint8Array>,
  action = 'PackageService.CreatePackage',
): Promise<PackageRow | NewPackageRow> {
  const { db, blobs, clock } = deps;
  requireCapacity(await packagesOf(db, info.organization_id), info);
  const id = newId();
  const checked = { crc32c: 0 };
  const path = `packages/${info.organization_id}/${id}.tar.gz`;
  using stored = await blobs.put(path, checkedArchive(deps, contents, checked));
  const row: NewPackageRow = {
    ...{ id, ...info },
    created_ms: clock.now(),
    size_bytes: stored.sizeBytes,
    sha256: Buffer.from(stored.sha256).toString('hex'),
    crc32c: checked.crc32c,
    blob_path: path,
  };
  try {
    const before = await db.transaction().execute(async (trx) => {
      const all = await packagesOf(trx, info.organization_id);
      requireCapacity(all, info);
      const inserted = await trx
        .insertInto('packages')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .execute();
      if (inserted.length === 0)
        return (await packagesOf(trx, info.organization_id)).find((one) => isSameVersion(one, info));
      const detail = { type: info.type, platform: info.platform, sizeBytes: row.size_bytes, sha256: row.sha256 };
      const target = ['package', `${packageId(row)}@${servedVersion(row)}`, info.organization_id] as const;
      await audit(trx, by, row.created_ms, action, target, detail);
      return undefined;
    });
    if (before === undefined) {
      deps.served.changed(info.organization_id);
      return row;
    }
    if (before.sha256 !== row.sha256)
      throw alreadyExists(
        `package ${packageId(before)}: version ${servedVersion(before)} exists with other contents (SHA-256 ${before.sha256.slice(0, 16)}…, found ${row.sha256.slice(0, 16)}…); a version never changes: upload the new contents as a new version, or delete the old one first`,
      );
    await blobs.remove(path);
    return before;
  } catch (caught) {
    await blobs.remove(path);
    throw caught;
  }
}

function isSameVersion(row: PackageRow, info: CheckedInfo): boolean {
  return row.name === info.name && row.version === info.version && row.platform === info.platform;
}

function requireCapacity(all: readonly PackageRow[], info: CheckedInfo): void {
  requireType(
    info.type,
    all.filter(({ name }) => name === info.name),
  );
  if (all.length >= maxPackagesOfOrganization && !all.some((one) => isSameVersion(one, info)))
    throw resourceExhausted(
      `organization ${info.organization_id}: expected fewer than ${maxPackagesOfOrganization} packages (each version and platform is one), found ${all.length}; delete versions that no machine uses`,
    );
}

async function* checkedArchive(
  { requireSpace, maxBytes = maxPackageBytes }: PackagesDeps,
  contents: AsyncIterable<Uint8Array>,
  checked: { crc32c: number },
): AsyncIterable<Uint8Array> {
  let bytes = 0;
  let unchecked = 0;
  let head = Buffer.alloc(0);
  for await (const chunk of contents) {
    bytes += chunk.length;
    unchecked += chunk.length;
    if (bytes > maxBytes) throw resourceExhausted(`contents: expected at most ${maxBytes} bytes, found more`);
    if (head.length < 2) {
      head = Buffer.concat([head, chunk.subarray(0, 2 - head.length)]);
      if (head.length === 2 && (head[0] !== 0x1f || head[1] !== 0x8b)) throw noArchive('other bytes');
    }
    if (unchecked >= spaceCheckBytes) {
      unchecked = 0;
      await requireSpace();
    }
    checked.crc32c = crc32c(chunk, checked.crc32c);
    yield chunk;
  }
  if (head.length < 2) throw noArchive(`${bytes} bytes`);
}

function noArchive(found: string): PlatformError {
  return invalidArgument(`contents: expected a gzip archive (.tar.gz), found ${found}`);
}
