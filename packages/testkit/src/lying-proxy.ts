/**
 * A TCP proxy that stands for a network that lies: connections stay open although nothing passes, bytes come late, twice or in the wrong
 * order. What a lie has broken stays broken when the network is whole again; new connections then work.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `freeze`: bytes wait until the network is whole. `drop`: a connection that loses bytes never passes any again, and stays open. `delay`:
 * bytes come up to 4 s late, in order. `cut`: connections are reset. `repeat`: pieces come twice. `reorder`: a piece comes after the next one.
 */
export const lies = ['freeze', 'drop', 'delay', 'cut', 'repeat', 'reorder'] as const;
export type Lie = (typeof lies)[number];
export type Direction = 'requests' | 'answers';

export interface LyingProxy extends AsyncDisposable {
  readonly port: number;
  /** From now on, one of these at random for each piece; none: the network is whole. @param directions that are affected */
  lie(kinds: readonly Lie[], directions?: readonly Direction[]): void;
}

const longestDelayMs = 4_000;
/** How many of the pieces are cut, repeated or reordered. */
const share = 0.2;

interface Piece {
  readonly bytes: Buffer;
  readonly dueMs: number;
}

export async function startLyingProxy(
  target: { readonly host: string; readonly port: number },
  random: () => number,
): Promise<LyingProxy> {
  let kinds: readonly Lie[] = [];
  let affected: readonly Direction[] = [];
  const flows = new Set<Flow>();
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const pair = [client, connect(target)] as const;
    const [, cloud] = pair;
    const cut = (): void => {
      for (const socket of pair) socket.resetAndDestroy();
    };
    const flow = (from: Socket, to: Socket, direction: Direction): void => {
      const piecesOf = new Flow(to);
      flows.add(piecesOf);
      sockets.add(from);
      from.setNoDelay().on('error', () => {});
      from.on('data', (bytes: Buffer) => {
        const isAffected = affected.includes(direction) && kinds.length > 0;
        const kind = isAffected ? kinds[Math.floor(random() * kinds.length)] : undefined;
        if (kind === 'cut' && random() < share) cut();
        else piecesOf.pass(bytes, kind, random);
      });
      from.on('close', () => {
        sockets.delete(from);
        const tell = (): void => {
          flows.delete(piecesOf);
          to.destroy();
        };
        // A network that loses or holds bytes loses or holds this news, too.
        if (piecesOf.isStuck) piecesOf.onWhole(tell);
        else tell();
      });
    };
    flow(client, cloud, 'requests');
    flow(cloud, client, 'answers');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lie(next, directions = ['requests', 'answers']) {
      [kinds, affected] = [next, directions];
      if (next.length === 0) for (const each of [...flows]) each.thaw();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...sockets]) socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The bytes of one direction of a connection. */
class Flow {
  readonly #to: Socket;
  /** In the order in which they are passed on. */
  readonly #waiting: Piece[] = [];
  #late: Buffer | undefined;
  #isFrozen = false;
  #isDead = false;
  #timer: NodeJS.Timeout | undefined;
  #whole = (): void => {};

  constructor(to: Socket) {
    this.#to = to;
  }

  /** Nothing passes now. */
  get isStuck(): boolean {
    return this.#isDead || this.#isFrozen;
  }

  pass(bytes: Buffer, kind: Lie | undefined, random: () => number): void {
    if (kind === 'drop') this.#isDead = true;
    if (this.#isDead) return;
    if (kind === 'freeze') this.#isFrozen = true;
    const nowMs = performance.now();
    const delayMs = kind === 'delay' ? random() * longestDelayMs : 0;
    const dueMs = Math.max(nowMs + delayMs, this.#waiting.at(-1)?.dueMs ?? 0);
    if (kind === 'reorder' && this.#late === undefined && random() < share) this.#late = bytes;
    else {
      this.#waiting.push({ bytes, dueMs });
      if (kind === 'repeat' && random() < share) this.#waiting.push({ bytes, dueMs });
      this.#addLate(dueMs);
    }
    this.#pump();
  }

  /** The network is whole. */
  thaw(): void {
    this.#isFrozen = false;
    this.#addLate(performance.now());
    this.#pump();
    this.#whole();
  }

  onWhole(run: () => void): void {
    this.#whole = run;
  }

  #addLate(dueMs: number): void {
    if (this.#late !== undefined) this.#waiting.push({ bytes: this.#late, dueMs });
    this.#late = undefined;
  }

  #pump(): void {
    clearTimeout(this.#timer);
    if (this.#isFrozen || this.#to.destroyed) return;
    const nowMs = performance.now();
    for (let next = this.#waiting[0]; next !== undefined && next.dueMs <= nowMs; next = this.#waiting[0]) {
      this.#to.write(next.bytes);
      this.#waiting.shift();
    }
    const [first] = this.#waiting;
    if (first !== undefined) this.#timer = setTimeout(() => this.#pump(), first.dueMs - nowMs + 1);
  }
}
