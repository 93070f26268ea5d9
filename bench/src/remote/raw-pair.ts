/** Two processes with a bare data channel between them: the limit that connections to machines are compared with. */
import { fileURLToPath } from 'node:url';
import { processTree } from '@platform/testkit';
import { startProcess } from '../cloud/server-process.ts';
import { secondsOfTree } from '../figures/measure-others.ts';

export type ToRaw =
  | { readonly do: 'open' | 'receive' | 'close' }
  | { readonly do: 'describe'; readonly sdp: string }
  | { readonly do: 'candidate'; readonly candidate: string; readonly mid: string }
  | { readonly do: 'echo'; readonly count: number }
  | { readonly do: 'flood'; readonly bytes: number; readonly seconds: number };

export type FromRaw =
  | { readonly event: 'ready' | 'opened' }
  | { readonly event: 'described'; readonly sdp: string }
  | { readonly event: 'candidate'; readonly candidate: string; readonly mid: string }
  | { readonly event: 'echoed'; readonly times: readonly number[] }
  | { readonly event: 'flooded'; readonly bytesPerSecond: number };

export interface RawPair extends AsyncDisposable {
  /** Connects once more. @returns ms until the channel of the caller is open */
  dial(): Promise<number>;
  /** @returns the times of `count` small messages and their echoes, ms */
  echo(count: number): Promise<readonly number[]>;
  /** @returns bytes that arrived in a second */
  flood(bytes: number, seconds: number): Promise<number>;
  /** Processor time of both so far. */
  seconds(): number;
}

interface Side extends AsyncDisposable {
  readonly pid: number;
  say(message: ToRaw): void;
  /** The next event of this kind. */
  next<Event extends FromRaw['event']>(event: Event): Promise<Extract<FromRaw, { event: Event }>>;
}

export async function startRawPair(): Promise<RawPair> {
  await using starting = new AsyncDisposableStack();
  const passed = (to: () => Side) => (message: FromRaw) => {
    if (message.event === 'candidate') to().say({ do: 'candidate', candidate: message.candidate, mid: message.mid });
    if (message.event === 'described') to().say({ do: 'describe', sdp: message.sdp });
  };
  const caller: Side = starting.use(
    startSide(
      'offer',
      passed(() => machine),
    ),
  );
  const machine: Side = starting.use(
    startSide(
      'answer',
      passed(() => caller),
    ),
  );
  const running = starting.move();
  return {
    async dial() {
      caller.say({ do: 'close' });
      machine.say({ do: 'close' });
      const from = performance.now();
      const both = [caller.next('opened'), machine.next('opened')];
      caller.say({ do: 'open' });
      await both[0];
      const took = performance.now() - from;
      await both[1];
      return took;
    },
    async echo(count) {
      caller.say({ do: 'echo', count });
      return (await caller.next('echoed')).times;
    },
    async flood(bytes, seconds) {
      caller.say({ do: 'receive' });
      machine.say({ do: 'flood', bytes, seconds });
      return (await caller.next('flooded')).bytesPerSecond;
    },
    seconds: () => secondsOfTree([...processTree(caller.pid), ...processTree(machine.pid)]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function startSide(role: 'offer' | 'answer', onMessage: (message: FromRaw) => void): Side {
  const entry = fileURLToPath(new URL('../processes/raw-channel.ts', import.meta.url));
  const child = startProcess(process.execPath, [...process.execArgv, entry, role]);
  const waiting = new Map<string, (message: FromRaw) => void>();
  child.onLine((line) => {
    const message = line as unknown as FromRaw;
    onMessage(message);
    waiting.get(message.event)?.(message);
  });
  return {
    pid: child.pid,
    say: (message) => child.write(JSON.stringify(message)),
    next: (event) => new Promise((resolve) => waiting.set(event, resolve as (message: FromRaw) => void)),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
