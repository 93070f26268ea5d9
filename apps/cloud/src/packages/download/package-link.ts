/**
 * Signed addresses of archives. They end earlier with the package, with their maker's right to read the package, and with the key that made
 * them. One that a part asked for works together with the part's own credentials alone, which machine servers send with every download.
 */
import type { Principal } from '../../access/principal.ts';
import {
  type AddressKind,
  idOf,
  readSignedQuery,
  type SignedAddress,
  signedQuery,
} from '../../access/signed-address.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';

/** `/packages/<id>/<name>-<version>.tar.gz`. */
export const packagePath = '/packages/';

/** Addresses of one hour are the same, so that a download that broke off continues: clients keep partial files by address. */
const periodMs = 3_600_000;

const kind: AddressKind<Principal['kind']> = {
  purpose: 'package',
  by: ['key', 'person', 'part'],
  renewal: 'call GetPackage again for a new one',
};

/** Valid for one to two hours. */
export function packageLink(principal: Principal, packageId: string, nowMs: number): SignedAddress {
  const madeMs = Math.floor(nowMs / periodMs) * periodMs;
  return { id: packageId, madeMs, endsMs: madeMs + 2 * periodMs, by: { kind: principal.kind, id: idOf(principal) } };
}

export function packageUrl(instanceKey: InstanceKey, baseUrl: string, fileName: string, link: SignedAddress): string {
  return `${baseUrl}${packagePath}${link.id}/${encodeURIComponent(fileName)}?${signedQuery(instanceKey, kind, link)}`;
}

/** Undefined: the address is not signed at all. @throws permission_denied when it is not ours, was changed, or has ended */
export function readPackageLink(
  instanceKey: InstanceKey,
  packageId: string,
  query: URLSearchParams,
  nowMs: number,
): SignedAddress | undefined {
  return readSignedQuery(instanceKey, kind, packageId, query, nowMs);
}
