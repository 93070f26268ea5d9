/** The networks of this computer on which a machine announces itself, each with a socket that sends there. */
import { createSocket, type Socket } from 'node:dgram';
import type { Clock } from '@platform/base';
import { type Announcement, answersTo, eachName, recordsOf } from './announcement.ts';
import { type Answer, type Query, writeAnswer } from './dns-message.ts';

export interface NetworksDeps {
  readonly announcement: Announcement;
  /** The socket that receives from all networks. */
  readonly receiver: Socket;
  readonly complain: (what: string, caught: unknown) => void;
  readonly clock: Clock;
}

interface Sender {
  readonly socket: Socket;
  /** When the second began in which these answers were sent. */
  secondMs: number;
  answers: number;
}

const group = '224.0.0.251';
const ttlSeconds = 120;
/** In one network. */
const maxAnswersInSecond = 20;

export class Networks implements AsyncDisposable {
  /** To which is sent; known once the receiver is bound. */
  port = 0;
  readonly #deps: NetworksDeps;
  /** By the IPv4 address of this computer. */
  readonly #senders = new Map<string, Sender>();

  constructor(deps: NetworksDeps) {
    this.#deps = deps;
  }

  /** Announces the machine on new networks, and leaves those that are gone. A network that failed is tried again. */
  follow(addresses: readonly string[]): void {
    for (const address of this.#senders.keys()) if (!addresses.includes(address)) this.#leave(address);
    for (const address of addresses) if (!this.#senders.has(address)) this.#join(address);
  }

  /** Answers on all networks, unless that would be a flood. */
  answer(questions: Query['questions']): void {
    for (const [address, sender] of this.#senders) {
      const found = eachName(this.#deps.announcement)
        .map((each) => answersTo(questions, recordsOf(each, [address])))
        .filter(({ answers }) => answers.length > 0);
      if (found.length === 0 || !this.#mayAnswer(sender)) continue;
      for (const each of found) void this.#send(address, { ...each, ttl: ttlSeconds });
    }
  }

  /** Says goodbye. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#senders.keys()].map((address) => this.#announce(address, 0)));
    const sockets = [...this.#senders.values()].map(({ socket }) => socket);
    this.#senders.clear();
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
  }

  #join(address: string): void {
    const { receiver, complain } = this.#deps;
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    this.#senders.set(address, { socket, secondMs: Number.NEGATIVE_INFINITY, answers: 0 });
    socket.on('error', (error) => {
      complain(`multicast DNS cannot be sent from ${address}`, error);
      if (this.#senders.get(address)?.socket === socket) this.#leave(address);
    });
    socket.bind(0, address, () => {
      try {
        receiver.addMembership(group, address);
        socket.setMulticastInterface(address);
        socket.setMulticastTTL(255);
        void this.#announce(address, ttlSeconds);
      } catch (caught) {
        complain(`multicast DNS cannot be served on ${address}`, caught);
      }
    });
  }

  #leave(address: string): void {
    this.#senders.get(address)?.socket.close();
    this.#senders.delete(address);
  }

  async #announce(address: string, ttl: number): Promise<void> {
    for (const each of eachName(this.#deps.announcement))
      await this.#send(address, { answers: recordsOf(each, [address]), additional: [], ttl });
  }

  #send(address: string, answer: Omit<Answer, 'id' | 'questions' | 'flushes'>): Promise<void> {
    const bytes = writeAnswer({ id: 0, questions: [], flushes: true, ...answer });
    const { promise, resolve } = Promise.withResolvers<void>();
    // Clients repeat questions whose answers were lost.
    const socket = this.#senders.get(address)?.socket;
    if (socket === undefined) resolve();
    else socket.send(bytes, this.port, group, () => resolve());
    return promise;
  }

  #mayAnswer(sender: Sender): boolean {
    const nowMs = this.#deps.clock.monotonic();
    if (nowMs - sender.secondMs >= 1_000) Object.assign(sender, { secondMs: nowMs, answers: 0 });
    return ++sender.answers <= maxAnswersInSecond;
  }
}
