/**
 * Signed addresses of archives. An address expires. It ends earlier if the package is deleted, its creator loses the right to read it,
 * or the key that created it ends. An address requested by a part works only together with the part's own credentials, which machine
 * servers send with every download.
 */
import type { Principal } from '../../access/principal.ts';
import {
  type AddressKind,
  makerOf,
  readSignedQuery,
  type SignedAddress,
  signedQuery,
} from '../../access/signed-address.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';

/** `/packages/<id>/<name>-<version>.tar.gz`. */
export const packagePath = '/packages/';

/** Addresses created within the same hour are equal, so that clients can resume downloads: they keep partial files by address. */
const periodMs = 3_600_000;

type PackageLink = SignedAddress<'key' | 'part' | 'session'>;

const kind: AddressKind<'key' | 'part' | 'session'> = {
  purpose: 'package',
  by: ['key', 'session', 'part'],
  renewal: 'call GetPackage again for a new one',
};

/** Valid for one to two hours. */
export function packageLink(principal: Principal, packageId: string, nowMs: number): PackageLink {
  const madeMs = Math.floor(nowMs / periodMs) * periodMs;
  return { id: packageId, madeMs, endsMs: madeMs + 2 * periodMs, by: makerOf(principal) };
}

export function packageUrl(instanceKey: InstanceKey, baseUrl: string, fileName: string, link: PackageLink): string {
  return `${baseUrl}${packagePath}${link.id}/${encodeURIComponent(fileName)}?${signedQuery(instanceKey, kind, link)}`;
}

/** Undefined if the address is not signed. @throws permission_denied if it was not signed by us, was changed or has expired */
export function readPackageLink(
  instanceKey: InstanceKey,
  packageId: string,
  query: URLSearchParams,
  nowMs: number,
): PackageLink | undefined {
  return readSignedQuery(instanceKey, kind, packageId, query, nowMs);
}
