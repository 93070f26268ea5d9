/** The certificate with which this server answers other computers: from files, or from its cloud. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { errorText, PlatformError } from '@platform/base';

/** PEM chain and private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Where certificates come from. Disposing ends the watch. */
export interface CertificateSource extends AsyncDisposable {
  /** Undefined: there is none yet. */
  readonly current: Certificate | undefined;
  /** Calls `changed` with each new certificate. Once. */
  watch(changed: (certificate: Certificate) => void): void;
}

/** @param where names the source in the error. @throws failed_precondition if it is no certificate with its key */
export function checkCertificate({ cert, key }: Certificate, where: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (caught) {
    throw new PlatformError(
      'failed_precondition',
      `${where}: expected a PEM certificate chain and its private key, found ${errorText(caught)}`,
      caught,
    );
  }
}

/** Whether it is to be replaced: less than a third of its life is left, or it is not valid for one of the names. Pure. */
export function isDue({ cert }: Certificate, names: readonly string[], nowMs: number): boolean {
  const { validFromDate, validToDate, subjectAltName = '' } = new X509Certificate(cert);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  const valid = subjectAltName.split(', ');
  return to - nowMs < (to - from) / 3 || names.some((name) => !valid.includes(`DNS:${name}`));
}
