/** Checks the first message of an upload before a byte of the archive is read. */
import { invalidArgument } from '@platform/base';
import type { PackageInfo } from '@platform/proto/platform/app/packages/v1/packages';
import { maxDescriptionBytes } from './limits.ts';
import { typeName, typeNames } from './package-type.ts';
import type { NewPackageRow } from './store.ts';
import { isExactVersion } from './versions.ts';

export type CheckedInfo = Pick<
  NewPackageRow,
  'organization_id' | 'name' | 'version' | 'platform' | 'type' | 'files' | 'metadata'
>;

/** Words that request a version without naming one. */
const reserved: ReadonlySet<string> = new Set(['latest', 'latest-with-prerelease']);

/** @throws invalid_argument naming the field */
export function checkInfo(info: Omit<PackageInfo, '$typeName'>): CheckedInfo {
  const { organizationId, name, version, type, files, metadata } = info;
  const platform = info.platform === 'any' ? '' : (info.platform ?? '');
  requireName(name);
  require(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(version) &&
    !reserved.has(
      version,
    ), 'version', '1 to 100 letters, digits, ".", "_", "+" and "-", such as 1.2.0 (and not the word "latest")', version);
  require(typeName(type) !== '', 'type', `one of ${typeNames.join(', ')}`, String(type));
  require(typeName(type) !== 'module' ||
    isExactVersion(version), 'version', 'a semantic version such as 1.2.0 for a module', version);
  require(platform === '' ||
    /^[a-z0-9]{1,20}\/[a-z0-9]{1,20}$/.test(
      platform,
    ), 'platform', 'an operating system and an architecture such as linux/amd64, or "any"', platform);
  const row: CheckedInfo = {
    organization_id: organizationId,
    ...{ name, version, platform, type },
    files: JSON.stringify(
      files.map(({ name: file, size, isDirectory }) => ({ name: file, size: Number(size), isDirectory })),
    ),
    metadata: JSON.stringify(metadata ?? {}),
  };
  const bytes = Buffer.byteLength(row.files) + Buffer.byteLength(row.metadata);
  if (bytes > maxDescriptionBytes)
    throw invalidArgument(
      `info: expected files and metadata of at most ${maxDescriptionBytes} bytes together, found ${bytes}`,
    );
  return row;
}

/** Names and versions become a folder name on machines, which has at most 255 bytes. @throws invalid_argument */
export function requireName(name: string): void {
  require(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name), 'name', '1 to 100 letters, digits, "_" and "-"', name);
}

function require(holds: boolean, field: string, expected: string, found: string): void {
  if (holds) return;
  const shown = found === '' ? 'nothing' : JSON.stringify(found.slice(0, 64));
  throw invalidArgument(`info.${field}: expected ${expected}, found ${shown}`);
}
