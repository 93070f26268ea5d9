/**
 * Limits guessing of secrets with waits that double, per pair of credential id and address, and per address. Clients at other addresses are
 * never locked out.
 *
 * States of a counter: free (failures up to the allowance) → waiting (refused until the wait is over) → one more attempt → right: the
 * pair's counter ends | wrong: wait twice as long, up to the longest wait … → forgotten after `forgetMs` without a failure. An attempt
 * counts as failed until it proves right, so that simultaneous attempts are limited, too.
 *
 * There is no limit per credential id alone: it would let anyone who knows an id lock out its owner. Unknown ids are counted like known
 * ones. Why right keys pass despite a limit: docs/decisions/ADR-0013-guessing.md.
 */
import { type Clock, networkOf } from '@platform/base';

/** Failures of one credential id from one address before the first wait. */
export const pairAllowance = 5;
/** Failures from one address, for any credentials, before the first wait. */
const addressAllowance = 50;
/** Each further failure doubles it. */
const firstWaitMs = 1_000;
const longestWaitMs = 900_000;
/** A counter is forgotten after this long without a failure. Must exceed the longest wait. */
const forgetMs = 3_600_000;

export interface Guess {
  /** The id as given: key id, part id, or e-mail address. */
  readonly credential: string;
  /** `address:port` of the peer, as in the call, or `ofForeignPage` of it. */
  readonly peerAddress: string;
  /**
   * `secret`: 256 random bits that we generated. They cannot be guessed, so a right one passes even while its address waits.
   * `password`: chosen by a person. It is not checked during a wait.
   */
  readonly kind: 'secret' | 'password';
}

export type Attempt<T> =
  | { readonly outcome: 'right'; readonly value: T }
  | { readonly outcome: 'wrong' }
  /** The attempt failed during a wait: try again after `waitMs`. */
  | { readonly outcome: 'wait'; readonly waitMs: number };

export interface GuessLimit {
  /**
   * Makes one attempt. If `prove` throws, nothing is counted.
   * @param prove resolves to undefined for both a wrong secret and an unknown id
   */
  attempt<T>(guess: Guess, prove: () => Promise<T | undefined>): Promise<Attempt<T>>;
  /** Number of counters kept; at most twice `maxCounters`. */
  readonly size: number;
}

interface Counter {
  failures: number;
  lastFailureMs: number;
}

/** @param maxCounters of each kind; the one whose last failure is oldest is dropped first */
export function createGuessLimit(clock: Clock, maxCounters: number = 20_000): GuessLimit {
  const pairs = new Map<string, Counter>();
  const addresses = new Map<string, Counter>();

  const waitOf = (counters: Map<string, Counter>, id: string, allowance: number): number => {
    const counter = living(counters, id);
    if (counter === undefined || counter.failures < allowance) return 0;
    const doublings = Math.min(counter.failures - allowance, 40);
    const waitMs = Math.min(firstWaitMs * 2 ** doublings, longestWaitMs);
    return Math.max(0, counter.lastFailureMs + waitMs - clock.monotonic());
  };
  const living = (counters: Map<string, Counter>, id: string): Counter | undefined => {
    const counter = counters.get(id);
    if (counter === undefined || clock.monotonic() - counter.lastFailureMs < forgetMs) return counter;
    counters.delete(id);
    return undefined;
  };
  /** Counts a failure. Returns a function that revokes it. */
  const fail = (counters: Map<string, Counter>, id: string): (() => void) => {
    const counter = living(counters, id) ?? { failures: 0, lastFailureMs: 0 };
    const before = counter.lastFailureMs;
    counter.failures += 1;
    counter.lastFailureMs = clock.monotonic();
    const at = counter.lastFailureMs;
    // Reinsert the counter, to keep the map in the order of the last failures.
    counters.delete(id);
    counters.set(id, counter);
    const oldest = counters.size > maxCounters ? counters.keys().next().value : undefined;
    if (oldest !== undefined) counters.delete(oldest);
    return () => {
      counter.failures -= 1;
      if (counter.failures === 0 && counters.get(id) === counter) counters.delete(id);
      else if (counter.lastFailureMs === at) counter.lastFailureMs = before;
    };
  };

  return {
    async attempt<T>(guess: Guess, prove: () => Promise<T | undefined>): Promise<Attempt<T>> {
      const address = counted(guess.peerAddress);
      const pair = `${address} ${guess.credential.slice(0, 200)}`;
      const waitMs = Math.max(waitOf(pairs, pair, pairAllowance), waitOf(addresses, address, addressAllowance));
      if (waitMs > 0) {
        const value = guess.kind === 'secret' ? await prove() : undefined;
        return value === undefined ? { outcome: 'wait', waitMs } : { outcome: 'right', value };
      }
      const takeBack = [fail(pairs, pair), fail(addresses, address)];
      let value: T | undefined;
      try {
        value = await prove();
      } catch (caught) {
        for (const undo of takeBack) undo();
        throw caught;
      }
      if (value === undefined) return { outcome: 'wrong' };
      for (const undo of takeBack) undo();
      // The address keeps its other failures: an attacker's own right key does not reset them.
      pairs.delete(pair);
      return { outcome: 'right', value };
    },
    get size() {
      return pairs.size + addresses.size;
    },
  };
}

const foreign = 'page of others at ';

/**
 * The address for attempts that a page of another origin makes. They have counters of their own: a page that someone opens cannot make
 * that person wait.
 */
export function ofForeignPage(peerAddress: string): string {
  return `${foreign}${peerAddress}`;
}

function counted(peerAddress: string): string {
  return peerAddress.startsWith(foreign)
    ? ofForeignPage(networkOf(peerAddress.slice(foreign.length)))
    : networkOf(peerAddress);
}
