/** Advice for a cloud that cannot be reached: nothing answers, its certificate is not trusted, or only one side uses TLS. */

export interface Trouble {
  readonly error: unknown;
  readonly url: string;
  /** This login trusts an authority that the user chose (--fingerprint, --ca). */
  readonly hasAuthority: boolean;
}

const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
]);
const dated = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const noTls = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** @returns undefined for errors that do not concern the connection */
export function connectionTrouble({ error, url, hasAuthority }: Trouble): string | undefined {
  const codes = codesOf(error);
  const has = (known: ReadonlySet<string>): boolean => codes.some((code) => known.has(code));
  if (has(untrusted)) return hasAuthority ? anotherAuthority(url) : ownAuthority(url, error);
  if (codes.includes('ERR_TLS_CERT_ALTNAME_INVALID'))
    return `${url} has a certificate for another name (${reasonOf(error)}). Use an address that the certificate contains, or start the cloud with --tls-name ${hostOf(url)}`;
  if (has(dated))
    return `${url} has a certificate that is not valid now (${reasonOf(error)}). Renew it in the cloud, and check the clocks of both computers`;
  if (has(noTls)) return `${url} answers without TLS. Did you mean http://${url.replace(/^https:\/\//, '')}?`;
  if (url.startsWith('http://') && /Session closed with error code|Parse Error|socket hang up/.test(textOf(error)))
    return `${url} does not answer like a cloud. If the cloud uses TLS, its address begins with https://. Otherwise, the port may belong to another program`;
  return undefined;
}

function ownAuthority(url: string, error: unknown): string {
  return [
    `${url} has a certificate that no authority known to this computer has signed (${reasonOf(error)}).`,
    'This is normal for a self-hosted cloud with its own certificate authority. For any other server, someone may be intercepting the connection.',
    'If the cloud is yours, log in once with the fingerprint of its authority, or with --ca FILE ("login api-key" accepts both, too):',
    `  platform login --url ${url} --fingerprint SHA256`,
    'The cloud prints the fingerprint when it starts; "platform admin status" on its computer shows it as caFingerprint.',
    'From then on, commands that use this address trust the authority.',
  ].join('\n');
}

function anotherAuthority(url: string): string {
  return [
    `${url} has a certificate from a different authority than the one this login trusts. Either the cloud has a new authority, or someone is intercepting the connection.`,
    'Compare the fingerprint that the cloud printed when it started. If the cloud has a new authority, log in again:',
    `  platform login --url ${url} --fingerprint SHA256`,
  ].join('\n');
}

/** The codes of an error and its causes, including those of several failed addresses. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const { code } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? error.errors.flatMap((one) => codesOf(one, depth + 1)) : [];
  return [...(typeof code === 'string' ? [code] : []), ...inner, ...codesOf(error.cause, depth + 1)];
}

function reasonOf(error: unknown): string {
  let last = error;
  while (last instanceof Error && last.cause instanceof Error) last = last.cause;
  return last instanceof Error ? last.message : String(last);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} ${textOf(error.cause)}`;
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? url;
}
