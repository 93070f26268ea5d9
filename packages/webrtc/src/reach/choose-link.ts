/** Clients whose calls each take the link that is the best when they begin. No Node: browsers load this file. */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import type { Client } from '@platform/rpc/portable';
import type { Connection } from './path.ts';

export interface Choice {
  /** For a call that begins now. A promise: there is none yet. */
  choose(): Connection | Promise<Connection>;
  /** A unary call, or the first message of a stream, was answered after this time. */
  answered(link: Connection, method: DescMethod, startedMs: number): void;
  failed(link: Connection, caught: unknown): void;
  nowMs(): number;
}

type CallOptions = { readonly signal?: AbortSignal | undefined } | undefined;
type AnyMethod = (request: unknown, options?: CallOptions) => unknown;
type AnyClient = Readonly<Record<string, AnyMethod>>;

export function choosingConnection(choice: Choice): Connection {
  const over = (derive: (link: Connection) => Pick<Connection, 'client'>): Pick<Connection, 'client'> => {
    const derived = new WeakMap<Connection, Pick<Connection, 'client'>>();
    const linkFor = (link: Connection): Pick<Connection, 'client'> => {
      const known = derived.get(link) ?? derive(link);
      derived.set(link, known);
      return known;
    };
    return { client: (service) => choosingClient(choice, service, linkFor) };
  };
  return {
    ...over((link) => link),
    withHeaders: (headersOf) => over((link) => link.withHeaders(headersOf)),
  };
}

function choosingClient<S extends DescService>(
  choice: Choice,
  service: S,
  linkFor: (link: Connection) => Pick<Connection, 'client'>,
): Client<S> {
  const clients = new WeakMap<Connection, AnyClient>();
  const methodOf = (link: Connection, name: string): AnyMethod => {
    const client = clients.get(link) ?? (linkFor(link).client(service) as unknown as AnyClient);
    clients.set(link, client);
    return client[name] as AnyMethod;
  };
  const methods = service.methods.map((method): [string, AnyMethod] => {
    const { localName, methodKind } = method;
    const unary = async (request: unknown, options: CallOptions): Promise<unknown> => {
      const link = await chosen(choice, options?.signal);
      const startedMs = choice.nowMs();
      try {
        const answer = await methodOf(link, localName)(request, options);
        choice.answered(link, method, startedMs);
        return answer;
      } catch (caught) {
        choice.failed(link, caught);
        throw caught;
      }
    };
    const stream = (request: unknown, options: CallOptions): AsyncIterable<unknown> => {
      const link = choice.choose();
      const begin = (on: Connection): AsyncIterable<unknown> =>
        watched(choice, method, on, methodOf(on, localName)(request, options) as AsyncIterable<unknown>);
      return link instanceof Promise ? later(orAborted(link, options?.signal), begin) : begin(link);
    };
    return [localName, methodKind === 'unary' || methodKind === 'client_streaming' ? unary : stream];
  });
  // The erasure of createClient, whose functions these choose from.
  return Object.fromEntries(methods) as Client<S>;
}

async function* later(
  link: Promise<Connection>,
  begin: (link: Connection) => AsyncIterable<unknown>,
): AsyncGenerator<unknown, void> {
  yield* begin(await link);
}

async function* watched(
  choice: Choice,
  method: DescMethod,
  link: Connection,
  messages: AsyncIterable<unknown>,
): AsyncGenerator<unknown, void> {
  const startedMs = choice.nowMs();
  let isAnswered = false;
  try {
    for await (const message of messages) {
      if (!isAnswered) choice.answered(link, method, startedMs);
      isAnswered = true;
      yield message;
    }
  } catch (caught) {
    choice.failed(link, caught);
    throw caught;
  }
}

async function chosen(choice: Choice, signal: AbortSignal | undefined): Promise<Connection> {
  const link = choice.choose();
  return link instanceof Promise ? orAborted(link, signal) : link;
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
