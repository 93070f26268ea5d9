/** Decides whether this server's port has TLS, and with which certificate (D16). */
import { failedPrecondition } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { CertificateSource } from './certificate-pair.ts';
import { type CloudCertificateDeps, certificateFromCloud } from './from-cloud.ts';
import { certificateFromFiles } from './from-files.ts';

export interface CertificateDeps extends Omit<CloudCertificateDeps, 'link' | 'waits'> {
  /** Undefined without a cloud. */
  readonly link: CloudCertificateDeps['link'] | undefined;
  /** `-no-tls`. */
  readonly noTls: boolean;
  /** The configuration that the server starts with. */
  readonly config: RobotConfig;
  /** Whether other computers can reach the port. */
  readonly isPublic: boolean;
}

/**
 * Undefined for plaintext.
 *
 * @throws failed_precondition if the files of the configuration cannot be used, or if other computers can reach the port and it has no
 * certificate
 */
export async function openCertificate(
  deps: CertificateDeps,
  signal: AbortSignal,
): Promise<CertificateSource | undefined> {
  const { noTls, config, isPublic, link } = deps;
  const { tlsCertFile = '', tlsKeyFile = '', noTls: configuredNoTls = false } = config.network ?? {};
  if (noTls || configuredNoTls) return undefined;
  if (tlsCertFile !== '') return certificateFromFiles(tlsCertFile, tlsKeyFile, deps);
  // On loopback too: public clients send their key only over TLS. Those in plaintext are served there as well.
  if (link !== undefined) return await certificateFromCloud({ ...deps, link, waits: isPublic }, signal);
  if (!isPublic) return undefined;
  throw failedPrecondition(
    'the bind address is open to other computers, and there is no certificate for TLS: set network.tls_cert_file and network.tls_key_file, or start with -no-tls',
  );
}
