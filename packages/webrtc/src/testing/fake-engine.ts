/** Peers in this process: they connect when both have the description of the other. */
import { invalidArgument, unavailable } from '@platform/base';
import type { MessageChannel } from '@platform/rpc/channel';
import type { Candidate, Engine, Peer, SelectedPair } from '../peer.ts';

export class FakePeer implements Peer {
  readonly added: Candidate[] = [];
  readonly #over = new AbortController();
  readonly #opened = Promise.withResolvers<MessageChannel>();
  readonly #name: string;
  readonly #own: readonly Candidate[];

  constructor(name: string, own: readonly Candidate[]) {
    this.#name = name;
    this.#own = own;
    this.#opened.promise.catch(() => {});
  }

  async offer(): Promise<string> {
    return `offer of ${this.#name}`;
  }

  async answer(offer: string): Promise<string> {
    if (!offer.startsWith('offer of ')) throw invalidArgument('no offer');
    return `answer of ${this.#name}`;
  }

  async accept(answer: string): Promise<void> {
    if (!answer.startsWith('answer of ')) throw invalidArgument('no answer');
  }

  addCandidate(candidate: Candidate): void {
    this.added.push(candidate);
  }

  get candidates(): AsyncIterable<Candidate> {
    return each(this.#own);
  }

  get opened(): Promise<MessageChannel> {
    return this.#opened.promise;
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  open(): void {
    const over = this.#over;
    this.#opened.resolve({
      ...{ onMessage: undefined, send() {}, bufferedBytes: 0, ended: over.signal },
      drained: async () => {},
      close: () => over.abort(unavailable('closed')),
    });
  }

  async selectedPair(): Promise<SelectedPair> {
    return { local: 'host', remote: 'host', remoteAddress: '10.0.0.7:1' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(unavailable('disposed'));
    this.#opened.reject(this.#over.signal.reason);
  }
}

export interface FakeEngine extends Engine {
  readonly peers: FakePeer[];
}

/** @param name of its peers, with a number */
export function fakeEngine(name: string): FakeEngine {
  const peers: FakePeer[] = [];
  return {
    ...{ peers, isMissing: false },
    async createPeer() {
      const own = `${name} ${peers.length}`;
      const peer = new FakePeer(own, [{ candidate: `candidate:${own}`, mid: '0' }]);
      peers.push(peer);
      return peer;
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}
