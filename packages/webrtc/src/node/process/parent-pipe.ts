/** The pipe to the parent, which counts what the parent has not read yet. */
import type { Writable } from 'node:stream';
import { maxWaitingBytes } from '../../limits.ts';
import { controlPayload, type FromEngine, frameHead, frameKinds, sentPayload } from '../frames.ts';

/** Of all peers, so that many of them cannot fill the memory together. */
const maxWaitingInAll = 2 * maxWaitingBytes;

export interface ParentPipe {
  tell(peer: number, message: FromEngine): void;
  sent(peer: number, bytes: number): void;
}

/** What waits of one peer. */
export interface Waiting {
  /** @returns whether the message was taken; false if too much waits */
  pass(message: Buffer): boolean;
}

export function createParentPipe(pipe: Writable): ParentPipe & { waitingOf(peer: number): Waiting } {
  let inAll = 0;
  let isCorked = false;
  const write = (kind: number, peer: number, payload: Buffer, written?: () => void): void => {
    if (!isCorked) {
      isCorked = true;
      pipe.cork();
      setImmediate(() => {
        isCorked = false;
        pipe.uncork();
      });
    }
    pipe.write(frameHead(kind, peer, payload.length));
    pipe.write(payload, written);
  };
  return {
    tell: (peer, message) => write(frameKinds.control, peer, controlPayload(message)),
    sent: (peer, bytes) => write(frameKinds.sent, peer, sentPayload(bytes)),
    waitingOf(peer) {
      let waiting = 0;
      return {
        pass(message) {
          if (waiting + message.length > maxWaitingBytes || inAll + message.length > maxWaitingInAll) return false;
          waiting += message.length;
          inAll += message.length;
          write(frameKinds.message, peer, message, () => {
            waiting -= message.length;
            inAll -= message.length;
          });
          return true;
        },
      };
    },
  };
}
