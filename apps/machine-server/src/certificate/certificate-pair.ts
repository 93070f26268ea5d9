/** The certificate that this server presents to other computers: from files, or from its cloud. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { errorText, failedPrecondition } from '@platform/base';

/** PEM chain and private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A source of certificates. Disposing it stops watching. */
export interface CertificateSource extends AsyncDisposable {
  /** Undefined if there is none yet. */
  readonly current: Certificate | undefined;
  /** Calls `changed` with each new certificate. May be called once. */
  watch(changed: (certificate: Certificate) => void): void;
  /** The cloud can be reached again. */
  retry(): void;
}

/** @param where names the source in the error. @throws failed_precondition if it is not a certificate with its key */
export function checkCertificate({ cert, key }: Certificate, where: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (caught) {
    throw failedPrecondition(
      `${where}: expected a PEM certificate chain and its private key, found ${errorText(caught)}`,
      caught,
    );
  }
}

/**
 * Whether it must be replaced: less than a third of its life is left, or it was not requested for one of the names. Pure.
 */
export function isDue(
  { cert, names: requested }: Certificate & { readonly names: readonly string[] },
  names: readonly string[],
  nowMs: number,
): boolean {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return to - nowMs < (to - from) / 3 || names.some((name) => !requested.includes(name));
}
