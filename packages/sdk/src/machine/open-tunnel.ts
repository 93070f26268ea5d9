/** Connections to programs on the computer of a machine, over any connection to the machine. */
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Machine } from './open-machine.ts';

export interface Tunnel {
  /** What the program sends; ends when it has ended its direction. Canceling it breaks the connection. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What the program gets; closing it ends this direction only. Aborting it breaks the connection. */
  readonly writable: WritableStream<Uint8Array>;
  /**
   * Resolves once both directions have ended; rejects with the reason for which the connection broke, or was never there. Noticed only while
   * `readable` is read.
   */
  readonly closed: Promise<void>;
}

/** Bytes of one message, so that a large write delays other calls only briefly. */
const pieceBytes = 64 * 1024;

/**
 * A connection to a port of the machine that `network.traffic_tunnel_endpoints` of its configuration lists. Each direction is read only as
 * fast as the other end takes it. Errors have the code of the machine: `failed_precondition` if the port is not listed, `unavailable` if
 * nothing listens there, `permission_denied` for anyone but owners.
 *
 * @param signal breaks the connection
 */
export function openTunnel(
  machine: Pick<Machine, 'client'>,
  port: number,
  { signal }: { readonly signal?: AbortSignal } = {},
): Tunnel {
  const broken = new AbortController();
  const either = signal === undefined ? broken.signal : AbortSignal.any([signal, broken.signal]);
  const closed = Promise.withResolvers<void>();
  // Whoever needs it awaits it; the streams fail, too.
  closed.promise.catch(() => {});
  let outgoing: TransformStreamDefaultController<Uint8Array> | undefined;
  const pipe = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      outgoing = controller;
    },
  });
  const answers = machine.client(RobotService).tunnel(requests(port, pipe.readable, broken), { signal: either });
  const iterator = answers[Symbol.asyncIterator]();
  const fail = (caught: unknown): void => {
    closed.reject(caught);
    outgoing?.error(caught);
  };
  const finish = (): void => {
    closed.resolve();
    outgoing?.terminate();
  };
  const untilOver = async (): Promise<void> => {
    while ((await iterator.next()).done !== true);
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const next = await iterator.next();
            if (next.done === true) {
              controller.close();
              return finish();
            }
            const { data, eof } = next.value;
            if (data.length > 0) controller.enqueue(data);
            if (eof) {
              controller.close();
              untilOver().then(finish, fail);
            }
            if (eof || data.length > 0) return;
          }
        } catch (caught) {
          fail(caught);
          controller.error(caught);
        }
      },
      cancel(reason) {
        broken.abort(reason);
        fail(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { readable, writable: pipe.writable, closed: closed.promise };
}

async function* requests(port: number, outgoing: ReadableStream<Uint8Array>, broken: AbortController) {
  yield { destinationPort: port, halfClose: true };
  try {
    for await (const data of outgoing)
      for (let at = 0; at < data.length; at += pieceBytes) yield { data: data.subarray(at, at + pieceBytes) };
  } catch (caught) {
    broken.abort(caught);
    throw caught;
  }
}
