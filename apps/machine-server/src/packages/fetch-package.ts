/** Fetches one version of a package from the cloud into its folder. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dataLoss, newShortId } from '@platform/base';
import { PackageService, PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import type { Link } from '@platform/rpc/client';
import type { CloudCredentials } from '../config/credentials.ts';
import { download } from './download.ts';
import type { PackageConfig } from './package-config.ts';
import { unpack } from './unpack.ts';

export interface PackageSource {
  readonly link: Pick<Link, 'client'>;
  readonly credentials: Pick<CloudCredentials, 'appAddress' | 'entity' | 'type' | 'payload' | 'ca'>;
}

export interface FetchOptions {
  readonly source: PackageSource;
  readonly wanted: PackageConfig;
  /** The folder of all packages; unfinished ones are in its folder `.unfinished`. */
  readonly root: string;
  /** The folder of the finished package. */
  readonly folder: string;
  readonly onUnpack: () => void;
  readonly signal: AbortSignal;
}

/** As configurations spell them. */
export const packageTypes: Readonly<Record<string, PackageType>> = {
  archive: PackageType.ARCHIVE,
  ml_model: PackageType.ML_MODEL,
  module: PackageType.MODULE,
  slam_map: PackageType.SLAM_MAP,
  ml_training: PackageType.ML_TRAINING,
};

/** The name of the folder for unfinished packages, below that of all packages. A stop leaves it; the next start deletes it. */
const unfinished = '.unfinished';

/** The folder appears completely or not at all. @throws the cloud's error, unavailable, data_loss, invalid_argument */
export async function fetchPackage({ source, wanted, root, folder, onUnpack, signal }: FetchOptions): Promise<void> {
  const { id, version } = wanted;
  const request = { id, version, includeUrl: true, type: packageTypes[wanted.type] ?? PackageType.UNSPECIFIED };
  const { package: found } = await source.link.client(PackageService).getPackage(request, { signal });
  const { url = '', checksum = '' } = found ?? {};
  if (!/^https?:\/\//.test(url) || !/^[0-9a-f]{64}$/i.test(checksum))
    throw dataLoss(`expected an address and a checksum for ${id} ${version}, found "${url}", "${checksum}"`);
  const scratch = join(root, unfinished, newShortId());
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  try {
    const archive = join(scratch, 'archive');
    const { ca } = source.credentials;
    await download({
      url,
      headers: headersFor(url, source),
      ca,
      checksum: checksum.toLowerCase(),
      path: archive,
      signal,
    });
    onUnpack();
    await unpack(archive, join(scratch, 'content'));
    signal.throwIfAborted();
    await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
    await rename(join(scratch, 'content'), folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The cloud serves packages only to its machines. Other hosts get the credentials only over https. */
function headersFor(url: string, { credentials }: PackageSource): Record<string, string> {
  const { appAddress, entity, type, payload } = credentials;
  if (new URL(url).origin !== new URL(appAddress).origin && !url.startsWith('https:')) return {};
  return type === 'api-key' ? { key_id: entity, key: payload } : { part_id: entity, secret: payload };
}
