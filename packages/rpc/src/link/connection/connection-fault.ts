/** Explains connection failures that only a person can fix: certificates, and TLS on one side only. */
import { ConnectError } from '@connectrpc/connect';
import { noNamesCode } from '../../core/certificate-names.ts';
import { CallCutOff } from './connection.ts';

/** Whether the error is a server's answer rather than a failure of the connection. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof ConnectError && error.cause.isWireError;
}

export interface ConnectionFault {
  /**
   * `untrusted`: no trusted authority signed the certificate. `name`: the certificate is for other names. `noNames`: it has no subject
   * alternative names. `dated`: it is not valid now.
   * `noTls`: the server answers without TLS. `notCloud`: the server does not speak HTTP/2 in plaintext, perhaps because it uses TLS.
   */
  readonly kind: 'untrusted' | 'name' | 'noNames' | 'dated' | 'noTls' | 'notCloud';
  /** The innermost message. */
  readonly reason: string;
}

const kinds: Readonly<Record<string, ConnectionFault['kind']>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name',
  [noNamesCode]: 'noNames',
  CERT_HAS_EXPIRED: 'dated',
  CERT_NOT_YET_VALID: 'dated',
  ERR_SSL_WRONG_VERSION_NUMBER: 'noTls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'noTls',
};

/** @param url of the call. @returns undefined for every other error */
export function connectionFault(error: unknown, url: string): ConnectionFault | undefined {
  const codes = codesOf(error);
  const found = new Set(codes.map((code) => (Object.hasOwn(kinds, code) ? kinds[code] : undefined)));
  const kind = (['untrusted', 'name', 'noNames', 'dated', 'noTls'] as const).find((each) => found.has(each));
  if (kind !== undefined) return { kind, reason: reasonOf(error) };
  // A peer that resets the connection may be a proxy without a cloud behind it.
  if (url.startsWith('http://') && isOtherProtocol(error) && !codes.includes('ECONNRESET'))
    return { kind: 'notCloud', reason: reasonOf(error) };
  return undefined;
}

function isOtherProtocol(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error instanceof CallCutOff && !error.mayBeHttp2) || isOtherProtocol(error.cause);
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
