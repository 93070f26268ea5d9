/** Certificates of machines, signed by the installation's own authority. */
import type { CertificatePair } from '../instance/authority.ts';
import { installationAuthority } from '../instance/installation-authority.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { MachineNames } from './machine-names.ts';

const hostLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The names of a machine's certificate: its own, those of its computer for programs that run there, and the computer's name in its network,
 * unless the cloud itself has that name.
 */
export function certificateNames(
  names: Pick<MachineNames, 'all' | 'isOwn'>,
  partId: string,
  hostName: string,
): string[] {
  const host = `${hostName.toLowerCase()}.local`;
  const isHost = hostLabel.test(hostName.toLowerCase()) && !names.isOwn(host);
  return [...names.all(partId), 'localhost', '127.0.0.1', '::1', ...(isHost ? [host] : [])];
}

/** @returns a function that issues a certificate for host names. */
export function createCertificates(deps: {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  readonly now: () => number;
}): (names: readonly string[]) => Promise<CertificatePair> {
  const { db, instanceKey, now } = deps;
  let authority: Promise<CertificatePair> | undefined;
  return async (names) => {
    authority ??= installationAuthority(db, instanceKey, now()).catch((caught: unknown) => {
      authority = undefined;
      throw caught;
    });
    // Loaded when a machine first asks: X.509 code is a fifth of this process's code, and few installations need it.
    const { issueCertificate } = await import('../instance/authority.ts');
    return issueCertificate(await authority, [...names], now());
  };
}
