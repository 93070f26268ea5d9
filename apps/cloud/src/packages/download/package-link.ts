/**
 * Signed addresses of archives: who has one downloads the archive without signing in, until it expires.
 *
 * An address says the package, when it was made and when it ends, and in whose name; an HMAC under the instance key covers all of
 * it. It ends earlier with the package, with its maker's right to read the package, and with the key that made it. One that a part
 * asked for works together with the part's own credentials alone, which machine servers send with every download.
 */
import { PlatformError } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';

/** `/packages/<id>/<name>-<version>.tar.gz`. */
export const packagePath = '/packages/';

/** Addresses of one hour are the same, so that a download that broke off continues: clients keep partial files by address. */
const periodMs = 3_600_000;

export interface PackageLink {
  readonly packageId: string;
  readonly madeMs: number;
  readonly endsMs: number;
  readonly by: { readonly kind: Principal['kind']; readonly id: string };
}

/** Valid for one to two hours. */
export function packageLink(principal: Principal, packageId: string, nowMs: number): PackageLink {
  const madeMs = Math.floor(nowMs / periodMs) * periodMs;
  return { packageId, madeMs, endsMs: madeMs + 2 * periodMs, by: { kind: principal.kind, id: idOf(principal) } };
}

export function idOf(principal: Principal): string {
  if (principal.kind === 'part') return principal.partId;
  return principal.kind === 'key' ? principal.keyId : principal.personId;
}

export function packageUrl(instanceKey: InstanceKey, baseUrl: string, fileName: string, link: PackageLink): string {
  const query = new URLSearchParams({
    made: `${link.madeMs / 1_000}`,
    expires: `${link.endsMs / 1_000}`,
    by: `${link.by.kind}:${link.by.id}`,
    signature: instanceKey.sign(signedText(link)),
  });
  return `${baseUrl}${packagePath}${link.packageId}/${encodeURIComponent(fileName)}?${query}`;
}

/** Undefined: the address is not signed at all. @throws permission_denied when it is not ours, was changed, or has ended */
export function readPackageLink(
  instanceKey: InstanceKey,
  packageId: string,
  query: URLSearchParams,
  nowMs: number,
): PackageLink | undefined {
  const signature = query.get('signature');
  if (signature === null) return undefined;
  const [, kind = '', id = ''] = /^(key|person|part):([\w-]{1,64})$/.exec(query.get('by') ?? '') ?? [];
  const link: PackageLink = {
    packageId,
    madeMs: Number(query.get('made')) * 1_000,
    endsMs: Number(query.get('expires')) * 1_000,
    by: { kind: kind as Principal['kind'], id },
  };
  if (id === '' || !instanceKey.verify(signedText(link), signature))
    throw new PlatformError(
      'permission_denied',
      'signed address: expected one that this cloud created, found a different one',
    );
  if (link.endsMs <= nowMs)
    throw new PlatformError(
      'permission_denied',
      `signed address: expected one that is still valid, found that it expired at ${new Date(link.endsMs).toISOString()}; call GetPackage again for a new one`,
    );
  return link;
}

function signedText({ packageId, madeMs, endsMs, by }: PackageLink): string {
  return `package ${JSON.stringify([packageId, madeMs, endsMs, by.kind, by.id])}`;
}
