/** The configuration file of a part, which `GET /api/json1/config` returns to callers with a key (D32). */
import type { Authenticator } from '../access/authenticate.ts';
import type { Access } from '../access/authorize.ts';
import type { Machines } from './feature.ts';
import { isContact } from './presence/contact.ts';
import type { Registry } from './registry.ts';

/** The caller, and the address that it used. */
export interface FileAsked {
  readonly partId: string;
  readonly keyId: string;
  readonly key: string;
  readonly baseUrl: string;
  readonly peerAddress: string;
}

/**
 * Owners receive the part's secret in the file; others receive the key that they used.
 *
 * @param authority PEM that a server started with this file trusts: the authority to which the file's own connection was pinned (D31)
 */
export async function partConfigFile(
  deps: {
    readonly authenticator: Authenticator;
    readonly access: Access;
    readonly registry: Registry;
    readonly machines: Machines;
    readonly authority: string | undefined;
  },
  { partId, keyId, key, baseUrl, peerAddress }: FileAsked,
): Promise<unknown> {
  const { authenticator, access, registry, machines, authority } = deps;
  const principal = await authenticator.principalOfKey(keyId, key, peerAddress);
  access.authorize(principal, 'part.act', partId);
  const mayHaveSecret = access.allows(principal, 'part.secrets', partId);
  const itsOwnKey = isContact(principal, partId, registry.part(partId)?.machine_id ?? '');
  const document = await machines.partConfig(
    partId,
    baseUrl,
    mayHaveSecret ? undefined : { keyId, key },
    !(mayHaveSecret || itsOwnKey),
  );
  return authority === undefined ? document : withAuthority(document, authority);
}

function withAuthority(document: unknown, pem: string): unknown {
  if (typeof document !== 'object' || document === null || !('cloud' in document)) return document;
  const { cloud } = document;
  return typeof cloud === 'object' && cloud !== null ? { ...document, cloud: { ...cloud, ca: pem } } : document;
}
