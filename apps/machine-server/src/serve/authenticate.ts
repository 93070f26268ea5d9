/**
 * Decides who may call this machine. Handlers come from the configuration: API keys, and the location secrets of its cloud. Tokens are
 * random, kept in memory, and live until their own secret is gone from the configuration (D5).
 *
 * States, by the newest configuration (D50):
 *
 * - keyed: it contains keys, and callers need one of them.
 * - open: it contains none, and only this computer reaches the port. Every program may call; pages need page-rule.ts.
 * - closed: it contains none, and others reach the port. Nobody may call until an edit brings keys; the cloud has its own link.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { machineKeyAdvice, unauthenticated } from '@platform/base';
import { CredentialsType, type RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { type Call, type ServiceBinding, serve } from '@platform/rpc/server';

/** A caller who did not come through the cloud. */
export interface DirectCaller {
  /** `person:ID`, `api-key:ID`, `location-secret`; empty where the machine is open and nobody is known. */
  readonly caller: string;
  /** For logs: an email address or the name of a key; empty if there is none. */
  readonly name: string;
  readonly path: 'webrtc' | 'direct';
}

export interface Principal {
  readonly entity: string;
  /** Set if the calls are to be reported to the cloud: undefined for modules, and for callers whose calls the cloud passes on. */
  readonly direct?: DirectCaller;
  /** The calling module, over its own socket; undefined for a client of the machine. */
  readonly module?: string;
}

/** Secrets by credentials type; those of API keys by key id. */
export interface Secrets {
  readonly keys: ReadonlyMap<string, string>;
  readonly locationSecrets: readonly string[];
}

/** The caller of an open machine. */
const anyone: Principal = { entity: '', direct: { caller: '', name: '', path: 'direct' } };

export interface MachineAuthOptions {
  /** Whether other computers can reach the port. */
  readonly isPublic: boolean;
}

export class MachineAuth {
  readonly #isPublic: boolean;
  #secrets: Secrets = { keys: new Map(), locationSecrets: [] };
  readonly #tokens = new Map<string, { readonly principal: Principal; readonly proof: string }>();
  readonly binding: ServiceBinding<Principal> = serve<typeof AuthService, Principal>(AuthService, {
    authenticate: ({ entity, credentials }) => ({
      accessToken: this.#signIn(entity, credentials?.type ?? '', credentials?.payload ?? ''),
    }),
  });

  constructor({ isPublic }: MachineAuthOptions) {
    this.#isPublic = isPublic;
  }

  configure(secrets: Secrets): void {
    const proofs = new Set([
      ...[...secrets.keys].map(([id, key]) => proofOf('api-key', id, key)),
      ...secrets.locationSecrets.map((secret) => proofOf('robot-location-secret', '', secret)),
    ]);
    for (const [token, { proof }] of this.#tokens) if (!proofs.has(proof)) this.#tokens.delete(token);
    this.#secrets = secrets;
  }

  get open(): boolean {
    return !this.#isPublic && !this.#hasKeys;
  }

  get closed(): boolean {
    return this.#isPublic && !this.#hasKeys;
  }

  get #hasKeys(): boolean {
    return this.#secrets.keys.size > 0 || this.#secrets.locationSecrets.length > 0;
  }

  async authenticate(call: Call): Promise<Principal> {
    if (this.open) return anyone;
    if (this.closed) throw unauthenticated(`${call.method}: ${closedText}`);
    const token = /^Bearer (.+)$/i.exec(call.metadata.get('authorization') ?? '')?.[1];
    const principal = token === undefined ? undefined : this.#tokens.get(hash(token).toString('hex'))?.principal;
    if (principal !== undefined) return principal;
    throw unauthenticated(
      `${call.method}: expected a token of this machine, found ${token === undefined ? 'none' : 'an unknown one'}; sign in with proto.rpc.v1.AuthService/Authenticate`,
    );
  }

  /** Whether the configuration contains these credentials. @param entity the id of an API key; ignored for a location secret */
  accepts(type: string, entity: string, payload: string): boolean {
    const candidates =
      type === 'api-key'
        ? [this.#secrets.keys.get(entity)]
        : type === 'robot-location-secret'
          ? this.#secrets.locationSecrets
          : [];
    return candidates.some((secret) => secret !== undefined && timingSafeEqual(hash(secret), hash(payload)));
  }

  #signIn(entity: string, type: string, payload: string): string {
    if (!this.accepts(type, entity, payload) && !this.open) {
      const advice = type === 'api-key' ? `. ${machineKeyAdvice('This API key does not reach', 'operator')}` : '';
      throw unauthenticated(
        `expected credentials that the configuration of this machine names, found type "${type}" for "${entity}"; this is a machine, not a cloud${advice}`,
      );
    }
    const token = randomBytes(32).toString('base64url');
    if (this.#tokens.size >= 10_000) this.#tokens.clear();
    const direct: DirectCaller = { caller: callerOf(type, entity), name: '', path: 'direct' };
    const proof = proofOf(type, entity, payload);
    this.#tokens.set(hash(token).toString('hex'), { principal: { entity, direct }, proof });
    return token;
  }
}

/** Why a closed machine answers nobody. */
export const closedText =
  'expected keys in auth.handlers, because other computers reach this machine, found none that it understands: until an edit adds them, it answers only its cloud';

/** The secrets in a configuration: `auth.handlers` of type api-key (key id → key), and the location's. */
export function secretsOf(config: RobotConfig): Secrets {
  const keys = new Map<string, string>();
  for (const { type, config: handler } of config.auth?.handlers ?? []) {
    if (type !== CredentialsType.API_KEY) continue;
    for (const [id, key] of Object.entries(handler ?? {}))
      if (id !== 'keys' && typeof key === 'string') keys.set(id, key);
  }
  const locationSecrets = (config.cloud?.locationSecrets ?? [])
    .map(({ secret }) => secret)
    .filter((secret) => secret !== '');
  return { keys, locationSecrets };
}

/** How the audit trail names the owner of a secret. */
function callerOf(type: string, entity: string): string {
  if (type === 'api-key') return `api-key:${entity}`;
  return type === 'robot-location-secret' ? 'location-secret' : '';
}

/** Names a secret; a location secret is valid for any entity. */
function proofOf(type: string, entity: string, payload: string): string {
  return hash(JSON.stringify([type, type === 'api-key' ? entity : '', payload])).toString('hex');
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
