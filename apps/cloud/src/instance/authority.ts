/** The installation's own certificate authority, for the servers of machines and for the cloud beyond loopback (D31). */
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;

/** Certificate chain and private key, both PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A new authority, valid for ten years from `nowMs`. */
export async function createAuthority(nowMs: number): Promise<CertificatePair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=platform installation authority',
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(nowMs + 3_650 * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await toPem(keys.privateKey) };
}

/** Issues a server certificate for host names and addresses, valid for 90 days from `nowMs`, followed by the authority's certificate. */
export async function issueCertificate(
  authority: CertificatePair,
  names: readonly string[],
  nowMs: number,
): Promise<CertificatePair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [names[0] ?? 'machine'] }],
    issuer: issuer.subject,
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(nowMs + 90 * dayMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await fromPem(authority.privateKey),
    extensions: [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
      ),
    ],
  });
  return {
    certificate: `${certificate.toString('pem')}\n${authority.certificate}`,
    privateKey: await toPem(keys.privateKey),
  };
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
}

async function fromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
