/**
 * Tokens that turn another computer into a part: valid for 15 minutes; the credentials are given out once. Kept in memory: a restart of the
 * cloud ends them, and running the command again makes a new one.
 *
 * States: made → fetched (the line ran: its script has a ticket, which ends that of an earlier fetch) → used (a ticket released the
 * credentials, and the line cannot be fetched any more) → over. Whoever fetches a line that somebody else has seen ends what they fetched, and
 * who made it sees every fetch.
 */
import { createHash, randomBytes } from 'node:crypto';
import { alreadyExists, type Clock, notFound } from '@platform/base';

const lifetimeMs = 900_000;
/** How many fetches are remembered; the first ones matter as much as the last. */
const maxFetches = 20;

/** Who made a token; it ends with their right. */
export interface Maker {
  readonly kind: 'key' | 'person';
  readonly id: string;
}

/** A request that one of the token's addresses answered. */
export interface Use {
  /** Wall clock, ms. */
  readonly atMs: number;
  /** Without a port. */
  readonly address: string;
}

export interface ConnectToken {
  readonly partId: string;
  readonly maker: Maker;
  /** Wall clock, ms. */
  readonly madeMs: number;
  readonly expiresMs: number;
  /** How often the line was fetched. */
  fetchCount: number;
  /** The first fetches, and the last. */
  readonly fetches: Use[];
  /** The program was downloaded. Wall clock, ms; undefined: not yet. */
  downloadedMs: number | undefined;
  /** The credentials were given out. */
  used: Use | undefined;
}

export interface ConnectTokens {
  /** Replaces any token that the part had. */
  create(partId: string, maker: Maker): { readonly token: string; readonly expiresMs: number };
  /** @throws not_found with instructions */
  find(token: string): ConnectToken;
  /** The line ran. @returns the ticket for what its script fetches @throws not_found; already_exists once the credentials were given out */
  take(token: string, address: string): { readonly found: ConnectToken; readonly ticket: string };
  /** @throws not_found with instructions, also if the line was fetched again */
  findByTicket(ticket: string): ConnectToken;
}

export function createConnectTokens(clock: Pick<Clock, 'now'>): ConnectTokens {
  const tokens = new Map<string, ConnectToken>();
  /** One for each token: that of its last fetch. */
  const tickets = new Map<string, ConnectToken>();
  const drop = (isOver: (one: ConnectToken) => boolean): void => {
    for (const known of [tokens, tickets]) for (const [hash, one] of known) if (isOver(one)) known.delete(hash);
  };
  const valid = (one: ConnectToken | undefined): ConnectToken | undefined =>
    one !== undefined && one.expiresMs > clock.now() ? one : undefined;
  const find = (token: string): ConnectToken => {
    const found = valid(tokens.get(hashOf(token)));
    if (found !== undefined) return found;
    throw notFound(
      'connect: expected a valid token, found an unknown one, or one that is older than 15 minutes; run "platform machines connect NAME" again for a new line',
    );
  };
  return {
    create(partId, maker) {
      const now = clock.now();
      drop((one) => one.partId === partId || one.expiresMs <= now);
      const token = newToken();
      const expiresMs = now + lifetimeMs;
      tokens.set(hashOf(token), {
        ...{ partId, maker, madeMs: now, expiresMs },
        ...{ fetchCount: 0, fetches: [], downloadedMs: undefined, used: undefined },
      });
      return { token, expiresMs };
    },
    find,
    take(token, address) {
      const found = find(token);
      requireUnused(found);
      found.fetchCount++;
      if (found.fetches.length >= maxFetches) found.fetches.pop();
      found.fetches.push({ atMs: clock.now(), address });
      for (const [hash, one] of tickets) if (one === found) tickets.delete(hash);
      const ticket = newToken();
      tickets.set(hashOf(ticket), found);
      return { found, ticket };
    },
    findByTicket(ticket) {
      const found = valid(tickets.get(hashOf(ticket)));
      if (found !== undefined) return found;
      throw notFound(
        'connect: expected the script of the last fetch of a line, found that of an earlier one, or one that is older than 15 minutes: the line was run again, here or elsewhere; "platform machines connect" shows from where, and makes a new line',
      );
    },
  };
}

/** @throws already_exists if the credentials were given out */
export function requireUnused({ used }: ConnectToken): void {
  if (used === undefined) return;
  throw alreadyExists(
    'connect: the credentials of this token have already been downloaded; run "platform machines connect NAME" again for a new line',
  );
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The maps hold hashes, so that a memory dump reveals no token. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
