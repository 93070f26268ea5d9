/**
 * What the engine's process and its parent say to each other over one pipe: frames of a length (u32, of what follows), a kind (u8), the
 * number of the peer (u32; 0: the engine), and a payload. Numbers are big-endian.
 */
import type { Candidate, SelectedPair } from '../peer.ts';

export const frameKinds = {
  /** JSON: a ToEngine or FromEngine. */
  control: 0,
  /** One message of the channel `data`. */
  message: 1,
  /** u32: bytes of messages that the engine has handed to the network since it last said so. */
  sent: 2,
} as const;

export interface Frame {
  readonly kind: number;
  readonly peer: number;
  /** A view of what was read; valid until it is changed by nobody. */
  readonly payload: Buffer;
}

/** A server for STUN, or, with a user, for TURN over UDP. */
export interface NativeIceServer {
  readonly hostname: string;
  readonly port: number;
  readonly user?: { readonly username: string; readonly password: string };
}

export type ToEngine =
  | { readonly type: 'create'; readonly iceServers: readonly NativeIceServer[] }
  /** Each of these three is answered by `described` (of `accept`, without SDP) or `rejected`. */
  | { readonly type: 'offer' }
  | { readonly type: 'answer'; readonly sdp: string }
  | { readonly type: 'accept'; readonly sdp: string }
  | { readonly type: 'candidate'; readonly candidate: Candidate }
  /** Answered by `pair`. */
  | { readonly type: 'pair' }
  | { readonly type: 'close' };

export type FromEngine =
  | { readonly type: 'ready' }
  /** The engine cannot run. `hasLibrary`: it may at the next start. */
  | { readonly type: 'refused'; readonly hasLibrary: boolean; readonly reason: string }
  | { readonly type: 'described'; readonly sdp: string }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'candidate'; readonly candidate: Candidate }
  /** All candidates are known. */
  | { readonly type: 'gathered' }
  | { readonly type: 'opened' }
  | { readonly type: 'pair'; readonly pair: SelectedPair | undefined }
  | { readonly type: 'ended'; readonly code: 'unavailable' | 'resource_exhausted'; readonly reason: string };

const lengthBytes = 4;
const headBytes = 5;
/** An SDP of 64 KiB may be several times as long in JSON. */
const maxFrameBytes = 1 << 20;

/** The head of a frame, which its payload follows. */
export function frameHead(kind: number, peer: number, payloadBytes: number): Buffer {
  const head = Buffer.allocUnsafe(lengthBytes + headBytes);
  head.writeUInt32BE(headBytes + payloadBytes, 0);
  head.writeUInt8(kind, lengthBytes);
  head.writeUInt32BE(peer, lengthBytes + 1);
  return head;
}

export function controlPayload(message: ToEngine | FromEngine): Buffer {
  return Buffer.from(JSON.stringify(message));
}

/** @throws SyntaxError */
export function readControl<Message extends ToEngine | FromEngine>(payload: Buffer): Message {
  return JSON.parse(payload.toString()) as Message;
}

export function sentPayload(bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(bytes);
  return payload;
}

/** Splits what is read into frames. Holds less than one frame. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws RangeError if this is no frame; the pipe is then of no use */
  *read(chunk: Buffer): Generator<Frame> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= lengthBytes + headBytes) {
      const length = bytes.readUInt32BE(at);
      if (length < headBytes || length > maxFrameBytes)
        throw new RangeError(`expected a frame of ${headBytes} to ${maxFrameBytes} bytes, found ${length}`);
      const end = at + lengthBytes + length;
      if (end > bytes.length) break;
      const kind = bytes.readUInt8(at + lengthBytes);
      const peer = bytes.readUInt32BE(at + lengthBytes + 1);
      const payload = bytes.subarray(at + lengthBytes + headBytes, end);
      at = end;
      yield { kind, peer, payload };
    }
    this.#rest = at === bytes.length ? Buffer.alloc(0) : bytes.subarray(at);
  }
}
